"""A model with the interfaces of SIL's sil-machine, as a replacement for ThotSmtModel: translates, suggests, learns.

They are TranslationEngine, InteractiveTranslationEngine and TranslationModel of machine.translation (sil-machine 1.9).
"""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Self

from phrasebeam.base.errors import ConfigError
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.translate.adapted_decoder import AdaptedDecoder
from phrasebeam.integrations.machine_results import translation_result, word_graph
from phrasebeam.integrations.machine_text import RawDetokenizer, RawTokenizer, Segment, SideWords
from phrasebeam.integrations.machine_trainer import Languages, ModelTrainer
from phrasebeam.integrations.sil_machine import (
    WHITESPACE_DETOKENIZER,
    WHITESPACE_TOKENIZER,
    Detokenizer,
    InteractiveTranslationModel,
    ParallelTextCorpus,
    Tokenizer,
    TranslationResult,
    Truecaser,
    WordGraph,
)

# In a word graph: the queue of sil-machine's suggestions blocks for ever if more than 1,000 items are put into it
MOST_WORDS = 900


class PhrasebeamModel(InteractiveTranslationModel):
    """A model directory as a translation model of sil-machine. The model learns the segments it is trained with.

    Segments are text or tokens. Text is tokenized by the given tokenizers, as in ThotSmtModel. Without tokenizers, a
    model of raw text uses its own. Only one thread at a time may use the object.
    """

    def __init__(
        self,
        directory: str | Path,
        source_tokenizer: Tokenizer | None = None,
        target_tokenizer: Tokenizer | None = None,
        target_detokenizer: Detokenizer | None = None,
        lowercase: tuple[bool, bool] = (False, False),
        truecaser: Truecaser | None = None,
        journal: str | Path | None = None,
    ):
        """`lowercase`: whether source and target tokens are lowercased for the model; `truecaser`: for translations.

        `journal`: a file that keeps the segments the model is trained with; segments that it already has are learned.
        """
        self.directory, self.journal, self.truecaser = Path(directory), journal, truecaser
        self.most_words, self.threads = MOST_WORDS, 1
        self._open()
        raw = self._tokenization if self._tokenization.is_raw else None
        own = (RawTokenizer.of_source(raw), RawTokenizer.of_target(raw)) if raw else (WHITESPACE_TOKENIZER,) * 2
        self._source = SideWords(source_tokenizer or own[0], lowercase[0])
        self._target = SideWords(target_tokenizer or own[1], lowercase[1])
        self.target_detokenizer = target_detokenizer or (RawDetokenizer(raw) if raw else WHITESPACE_DETOKENIZER)

    def _open(self) -> None:
        self._decoder: AdaptedDecoder | None = AdaptedDecoder.load(self.directory, journal=self.journal)
        self._tokenization: Tokenization = self._decoder.tokenization

    @property
    def source_tokenizer(self) -> Tokenizer:
        """The tokenizer of source text."""
        return self._source.tokenizer

    @property
    def target_tokenizer(self) -> Tokenizer:
        """The tokenizer of target text, such as a typed prefix; see InteractiveTranslatorFactory."""
        return self._target.tokenizer

    @property
    def decoder(self) -> AdaptedDecoder:
        """The decoder that translates and learns. Raises ConfigError if the model has been closed."""
        if self._decoder is None:
            raise ConfigError(f"{self.directory}: the model was closed; open it again")
        return self._decoder

    def translate(self, segment: Segment) -> TranslationResult:
        return self.translate_batch([segment])[0]

    def translate_n(self, n: int, segment: Segment) -> Sequence[TranslationResult]:
        return self.translate_n_batch(n, [segment])[0]

    def translate_batch(self, segments: Sequence[Segment]) -> Sequence[TranslationResult]:
        return [results[0] for results in self._translated(segments, None)]

    def translate_n_batch(self, n: int, segments: Sequence[Segment]) -> Sequence[Sequence[TranslationResult]]:
        return self._translated(segments, n)

    def _translated(self, segments: Sequence[Segment], n: int | None) -> list[list[TranslationResult]]:
        """The `n` best translations of each segment, each text once; None: only the one that the model chooses."""
        decoder, sources = self.decoder, [self._source.of(segment) for segment in segments]
        risk = decoder.request.mbr if n is None else None
        request = Request(n, n is not None, risk, confidence=decoder.confidence)
        lines = [decoder.input_of(source.words) for source in sources]
        with closing(decoder.answer_all(lines, request, self.threads)) as answers:
            return [
                [self._result(one, tokens) for one in (answer.nbest if n else [answer.translation])]
                for answer, (tokens, _) in zip(answers, sources)
            ]

    def _result(self, translation: Translation, source_tokens: Sequence[str]) -> TranslationResult:
        return translation_result(translation, source_tokens, self._shown, self.target_detokenizer)

    def get_word_graph(self, segment: Segment) -> WordGraph:
        tokens, words = self._source.of(segment)
        if not words:
            return WordGraph(tokens)
        decoder = self.decoder
        with decoder.searcher.search(decoder.search_input(words)) as result:
            return word_graph(result, tokens, self._shown, decoder.confidence, self.most_words)

    def train_segment(self, source_segment: Segment, target_segment: Segment, sentence_start: bool = True) -> None:
        """Learn the translation of a segment; it is used from the next one on.

        Raises ConfigError if a side has no words.
        """
        tokens, words = self._target.of(target_segment)
        self.decoder.confirm(self._source.of(source_segment).words, words)
        if self.truecaser is not None:
            self.truecaser.train_segment(tokens, sentence_start)

    def create_trainer(self, corpus: ParallelTextCorpus) -> ModelTrainer:
        """A trainer of a new model, which replaces this one in its directory, and is opened, when it is saved.

        If this model was made from raw text, the new one is, too, with the same languages.
        """
        raw = self.decoder.model.description.preprocessing
        languages = Languages(raw.source_language, raw.target_language) if raw else None
        return ModelTrainer(corpus, self.directory, (self._source, self._target), languages, on_save=self._reopen)

    def _reopen(self) -> None:
        """Open the model that is now in the directory, and learn the segments of the journal."""
        self.close()
        self._open()

    def save(self) -> None:
        """Do nothing: when `train_segment` returns, the segment is in the journal, if there is one."""

    def close(self) -> None:
        if self._decoder is not None:
            self._decoder.close()
        self._decoder = None

    def __enter__(self) -> Self:
        return self

    def _shown(self, words: Sequence[str]) -> Sequence[str]:
        """Words of the model as tokens that the user sees."""
        shown = [self._tokenization.shown(word) for word in words] if self._tokenization.is_raw else list(words)
        return shown if self.truecaser is None else self.truecaser.truecase(shown)
