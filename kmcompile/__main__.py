"""`python -m kmcompile` is the command line."""

from kmcompile.cli import main

if __name__ == "__main__":
    main()
