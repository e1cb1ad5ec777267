"""scikit-learn's checks of samples, by the name that the installed release has for them."""

from __future__ import annotations

from typing import Any

from sklearn.utils import validation


def validated(estimator: Any, *samples: Any, **options: Any) -> Any:
    """Return X, or X and y, as `sklearn.utils.validation.validate_data` does.

    Releases before 1.6 have it as a method of estimators.
    """
    if hasattr(validation, "validate_data"):
        return validation.validate_data(estimator, *samples, **options)
    return estimator._validate_data(*samples, **options)
