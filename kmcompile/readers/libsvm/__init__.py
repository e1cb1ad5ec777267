"""LIBSVM's text files, and ThunderSVM's in the same format."""
