"""Word alignment of new text by a trained model: from lines to points in Pharaoh's format."""

from collections.abc import Generator, Iterable, Iterator
from itertools import zip_longest
from typing import Literal

from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.errors import FormatError
from phrasebeam.base.ordered_map import map_ordered
from phrasebeam.decoder.adaptation.adaptation_settings import AdaptationSettings
from phrasebeam.decoder.adaptation.static_counts import StaticCounts
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.model_alignment.word_aligner import WordAligner, alike_words
from phrasebeam.lm.text.corpus import split

Heuristic = Literal["grow_diag_final_and", "grow_diag_final", "grow_diag", "grow", "och", "union", "intersection"]
HEURISTIC: Heuristic = "grow_diag_final_and"

Points = tuple[tuple[int, int], ...]


class TextAligner:
    """Aligns the words of tokenized sentence pairs with the statistics of a model; threads may share an aligner."""

    @checked
    def __init__(self, model: Model, heuristic: Heuristic = HEURISTIC):
        """`heuristic`: how the two directions are combined, one of HEURISTICS."""
        self.model = model
        static = StaticCounts(model, AdaptationSettings().prior_count)
        self._aligner = WordAligner(static.words, heuristic)

    @checked
    def align(self, source: str, target: str) -> Points:
        """The sorted (source, target) positions of aligned words of two tokenized lines."""
        words, translation = split(source), split(target)
        ids = self.model.source.ids(words, missing=len(self.model.source))
        target_ids = self.model.target.ids(translation, missing=len(self.model.target))
        return self._aligner.align(ids, target_ids, alike_words(words, translation))

    @checked
    def align_all(self, pairs: Iterable[tuple[str, str]], threads: int = 1) -> Generator[Points]:
        """Yield `align` of all pairs, in their order."""
        return map_ordered(lambda pair: self.align(*pair), pairs, threads)


def paired(source: Iterable[str], target: Iterable[str], names: tuple[object, object]) -> Iterator[tuple[str, str]]:
    """Pair the lines of two files called `names`. Raises FormatError if one of them is longer."""
    for number, (one, other) in enumerate(zip_longest(source, target), 1):
        if one is None or other is None:
            shorter, longer = names if one is None else names[::-1]
            raise FormatError(str(shorter), f"ends after line {number - 1}, and {longer} has more; give parallel text")
        yield one, other


def pharaoh(points: Points) -> str:
    """Points as a line of Pharaoh's format, 0-0 1-2."""
    return " ".join(f"{s}-{t}" for s, t in points)
