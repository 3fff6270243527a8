"""Training examples: sentence pairs with y-good derivations. Their gold lattices are found once and stored."""

from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from phrasebeam.base.progress import log, stage
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder
from phrasebeam.decoder.forced.forced_search import Status
from phrasebeam.decoder.forced.gold_lattice import GoldLattice
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.engine.current_engine import current_engine
from phrasebeam.training.maxforce.comparison import TrainingExample
from phrasebeam.training.maxforce.config import MaxforceConfig
from phrasebeam.training.maxforce.lattice_store import LatticeStore, LatticeWriter

Pair = tuple[Input, tuple[str, ...]]  # a source sentence, and the words of its translation


class Examples(Sequence[TrainingExample]):
    """The sentence pairs that have gold lattices; lattices are read from the store on access."""

    def __init__(self, store: LatticeStore, sentences: Sequence[Pair]):
        self.store, self.sentences = store, sentences

    def __len__(self) -> int:
        return len(self.store.numbers)

    def __getitem__(self, index: int) -> TrainingExample:  # type: ignore[override]
        number = self.store.numbers[index]
        return TrainingExample(number, *self.sentences[number], self.store.lattice(index))


def find_lattices(
    forced: ForcedDecoder,
    sentences: Sequence[Pair],
    config: MaxforceConfig,
    directory: Path,
) -> LatticeStore:
    """Open the store of gold lattices in `directory`; if it is missing, find and write those of all sentences."""
    if LatticeStore.is_there(directory):
        return LatticeStore(directory)
    find: Callable[[Pair], tuple[str, GoldLattice | None]] = partial(_lattice, forced, config)
    counts: dict[str, int] = {}
    with (
        stage("forced decoding", len(sentences), "sentence pairs") as advance,
        LatticeWriter(directory) as writer,
        closing(current_engine().map(find, sentences, config.threads, is_python=True)) as found,
    ):
        for number, (status, lattice) in enumerate(found):
            counts[status] = counts.get(status, 0) + 1
            if lattice is not None:
                writer.add(number, lattice)
            advance(1)
        writer.finish(counts)
    log.info("sentence pairs: " + ", ".join(f"{count} {status}" for status, count in sorted(counts.items())))
    return LatticeStore(directory)


def _lattice(forced: ForcedDecoder, config: MaxforceConfig, pair: Pair) -> tuple[Status | str, GoldLattice | None]:
    given, reference = pair
    if len(given.words) > config.max_words:
        return "too long", None
    return forced.lattice(given, reference)
