"""Tests of phrasebeam; the folders are those of the packages."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent  # of the checkout
