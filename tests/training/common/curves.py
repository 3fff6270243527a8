"""The learning curves that trainers leave."""

import csv


def read_curve(directory):
    """The rows of curve.csv, with a picture beside it."""
    assert (directory / "curve.png").read_bytes().startswith(b"\x89PNG")
    with open(directory / "curve.csv") as file:
        return list(csv.DictReader(file))
