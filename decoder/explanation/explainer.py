"""Explanation of one sentence: translation, n-best list, search, and why another translation was not chosen."""

from collections.abc import Sequence

from pydantic import Field

from phrasebeam.decoder.explanation.explained_translation import ExplainedTranslation, explained_translation
from phrasebeam.decoder.explanation.forced_comparison import Found, GivenComparison, GivenTranslations
from phrasebeam.decoder.explanation.search_trace import TracedStack, search_trace
from phrasebeam.decoder.explanation.weighted_features import FeatureDifference, Plain, Weighing, vectors
from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.decoder.output.search_result import SearchResult
from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.decoder.translate.translator import Decoder, Sentence
from phrasebeam.lm.text.corpus import split

MOST_LISTED, MOST_TRACED = 1000, 100


class ExplanationRequest(Plain):
    """Size limits of an explanation."""

    nbest: int = Field(default=10, ge=1, le=MOST_LISTED)  # translations, each with a different text
    stacks: int = Field(default=10, ge=0, le=MOST_TRACED)  # hypotheses of each kind in each stack; 0 for no stacks


class ListedTranslation(Plain):
    """A translation of the n-best list, and the features in which the best one is better."""

    text: str
    score: float
    differences: list[FeatureDifference]  # the best translation minus this one


class SentenceExplanation(Plain):
    """Why a sentence is translated as it is."""

    source: list[str]  # words
    best: ExplainedTranslation  # the best derivation that the search found
    least_risk: str | None  # the answer of the model instead, if it decodes for the least Bayes risk
    nbest: list[ListedTranslation]  # the best first
    stacks: list[TracedStack]  # empty for sentences with a prefix, whose scores are estimates until the prefix ends


DEFAULT = ExplanationRequest()


class Explainer:
    """Explains the translations of a decoder; any number of threads may share one."""

    def __init__(self, decoder: Decoder):
        self.decoder, self._given = decoder, GivenTranslations(decoder)

    def explain(
        self, line: Sentence, request: ExplanationRequest = DEFAULT, stop: StopFlag | None = None
    ) -> SentenceExplanation:
        """Explain the translation of a tokenized sentence. Raises ConfigError if it cannot be translated.

        Raises InterruptedError when another thread sets the flag `stop`.

        >>> explanation = Explainer(Decoder.load("model")).explain("der hund schläft .")
        >>> [phrase.source for phrase in explanation.best.phrases]  # doctest: +SKIP
        ['der hund', 'schläft .']
        """
        given = self.decoder.search_input(line)
        with self.decoder.searcher.search(given, stop=stop) as result:
            n_words = len(result.source.words)
            # Read the graph first: computing features overwrites the memory of the search.
            can_trace = request.stacks and n_words and not given.prefix.words
            stacks = search_trace(result, request.stacks) if can_trace else []
            confidences = result.best(self.decoder.confidence).confidences
            best = result.derivations(request.nbest, distinct=True)
            mbr = self.decoder.request.mbr
            evidence = self.decoder.evidence(given, mbr, stop) if mbr else None
            return SentenceExplanation(
                source=result.source.words,
                best=explained_translation(result, best.derivation(0), float(best.score[0]), confidences),
                least_risk=result.least_risk(mbr, evidence=evidence).text if mbr else None,
                nbest=_listed(result, [best.derivation(i) for i in range(best.score.size)], best.score.tolist()),
                stacks=stacks,
            )

    def compare(
        self, line: Sentence, translation: str | Sequence[str], stop: StopFlag | None = None
    ) -> GivenComparison:
        """Explain why the model does, or does not, give a tokenized translation of a tokenized sentence."""
        words = split(translation) if isinstance(translation, str) else list(translation)
        given = self.decoder.search_input(line)
        snapshot = self.decoder.searcher.snapshot
        with self.decoder.searcher.search(given, snapshot, stop) as result:
            best = result.derivations(1, distinct=False)
            (vector,) = vectors(result, [best.derivation(0)])
            text, score = result.translation(best.derivation(0), 0.0, vector).text, float(best.score[0])
        return self._given.compare(given, words, snapshot, Found(text, score, vector), stop)


def _listed(
    result: SearchResult, derivations: Sequence[Derivation], scores: Sequence[float]
) -> list[ListedTranslation]:
    weighing, matrix = Weighing.of(result), vectors(result, derivations)
    return [
        ListedTranslation(
            text=result.translation(derivation, score, vector).text,
            score=score,
            differences=weighing.differences(matrix[0], vector),
        )
        for derivation, score, vector in zip(derivations, scores, matrix)
    ]
