"""The translation of a sentence as the server answers it."""

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import BaseModel

from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.decoder.output.request import Answer
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.translate.adapted_decoder import AdaptedAnswer
from phrasebeam.server.serving.served_models import ServedModel

Span = tuple[int, int]


class PhraseAnswer(BaseModel):
    """A phrase of a translation. Spans are half-open, in tokens of the sentence and of the translation."""

    source: str
    target: str
    source_span: Span
    target_span: Span
    is_copied: bool  # an unknown word that is copied
    is_fallback: bool  # words of the prefix that no phrase pair produces
    is_unknown: bool  # an unknown word, copied or translated by related words or by its letters


class DerivationAnswer(BaseModel):
    """A translation and the requested details."""

    text: str  # raw if the request was
    score: float  # sum of weights times features, in natural logarithms
    tokens: str | None = None  # the tokens of the translation if `text` is raw
    alignment: list[tuple[int, int]] | None = None  # (source, target) positions of tokens
    confidences: list[float] | None = None  # the probability of each token
    phrases: list[PhraseAnswer] | None = None  # in the order of the target side
    features: dict[str, float | list[float]] | None = None
    sparse: dict[str, float] | None = None  # values of sparse features by name


class MatchAnswer(BaseModel):
    """The segment of the project, or of its translation memories, that is most similar to the sentence; in tokens."""

    number: int  # of the segment
    origin: str = ""  # the translation memory that the segment is from; empty: the project
    similarity: float  # at most 1, which means the same words
    source: str
    translation: str


class TranslationAnswer(DerivationAnswer):
    """The translation of a sentence."""

    source: str | None = None  # the tokens of the sentence if it was raw
    nbest: list[DerivationAnswer] | None = None
    match: MatchAnswer | None = None  # if a segment is similar enough; its words may be in the translation


class Details(NamedTuple):
    """Requested parts of the answer, for each translation."""

    raw: bool = False
    alignment: bool = False
    phrases: bool = False
    features: bool = False
    confidences: bool = False


def derivation_answer(one: Translation, given: Input, served: ServedModel, details: Details) -> DerivationAnswer:
    tokenization = Tokenization.of(served.raw_text if details.raw else None)
    return DerivationAnswer(
        text=tokenization.text_of(one, given),
        score=one.score,
        tokens=one.text if tokenization.is_raw else None,
        alignment=one.alignment if details.alignment else None,
        confidences=list(one.confidences) if details.confidences else None,
        phrases=_phrases(one) if details.phrases else None,
        features=one.features if details.features else None,
        sparse=_sparse(one) if details.features and one.sparse else None,
    )


def translation_answer(
    answer: Answer, nbest: Sequence[Translation], given: Input, served: ServedModel, details: Details
) -> TranslationAnswer:
    """The answer for a sentence; `nbest` is empty if no list was requested."""
    return TranslationAnswer(
        **dict(derivation_answer(answer.translation, given, served, details)),
        source=" ".join(given.words) if details.raw else None,
        nbest=[derivation_answer(one, given, served, details) for one in nbest] or None,
        match=match_of(answer),
    )


def match_of(answer: Answer) -> MatchAnswer | None:
    """The segment that is most similar to a sentence, if its project has one."""
    found = answer.match if isinstance(answer, AdaptedAnswer) else None
    if found is None:
        return None
    segment = found.segment
    sides = {"source": " ".join(segment.source), "translation": " ".join(segment.translation)}
    return MatchAnswer(number=segment.number, origin=found.origin, similarity=found.similarity, **sides)


def _phrases(one: Translation) -> list[PhraseAnswer]:
    fields = PhraseAnswer.model_fields
    return [PhraseAnswer(**{name: getattr(phrase, name) for name in fields}) for phrase in one.phrases]


def _sparse(one: Translation) -> dict[str, float]:
    values: dict[str, float] = {}
    for key, value in one.sparse.items():
        name = one.sparse_names.get(key, f"{key:016x}")
        values[name] = values.get(name, 0.0) + value
    return values
