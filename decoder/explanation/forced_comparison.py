"""Why a model does or does not give a certain translation: forced decoding of it, compared with the search result.

If the limits of the search exclude it, wider limits show which limit is the reason.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, NamedTuple

import numpy as np

from phrasebeam.decoder.explanation.explained_translation import ExplainedTranslation, explained_translation
from phrasebeam.decoder.explanation.missing_pair import MissingPair, missing_pair
from phrasebeam.decoder.explanation.weighted_features import FeatureDifference, Plain, Weighing
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder
from phrasebeam.decoder.forced.forced_search import ForcedSearch, GoldGraph
from phrasebeam.decoder.forced.forced_settings import ForcedDecodingSettings
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.decoder.output.search_result import SearchResult
from phrasebeam.decoder.search.prefix import target_ids
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.decoder.search.weight_snapshot import WeightSnapshot
from phrasebeam.decoder.translate.translator import Decoder

Verdict = Literal["same", "worse", "search error", "table limit", "distortion limit", "missing pair", "too large"]
MOST_STATES = 1 << 18  # of forced decoding; takes some seconds at most
TIE = 1e-9
SETTINGS = ForcedDecodingSettings(prefixes="none", max_states=MOST_STATES)
Phrase = tuple[int, int, str]  # a source span and its target


class GivenComparison(Plain):
    """Comparison of a given translation with the one that the search finds.

    `verdict`: both are the same; the model can produce the given one but scores it worse; or scores it no worse, so
    that the search lost it; it needs phrase pairs beyond the table limit, or jumps beyond the distortion limit; or the
    model lacks a phrase pair. "too large": there were too many derivations to decide.
    """

    given: str
    verdict: Verdict
    reason: str  # the verdict as a sentence
    translation: ExplainedTranslation | None  # its best derivation, if there is one
    differences: list[FeatureDifference]  # found minus given: positive scores favour what the search found
    beyond_limit: list[str]  # phrase pairs that the table limit leaves out, as source ||| target
    missing: MissingPair | None  # given if the model lacks a pair


class Found(NamedTuple):
    """Result of the search."""

    text: str
    score: float
    vector: np.ndarray  # float64[F]


class _Forced(NamedTuple):
    """The best derivation of the given translation."""

    translation: ExplainedTranslation
    differences: list[FeatureDifference]
    phrases: list[Phrase]


class GivenTranslations:
    """Compares given translations with those that a decoder finds; any number of threads may share one."""

    def __init__(self, decoder: Decoder):
        self.decoder = decoder
        settings = decoder.search_settings
        free = {"table_limit": 0, "distortion_limit": -1}
        self._limits = {  # by the limit that is removed
            "": ForcedDecoder(decoder, SETTINGS),
            "table limit": ForcedDecoder(decoder.within(settings.model_copy(update={"table_limit": 0})), SETTINGS),
            "distortion limit": ForcedDecoder(
                decoder.within(SearchSettings(**(settings.model_dump() | free))), SETTINGS
            ),
        }

    def compare(
        self, given: Input, words: Sequence[str], snapshot: WeightSnapshot, found: Found, stop: StopFlag | None = None
    ) -> GivenComparison:
        """Compare the translation `words` of a sentence with what the search with `snapshot` found."""
        text, is_too_large = " ".join(words), False
        for name, forced in self._limits.items():
            if stop:
                stop.check()
            is_too_large, best = self._force(forced, given, words, snapshot, found)
            if best is not None:
                return self._reached(name, text, given, best, found)
            if is_too_large:  # wider limits would be too large as well
                break
        missing = self._missing(given, words, snapshot)
        if is_too_large and not missing.is_certain:
            return _comparison(text, "too large", "It has too many derivations to search all of them.")
        return _comparison(text, "missing pair", _tell(missing, given.words), missing=missing)

    def _force(
        self, forced: ForcedDecoder, given: Input, words: Sequence[str], snapshot: WeightSnapshot, found: Found
    ) -> tuple[bool, _Forced | None]:
        """Return whether the forced search was too large, and the best derivation, if any."""
        with _prepared(forced, given, words, snapshot) as search:
            status, lattice = search.lattice()
            gold = search.score(lattice) if lattice is not None else None
            if gold is None:
                return status == "too large" or lattice is not None, None
            return False, _best(search.result, gold, found)

    def _reached(self, limit: str, text: str, given: Input, best: _Forced, found: Found) -> GivenComparison:
        beyond = self._beyond_limit(given, best.phrases) if limit == "table limit" else []
        verdict, reason = _verdict(limit, text, best, found, beyond)
        return GivenComparison(
            given=text,
            verdict=verdict,
            reason=reason,
            translation=best.translation,
            differences=best.differences,
            beyond_limit=beyond,
            missing=None,
        )

    def _beyond_limit(self, given: Input, phrases: Sequence[Phrase]) -> list[str]:
        """The phrase pairs that are not options within the table limit, as source ||| target."""
        with self.decoder.searcher.prepare(given) as search:
            search.look_up()
            result, options = self.decoder.searcher.result(search), search.workspace.options
            size = int(options.first[len(given.words) * options.longest])
            spans = zip(options.begin[:size].tolist(), options.end[:size].tolist(), options.pair[:size].tolist())
            known = {(begin, end, " ".join(result.target(pair))) for begin, end, pair in spans}
        return [
            f"{' '.join(given.words[begin:end])} ||| {target}"
            for begin, end, target in phrases
            if (begin, end, target) not in known
        ]

    def _missing(self, given: Input, words: Sequence[str], snapshot: WeightSnapshot) -> MissingPair:
        """The missing pair, searched among all options of the sentence, without limits."""
        searcher = self._limits["distortion limit"].decoder.searcher
        with searcher.prepare(given, snapshot=snapshot) as search:
            search.look_up()
            reference = target_ids(words, search.source, searcher.model)
            return missing_pair(search.workspace.options, len(given.words), reference, words)


@contextmanager
def _prepared(
    forced: ForcedDecoder, given: Input, words: Sequence[str], snapshot: WeightSnapshot
) -> Iterator[ForcedSearch]:
    """Yield the search of a sentence pair with the weights of `snapshot`, within the limits of `forced`."""
    limits = forced.decoder.searcher.snapshot.parameters
    parameters = snapshot.parameters._replace(distortion_limit=limits.distortion_limit)
    with forced.prepare(given, words, snapshot._replace(parameters=parameters)) as search:
        yield search


def _best(result: SearchResult, gold: GoldGraph, found: Found) -> _Forced:
    node = gold.longest_end()
    derivation: Derivation = gold.derivation(node)
    translation = explained_translation(result, derivation, gold.score(node))
    differences = Weighing.of(result).differences(found.vector, gold.features(node))
    return _Forced(translation, differences, [(*phrase.source_span, phrase.target) for phrase in translation.phrases])


def _verdict(limit: str, text: str, best: _Forced, found: Found, beyond: Sequence[str]) -> tuple[Verdict, str]:
    """The verdict on a derivation that exists without that limit, and the reason for it."""
    if limit == "table limit":
        return "table limit", f"It needs phrase pairs beyond the table limit: {'; '.join(beyond)}."
    if limit == "distortion limit":
        return "distortion limit", "It needs reordering beyond the distortion limit."
    if text == found.text:
        return "same", "This is the model's translation."
    margin = found.score - best.translation.score
    if margin < TIE:
        return "search error", f"The model scores it {-margin:.3f} higher, but the search did not find it."
    most = f"; the largest difference is in {best.differences[0].name}" if best.differences else ""
    return "worse", f"The model can produce it, but scores it {margin:.3f} lower{most}."


def _comparison(text: str, verdict: Verdict, reason: str, missing: MissingPair | None = None) -> GivenComparison:
    return GivenComparison(
        given=text,
        verdict=verdict,
        reason=reason,
        translation=None,
        differences=[],
        beyond_limit=[],
        missing=missing,
    )


def _tell(missing: MissingPair, source: Sequence[str]) -> str:
    """The missing pair, described in a sentence."""
    left = " ".join(source[i] for i in missing.untranslated)
    begin = f"After “{missing.produced}”" if missing.produced else "At the beginning"
    if missing.unknown:
        return f"No phrase pair for this sentence has “{missing.unknown[0]}”. {begin}, “{left}” is left to translate."
    if not missing.rest:
        return f"Phrase pairs can produce all of it, but not while translating all words: “{left}” is left."
    return f"{begin}, no phrase pair for the remaining words “{left}” continues with “{missing.rest}”."
