"""Searches keep the weights that they begin with, and their results end with them."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import SOURCE, random_toy

pytestmark = pytest.mark.kernels

WORDS = ["a", "b", "c", "x", "b", "d"]
LINES = [" ".join([*WORDS[i:], *SOURCE[:i]]) for i in range(4)]
OTHERS = Weights(phrase_penalty=-5.0, word_penalty=2.0)


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return random_toy(tmp_path_factory.mktemp("toy"), 7, most=6)


@pytest.fixture
def decoder(toy):
    return Decoder.load(toy.directory, SearchSettings(table_limit=2))


def test_a_running_search_keeps_its_weights(decoder, toy):
    before = decoder.nbest(" ".join(WORDS), 5)
    expected = Decoder.load(toy.directory, SearchSettings(table_limit=2), OTHERS).nbest(" ".join(WORDS), 5)
    has_begun, may_end = threading.Event(), threading.Event()

    def search():
        with decoder.searcher.prepare(Input(WORDS)) as search:
            has_begun.set()
            may_end.wait(60)
            search.run(Input(WORDS).prefix)
            return decoder.searcher.result(search).nbest(5, False)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(search)
        has_begun.wait(60)
        decoder.reweigh(OTHERS)
        after = decoder.nbest(" ".join(WORDS), 5)
        may_end.set()
        assert running.result() == before
    assert after == expected != before
    assert decoder.nbest(" ".join(WORDS), 5) == expected  # in the workspace of the search that has ended


@pytest.mark.needs_jit
def test_many_searches_while_weights_change(decoder, toy):
    """Every answer is that of some weights, whatever the workspaces remember of others."""
    expected = [Decoder.load(toy.directory, SearchSettings(table_limit=2), weights) for weights in (None, OTHERS)]
    allowed = [[one.translate(line).text for one in expected] for line in LINES]
    with ThreadPoolExecutor(3) as pool:
        answers = pool.map(lambda i: decoder.translate(LINES[i % len(LINES)]), range(60))
        for i in range(60):
            decoder.reweigh([OTHERS, decoder.model.weights][i % 2])
        for i, answer in enumerate(answers):
            assert answer.text in allowed[i % len(LINES)]


def test_results_end_with_their_search(decoder):
    with decoder.searcher.search(Input(WORDS)) as result:
        best, lattice = result.best(), result.lattice(1.0)
    assert (best, lattice.score) == (decoder.translate(" ".join(WORDS)), best.score)
    for read in (
        result.best,
        lambda: result.nbest(3, False),
        lambda: result.lattice(1.0),
        lambda: result.tables,
        lambda: result.search.source,
    ):
        with pytest.raises(RuntimeError, match="the search has ended"):
            read()


def test_results_of_forced_decoding_end_with_their_search(toy):
    forced = ForcedDecoder.load(toy.directory)
    with forced.prepare(Input(["x"]), ["x"]) as search:
        gold = search.score(search.lattice()[1])
        node = gold.longest_end()
    for read in (search.lattice, lambda: gold.score(node), lambda: gold.features(node)):
        with pytest.raises(RuntimeError, match="the search has ended"):
            read()


def test_workspaces_are_used_again(decoder):
    used = set()
    for line in LINES:
        with decoder.searcher.prepare(Input(line.split())) as search:
            used.add(id(search.workspace))
    assert len(used) == 1
    with decoder.searcher.prepare(Input(WORDS)) as first, decoder.searcher.prepare(Input(WORDS)) as second:
        assert first.workspace is not second.workspace
        assert id(first.workspace) in used
