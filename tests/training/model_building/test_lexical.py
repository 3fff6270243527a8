"""Word translation probabilities against counting in dicts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.training.model_building.extraction import align_bitext
from phrasebeam.training.model_building.lexical import lexical_table
from phrasebeam.training.word_alignment import alignment_points
from tests.naive import extraction as naive
from tests.training.model_building.bitexts import arrays, bitexts


@settings(deadline=None, max_examples=50)
@given(bitexts)
def test_agrees_with_counting(bitext):
    table = lexical_table(align_bitext(*arrays(bitext)))
    target_prob, source_prob = naive.lexical(bitext)
    found = {(s, t): i for i, (s, t) in enumerate(table.words.tolist())}
    assert found.keys() == {(s, t) for s, t in target_prob if s is not None and t is not None}
    for (s, t), i in found.items():
        assert table.target_prob[i] == pytest.approx(target_prob[s, t])
        assert table.source_prob[i] == pytest.approx(source_prob[s, t])
    for word, prob in enumerate(table.target_null_prob):
        assert prob == pytest.approx(target_prob.get((None, word), 0.0))
    for word, prob in enumerate(table.source_null_prob):
        assert prob == pytest.approx(source_prob.get((word, None), 0.0))


@settings(deadline=None, max_examples=30)
@given(bitexts, st.integers(1, 4))
def test_pieces_do_not_show(bitext, at_once):
    aligned = align_bitext(*arrays(bitext))
    whole = lexical_table(aligned)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alignment_points, "POINTS_AT_ONCE", at_once)
        for one, other in ((aligned, align_bitext(*arrays(bitext))), (whole, lexical_table(aligned))):
            for name, array in one._asdict().items():
                assert array.dtype == getattr(other, name).dtype
                assert array.tobytes() == getattr(other, name).tobytes(), name


def test_what_a_word_was_linked_to_sums_to_one():
    table = lexical_table(align_bitext(*arrays([([0, 1, 0], [0, 1], {(0, 0), (0, 1), (2, 1)})])))
    assert np.bincount(table.words[:, 0], weights=table.target_prob).tolist() == pytest.approx([1.0])
    assert table.source_null_prob.tolist() == [0.0, 1.0]
