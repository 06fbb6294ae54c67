"""`python -m train`: see `python -m train --help`."""

import typer

from train.cli import main

if __name__ == "__main__":
    typer.run(main)
