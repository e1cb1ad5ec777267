"""Functions of one number in Python; templates/scalar/ has their C, which gives the same bits."""
