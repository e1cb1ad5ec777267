"""Pickles and joblib files, rebuilt as data: nothing in them is run."""
