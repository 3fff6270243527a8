"""Names of features for people: one for each value, all different, orientations in the order of their columns."""

import itertools

import pytest

from phrasebeam.decoder.explanation.explainer import Explainer
from phrasebeam.decoder.explanation.feature_titles import OF_ORIENTATIONS, feature_titles, reordering_titles
from phrasebeam.decoder.features.pair import n_length_groups, range_index
from phrasebeam.decoder.features.registry import FEATURES
from phrasebeam.decoder.features.reordering import COLUMNS, LEFT, MONOTONE, RIGHT, SWAP
from phrasebeam.decoder.features.reordering_type import N_ORIENTATIONS, Reordering
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import random_toy

SIZES = {"translation": 5, "reordering": 6, "language_model": 2, "operations": 3, "input_score": 2}
SIZES["length_groups"] = n_length_groups(3, SIZES["translation"])


def test_every_feature_has_a_title_of_its_own():
    groups = [(feature.name, SIZES.get(feature.name)) for feature in FEATURES]
    titles = feature_titles(groups, Reordering())
    assert len(titles) == len(set(titles)) == sum(size or 1 for _, size in groups)
    assert not [title for title in titles if "_" in title or "," in title]  # pages list them with commas
    assert titles[:5] == ["P(f|e)", "lexical weight P(f|e)", "P(e|f)", "lexical weight P(e|f)", "phrase score 5"]
    begin = titles.index("P(f|e) of phrases of 1 word")
    assert titles[begin + range_index(1, 2, 3)] == "P(f|e) of phrases of 1 to 2 words"
    assert titles[begin + range_index(3, 3, 3)] == "P(f|e) of phrases of 3 words"


@pytest.mark.parametrize(
    ("kind", "direction", "collapse", "learned"),
    list(itertools.product(N_ORIENTATIONS, ("backward", "forward", "bidirectional"), (False, True), (0, 1, 2))),
)
def test_titles_of_reordering(kind, direction, collapse, learned):
    model = Reordering(kind=kind, direction=direction, collapse=collapse, learned=learned)
    titles = reordering_titles(model, model.n_weights)
    assert len(titles) == len(set(titles)) == model.n_weights
    if not collapse and direction != "forward":
        assert titles[0].startswith(f"reordering: backward {OF_ORIENTATIONS[kind][0]}")


def test_orientations_are_those_of_the_columns():
    expected = {MONOTONE: "monotone", SWAP: "swap", LEFT: "discontinuous left", RIGHT: "discontinuous right"}
    for kind in ("msd", "mslr"):
        for orientation, column in enumerate(COLUMNS[kind]):
            assert expected[orientation].startswith(OF_ORIENTATIONS[kind][column])
    assert [OF_ORIENTATIONS["leftright"][column] for column in COLUMNS["leftright"]] == [
        "right",
        "left",
        "left",
        "right",
    ]
    assert all(len(OF_ORIENTATIONS[kind]) == n for kind, n in N_ORIENTATIONS.items())


def test_a_type_that_is_not_known_or_does_not_fit_is_numbered():
    assert reordering_titles(None, 2) == reordering_titles(Reordering(), 2) == ["reordering 1", "reordering 2"]
    assert feature_titles([("language_model", 1), ("a_new_one", None)], None) == ["language model", "a new one"]


def test_an_explanation_has_both_names(tmp_path):
    toy = random_toy(tmp_path / "model", 7, most=3)
    best = Explainer(Decoder.load(toy.directory)).explain("a b").best
    assert (best.features[0].name, best.features[0].title) == ("translation_0", "P(f|e)")
