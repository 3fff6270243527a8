"""From lines to lines: how `translate` processes a stream of sentences, for commands and servers."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.errors import ConfigError, excerpt
from phrasebeam.base.ordered_map import Together
from phrasebeam.decoder.documents.segment_translation import with_term_base
from phrasebeam.decoder.documents.term_base import TermBase
from phrasebeam.decoder.held_out.training_sentences import TrainingFiles, with_references
from phrasebeam.decoder.input.lattice_formats import read_all_columns, read_all_plf
from phrasebeam.decoder.input.sentence_input import Input, Prefix
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.decoder.model.moses_names import MosesFeature
from phrasebeam.decoder.output.lattice_rendering import LatticeFormat, render_lattice
from phrasebeam.decoder.output.rendering import render, render_nbest
from phrasebeam.decoder.output.request import Answer, Request
from phrasebeam.decoder.search.prefix import with_prefixes
from phrasebeam.decoder.translate.adapted_decoder import AdaptedDecoder, adapted_answers
from phrasebeam.decoder.translate.batch_searcher import FoundBatch
from phrasebeam.decoder.translate.hints import with_hints
from phrasebeam.decoder.translate.translator import TRANSLATION, Decoder
from phrasebeam.engine.current_engine import current_engine

if TYPE_CHECKING:
    from phrasebeam.decoder.raw_text.preprocessing import RawText


SHOWN_TOKENS = (
    "alignment and segmentation refer to tokens, which raw text does not show; give tokens (--no-raw), or neither"
)


@dataclass(frozen=True)
class LineSettings:
    """Settings of reading and writing lines."""

    raw_text: "RawText | None" = None  # if given, lines and translations are raw text, of the model to which it belongs
    alignment: bool = False  # append word alignments to translations and n-best lists
    segmentation: bool = False  # show which source words each phrase translates
    scores: bool = False  # append feature values and the model score to translations
    moses_names: bool = False  # call features as Moses does
    lattice_format: LatticeFormat = "osg"
    source_name: str = "input"  # what messages about damaged lines call their source
    terms: TermBase | None = None  # term translations to be used in tokenized sentences


class LineOutput(NamedTuple):
    """The output for one line of input; each part consists of complete lines."""

    translation: str
    nbest: str  # in Moses' format; "" if not requested
    lattice: str  # "" if not requested


DEFAULT = LineSettings()


@checked
def translate_lines(
    decoder: Decoder,
    lines: Iterable[str],
    request: Request = TRANSLATION,
    settings: LineSettings = DEFAULT,
    prefixes: Iterable[Prefix] | None = None,
    training_files: TrainingFiles | None = None,
    threads: int = 1,
    confirmed: Path | None = None,
) -> Generator[LineOutput]:
    """Yield the translations of lines in their order, each as soon as it and those before it are ready.

    The decoder's input settings determine the format of the lines and how their markup is read.
    `prefixes`: the prefix with which each translation must begin.
    `training_files`: references and word alignments of the lines, for leave-one-out.
    `confirmed`: translations of the lines, each of which an AdaptedDecoder learns before the next line, in one thread.
    With raw text, all these lines are raw, and so are the texts of n-best lists. An error in reading any of them is
    raised after the outputs of the preceding lines. Raises ConfigError for options that exclude each other.

    >>> decoder, request = Decoder.load("model"), Request(n=2)
    >>> for output in translate_lines(decoder, ["der hund schläft ."], request, LineSettings(alignment=True)):
    ...     print(output.translation, end="")
    the dog sleeps . ||| 0-0 1-1 2-2 3-3
    """
    reading, raw_text = decoder.searcher.input_settings, settings.raw_text
    if raw_text is not None and not hasattr(raw_text, "before"):
        raise ConfigError(
            f"LineSettings: raw_text is {excerpt(raw_text)}, expected a RawText, such as RawText.load returns"
        )
    if reading.format != "text" and (raw_text or prefixes is not None or training_files is not None):
        raise ConfigError("raw text, prefixes and references are only for text input; leave them out, or give text")
    if raw_text and (settings.alignment or settings.segmentation):
        raise ConfigError(SHOWN_TOKENS)
    tokenization = Tokenization.of(raw_text)
    names = decoder.model.moses_names if settings.moses_names else None
    translator = LineTranslator(decoder, request, settings, tokenization, names)
    is_more = prefixes is not None or training_files or settings.terms or confirmed is not None
    if not is_more and _are_words_alone(decoder, tokenization):
        yield from current_engine().map(translator, enumerate(with_hints(lines, decoder.model)), threads)
        return
    # The following runs in the thread that reads, while others search
    inputs = _read_inputs(decoder, lines, settings.source_name, tokenization)
    if prefixes is not None:
        inputs = with_prefixes(inputs, prefixes)
    if training_files:
        inputs = (given for given, _ in with_references(inputs, training_files, tokenization.target))
    if settings.terms:
        inputs = map(partial(with_term_base, terms=settings.terms, tokenization=tokenization), inputs)
    if confirmed is not None and isinstance(decoder, AdaptedDecoder):
        answers = adapted_answers(decoder, inputs, confirmed, request, tokenization.target)
        for number, (given, answer) in enumerate(answers):
            yield _output(number, _in_text(answer, given, tokenization), settings, names)
    else:
        yield from current_engine().map(translator, enumerate(inputs), threads)


def _are_words_alone(decoder: Decoder, tokenization: Tokenization) -> bool:
    """Whether every line is read as plain tokens, whatever it contains."""
    reading, model = decoder.searcher.input_settings, decoder.model
    is_text = reading.format == "text" and reading.markup == "pass-through" and not model.has_tags
    return is_text and not tokenization.is_raw and model.description.preprocessing is None


def _read_inputs(
    decoder: Decoder, lines: Iterable[str], source_name: str, tokenization: Tokenization
) -> Iterator[Input]:
    """The sentences of `lines`, in the format given by the input settings of the decoder."""
    settings = decoder.searcher.input_settings
    if settings.format == "text":
        inputs = tokenization.sentences(lines, settings.markup, source_name, decoder.model.has_tags)
        return with_hints(inputs, decoder.model)
    if settings.markup != "pass-through":
        raise ConfigError("lattices and confusion networks have no markup; leave out the markup, or give text")
    if settings.format == "plf":
        return read_all_plf(lines, source_name)
    return read_all_columns(lines, source_name, max(decoder.dense_weights.input_score.size, 1))


@dataclass(frozen=True)
class LineTranslator(Together[tuple[int, Input | str], LineOutput]):
    """Translates lines, given as tokens or as an Input; a task that the engine can send to other processes."""

    decoder: Decoder
    request: Request
    settings: LineSettings
    tokenization: Tokenization
    moses_names: Sequence[MosesFeature] | None

    def __call__(self, item: tuple[int, Input | str]) -> LineOutput:
        """The output of a line; lines are numbered from 0."""
        return self._output(item, self.decoder.answer(item[1], self.request))

    def of_several(self, items: Sequence[tuple[int, Input | str]]) -> Iterator[LineOutput]:
        lines, waiting = [line for _, line in items], iter(items)
        for found in self.decoder.found_together(lines, self.request):
            if not isinstance(found, FoundBatch):
                yield self._output(next(waiting), found)
            elif self._is_text_alone:  # without the objects of an answer, which take a tenth of the time with few pops
                yield from (LineOutput(f"{text}\n", "", "") for text, _ in zip(found.texts, waiting))
            else:
                yield from map(self._output, islice(waiting, len(found.texts)), map(Answer, found.translations()))

    @property
    def _is_text_alone(self) -> bool:
        """Whether the output of a line is its translation as tokens and nothing else."""
        settings = self.settings
        return not (settings.alignment or settings.segmentation or settings.scores or self.tokenization.is_raw)

    def _output(self, item: tuple[int, Input | str], answer: Answer) -> LineOutput:
        number, given = item
        in_text = answer if isinstance(given, str) else _in_text(answer, given, self.tokenization)
        return _output(number, in_text, self.settings, self.moses_names)


def _in_text(answer: Answer, given: Input, tokenization: Tokenization) -> Answer:
    """The answer for a sentence, with translations as text instead of tokens if text is raw."""
    if not tokenization.is_raw:
        return answer
    first, *nbest = (tokenization.in_text(one, given) for one in (answer.translation, *answer.nbest))
    return Answer(first, nbest, answer.lattice)


def _output(
    number: int, answer: Answer, settings: LineSettings, moses_names: Sequence[MosesFeature] | None
) -> LineOutput:
    """The output for line `number`, counted from 0."""
    alignment, segmentation, translation = settings.alignment, settings.segmentation, answer.translation
    text = render(translation, alignment, segmentation, settings.scores, moses_names)
    nbest = render_nbest(number, answer.nbest, alignment, segmentation, moses_names)
    return LineOutput(text + "\n", nbest, render_lattice(number, answer.lattice, settings.lattice_format))
