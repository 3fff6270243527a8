"""Stages of all kinds, quick ones, and what a recipe leaves."""

from tests import QUICK_ALIGNMENT

FOLDED = {"lm_folds": 0, "sentences": 40, "iterations": 1}
TUNE = {"iterations": 1, "nbest": 10}
BUILD = {"language_model": {"order": 3}, **QUICK_ALIGNMENT}
STAGES = [
    {"kind": "train-model", "settings": BUILD},
    {"kind": "tune", "settings": TUNE},
    {
        "kind": "choose",
        "start": "tune",
        "searches": [{"distortion_limit": 0}, {"table_limit": 5, "early_distortion": True}],
        "tuned": 1,
        "settings": TUNE,
    },
    {
        "kind": "train-expected-bleu",
        "start": "tune",
        "settings": FOLDED | {"nbest": 10, "tune": None, "calibrate": False},
    },
    {"kind": "train-maxforce", "start": "tune", "settings": FOLDED | {"scales": [1.0], "tune": None}},
    {"kind": "train-ranking", "start": "tune", "settings": FOLDED | {"nbest": 10, "scales": [1.0], "tune": None}},
    {
        "kind": "join-features",
        "name": "both",
        "start": "train-expected-bleu",
        "features": "train-maxforce",
        "settings": TUNE,
    },
    {"kind": "mbr", "sizes": [10], "scales": [0.5, 1.0]},
]
MAXFORCE = STAGES[4]
TEXTS = "train.de", "train.en", "dev.de", "dev.en"


def content(model):
    """The files of a model but those that tell of its making."""
    skipped = {"model.yaml", "README.md"}
    paths = [path for path in model.rglob("*") if path.is_file() and "recipe" not in path.relative_to(model).parts]
    return {str(path.relative_to(model)): path.read_bytes() for path in paths if path.name not in skipped}
