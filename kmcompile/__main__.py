"""`python -m kmcompile`: the same as the command."""

from kmcompile.cli import main

main()
