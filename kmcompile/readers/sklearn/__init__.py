"""scikit-learn's fitted estimators, as inert records or alive, one file a family."""
