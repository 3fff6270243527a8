"""Tests of phrasebeam; the folders are those of the packages."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent  # of the checkout

# Settings of train-model: a twentieth of the sweeps, which take most of the time where models are small.
QUICK_ALIGNMENT = {"alignment": {"samplers": 1, "effort": 0.05}}
