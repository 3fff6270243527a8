"""Translations and word graphs as the types of sil-machine."""

from collections.abc import Callable, Iterator, Sequence
from math import exp, log
from typing import NamedTuple

import numpy as np

from phrasebeam.decoder.output.derivation import Derivation
from phrasebeam.decoder.output.lattice import Lattice, beam_of_words
from phrasebeam.decoder.output.search_result import SearchResult
from phrasebeam.decoder.output.translation import Phrase, Translation
from phrasebeam.decoder.output.word_confidence import ConfidenceSettings
from phrasebeam.integrations.sil_machine import (
    Detokenizer,
    Range,
    TranslationResult,
    TranslationResultBuilder,
    TranslationSources,
    WordAlignmentMatrix,
    WordGraph,
    WordGraphArc,
)

Shown = Callable[[Sequence[str]], Sequence[str]]  # from words of the model to the tokens that the user sees
LEAST = 1e-10  # lower bound of confidences in geometric means


class ArcParts(NamedTuple):
    """Data that the arcs of one phrase pair share."""

    tokens: Sequence[str]
    alignment: WordAlignmentMatrix
    source: Range
    sources: Sequence[TranslationSources]
    confidences: Sequence[float]


def translation_result(
    translation: Translation, source_tokens: Sequence[str], shown: Shown, detokenizer: Detokenizer
) -> TranslationResult:
    """A translation with confidences as a result of sil-machine; its own confidence is the words' geometric mean."""
    tokens = shown(translation.text.split(" ") if translation.text else [])
    builder = TranslationResultBuilder(source_tokens, detokenizer)
    for phrase in translation.phrases:
        begin, end = phrase.target_span
        for token, confidence in zip(tokens[begin:end], translation.confidences[begin:end]):
            builder.append_token(token, _source(phrase), confidence)
        builder.mark_phrase(Range.create(*phrase.source_span), _alignment(phrase))
    if tokens:
        mean = sum(log(max(confidence, LEAST)) for confidence in translation.confidences) / len(tokens)
        builder.set_sequence_confidence(exp(mean))
    return builder.to_result()


def word_graph(
    result: SearchResult, source_tokens: Sequence[str], shown: Shown, confidence: ConfidenceSettings, most_words: int
) -> WordGraph:
    """The word graph of a sentence. Up to `most_words` words are kept, those of the best translations.

    States are numbered from the start on, and arcs are ordered by the state they lead to, as sil-machine requires.
    """
    graph, options = result.workspace.graph, result.workspace.options
    sizes = np.diff(options.target_first)[options.target]
    lattice = result.lattice(beam_of_words(graph, len(result.source.words), sizes, most_words))
    chosen, numbers = np.unique(lattice.option, return_inverse=True)
    parts = list(_parts(result, chosen, shown, confidence))
    return WordGraph(source_tokens, _arcs(lattice, [parts[i] for i in numbers.tolist()]), [lattice.covered.size - 1])


def _arcs(lattice: Lattice, parts: Sequence[ArcParts]) -> Iterator[WordGraphArc]:
    states = zip(lattice.edge_from.tolist(), lattice.edge_to.tolist(), lattice.edge_score.tolist())
    for (begin, end, score), part in zip(states, parts):
        yield WordGraphArc(begin, end, score, *part)


def _parts(
    result: SearchResult, options: np.ndarray, shown: Shown, confidence: ConfidenceSettings
) -> Iterator[ArcParts]:
    """The phrases of translation options (int[K]) as parts of arcs."""
    # The options one after another are no translation of the sentence, but give the words and links of each
    derivation = Derivation.of(result.workspace.options, options)
    joined = result.translation(derivation, 0.0, np.zeros(result.features.size))
    words = joined.text.split(" ") if joined.text else []
    values = result.word_posteriors(confidence).confidences(result.linked_phrases(options)).tolist()
    for phrase in joined.phrases:
        target = slice(*phrase.target_span)
        tokens = list(shown(words[target]))
        source = Range.create(*phrase.source_span)
        yield ArcParts(tokens, _alignment(phrase), source, [_source(phrase)] * len(tokens), values[target])


def _source(phrase: Phrase) -> TranslationSources:
    """The source of the words of a phrase: the model (SMT), or NONE for unknown words."""
    return TranslationSources.NONE if phrase.is_copied or phrase.is_fallback else TranslationSources.SMT


def _alignment(phrase: Phrase) -> WordAlignmentMatrix:
    (begin, end), (first, behind) = phrase.source_span, phrase.target_span
    links = {(source - begin, target - first) for source, target in phrase.alignment}
    return WordAlignmentMatrix.from_word_pairs(end - begin, behind - first, links)
