"""Words of a phrase table that resemble their translations, by the least similarity."""

from phrasebeam.base.config import parse_config
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.model_building.train_model import train_model
from phrasebeam.training.normalization.resembling_words import resembling_pairs

PAIRS = [
    ("die Nation", "the nation"),
    ("die Nation", "the notion"),
    ("die Nation", "the notion"),
    ("und Linz", "and Linz"),
    ("und 1999", "and 1999"),
    ("Elefanten lachen", "elephants laugh"),
    ("Rom", "Rome"),
]


def test_the_most_similar_translation_counts(tmp_path):
    for name, lines in ("source", [f for f, _ in PAIRS]), ("target", [e for _, e in PAIRS]):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    points = [" ".join(f"{i}-{i}" for i in range(len(f.split()))) for f, _ in PAIRS]
    (tmp_path / "alignment").write_text("".join(f"{line}\n" for line in points))
    settings = parse_config({}, TrainModelConfig, "settings")
    train_model(tmp_path / "source", tmp_path / "target", tmp_path / "model", settings, tmp_path / "alignment")
    model = open_model(tmp_path / "model")
    found = {("Nation", "nation"): 1, ("Linz", "Linz"): 1}
    assert resembling_pairs(model, 0.9) == found
    assert resembling_pairs(model, 0.55) == found | {("Elefanten", "elephants"): 1}  # 4 of 9 letters are edited
    assert resembling_pairs(model, 0.2) == found | {("Elefanten", "elephants"): 1, ("lachen", "laugh"): 1}
