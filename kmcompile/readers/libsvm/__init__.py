"""LIBSVM's text files, and ThunderSVM's where they are the same."""
