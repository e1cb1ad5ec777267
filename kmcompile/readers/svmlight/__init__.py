"""Models of SVM-light."""
