"""The decoder that the Python API and the commands use: from sentences to translations."""

import math
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, cast

from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.errors import ConfigError, excerpt
from phrasebeam.base.ordered_map import Together
from phrasebeam.base.progress import log
from phrasebeam.decoder.features.dense import DenseWeights, FeatureLayout
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.input.input_settings import InputSettings, Markup
from phrasebeam.decoder.input.sentence_input import Input, Prefix
from phrasebeam.decoder.marked_text.tokenization import TOKENIZED, Tokenization
from phrasebeam.decoder.model.language_model_folds import Fold
from phrasebeam.decoder.model.opened_model import Model, open_model
from phrasebeam.decoder.model.tables import Tables
from phrasebeam.decoder.output.lattice import Lattice
from phrasebeam.decoder.output.mbr import Evidence, MbrSettings
from phrasebeam.decoder.output.nbest_table import NbestTable, nbest_table
from phrasebeam.decoder.output.request import Answer, Request
from phrasebeam.decoder.output.translation import Translation
from phrasebeam.decoder.output.word_confidence import ConfidenceSettings
from phrasebeam.decoder.raw_text.raw_lines import looks_raw
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.search.stop_flag import StopFlag
from phrasebeam.decoder.sparse.sparse_weights import SparseWeights
from phrasebeam.decoder.tables.model_files import EVIDENCE, MODEL
from phrasebeam.decoder.translate.batch_searcher import MOST_SENTENCES, BatchSearcher, FoundBatch, is_plain
from phrasebeam.decoder.translate.searcher import Searcher
from phrasebeam.decoder.translate.translate_settings import ModelSearch, overridden
from phrasebeam.engine.current_engine import current_engine
from phrasebeam.engine.parcel import travels_by_parts

TRANSLATION = Request()
RAW_ADVICE = "the model was made of raw text, which translate_text takes; the other methods take its tokens"
Sentence = str | Sequence[str] | Input  # a tokenized line, its words, or these with instructions


@travels_by_parts
class Decoder:
    """Translates sentences with a model and search settings; threads may share a decoder."""

    @checked
    def __init__(
        self,
        model: Model,
        search_settings: SearchSettings | None = None,
        weights: Weights | None = None,
        input_settings: InputSettings | None = None,
        folds: Sequence[Fold] = (),
    ):
        """`weights` default to the model's own; `folds` are needed for inputs that name one, see HeldOutPair.

        Of `input_settings`, only the treatment of unknown words matters here; markup matters to readers of lines.
        Raises ModelError if the weights do not fit the model.
        """
        self._begin(Searcher(model, search_settings, weights, input_settings, folds))

    def _begin(self, searcher: Searcher) -> None:
        self.searcher, self.model = searcher, searcher.model
        self._batches = BatchSearcher(searcher)
        self.request = TRANSLATION  # for `translate`
        self.confidence = ConfidenceSettings()  # the model's, for requests that want confidences
        self._warns_of_raw_text = searcher.model.description.preprocessing is not None  # until it has warned
        self._tokenization: Tokenization | None = None  # from the model's directory, read when text is first translated
        self._second: Decoder | None = None  # decodes with the model in the folder `evidence` of the model
        self._directory: Path | None = None
        self._loaded: tuple[Path, SearchSettings | None, Weights | None, InputSettings | None] | None = None

    @classmethod
    @checked
    def load(
        cls,
        directory: str | Path,
        search_settings: SearchSettings | None = None,
        weights: Weights | None = None,
        input_settings: InputSettings | None = None,
    ) -> "Decoder":
        """Load the model in `directory`; its search.yaml gives the settings that are not given here.

        Raises SmtError, naming the file at fault. A pickled decoder contains only its directory and arguments.

        >>> decoder = Decoder.load("model", SearchSettings(algorithm="cube", pop_limit=200))
        >>> decoder.translate("der hund schläft im garten .").text
        'the dog sleeps in the garden .'
        """
        decoder = cls._of(directory, search_settings, weights, input_settings)
        decoder._loaded = Path(directory).absolute(), search_settings, weights, input_settings
        return decoder

    @classmethod
    def _of(
        cls,
        directory: str | Path,
        search_settings: SearchSettings | None,
        weights: Weights | None,
        input_settings: InputSettings | None,
        *more: Any,
    ) -> Self:
        """The decoder of a model directory; settings that are None come from its search.yaml; `more`: arguments."""
        carried, model = ModelSearch.of(directory), open_model(directory)
        decoder = cls(model, search_settings or carried.search, weights, input_settings or carried.input, *more)
        decoder.request, decoder._directory = Request(mbr=carried.mbr), Path(directory).absolute()
        decoder.confidence = carried.confidence
        if (Path(directory) / EVIDENCE / MODEL).exists():  # the folders of an earlier model may be left, without files
            decoder._second = Decoder.load(Path(directory) / EVIDENCE)
            _ = decoder.tokenization, decoder._second.tokenization  # read now: other machines lack the directories
        return decoder

    @checked
    def within(self, search_settings: SearchSettings) -> Self:
        """A decoder of the same model and weights with other search limits."""
        other = object.__new__(type(self))
        other._begin(self.searcher.within(search_settings))
        other._share(self)
        return other

    def _share(self, other: "Decoder") -> None:
        """Use the default request, tokenizers and second model of `other`, a decoder of the same model."""
        self.request, self._directory, self._tokenization = other.request, other._directory, other._tokenization
        self.confidence, self._second = other.confidence, other._second

    def __reduce__(self) -> tuple[object, ...]:
        if self._loaded is None:
            raise TypeError(
                "this decoder cannot be pickled: its model or its sparse weights are in no directory; use Decoder.load"
            )
        return Decoder.load, self._loaded

    def close(self) -> None:
        """Close files that only one process may open. A Decoder has no such files; see AdaptedDecoder."""

    @checked
    def reweigh(self, weights: Weights, sparse: SparseWeights | None = None) -> None:
        """Use other weights in all searches that start from now on; running searches keep their weights.

        `sparse`: weights of sparse features, which must not change while searches use them; None keeps the current
        ones. Raises ModelError if `weights` do not fit the model.
        """
        own = self.tables.sparse.weights
        self.searcher.snapshot = self.searcher.new_snapshot(weights, own if sparse is None else sparse)
        if self._loaded is not None:
            directory, search_settings, _, input_settings = self._loaded
            is_own = sparse is None or sparse is own
            self._loaded = (directory, search_settings, weights, input_settings) if is_own else None

    @checked
    def with_weights(self, **changed: float | Sequence[float]) -> Self:
        """A decoder of the same model and limits with other weights for the named dense features. Raises SmtError.

        >>> decoder = Decoder.load("model").with_weights(language_model=1.0, word_penalty=-0.5)
        >>> decoder.weights.word_penalty
        -0.5
        """
        other = self.within(self.search_settings)
        other.reweigh(overridden(self.weights, changed, "weights"), self.tables.sparse.weights)
        return other

    @property
    def search_settings(self) -> SearchSettings:
        """The limits of the search."""
        return self.searcher.settings

    @property
    def weights(self) -> Weights:
        """The dense weights of new searches, named as in weights.yaml."""
        return self.searcher.snapshot.named

    @property
    def dense_weights(self) -> DenseWeights:
        """The dense weights of new searches as arrays."""
        return self.searcher.snapshot.dense

    @property
    def features(self) -> FeatureLayout:
        """The layout of dense features."""
        return self.searcher.snapshot.layout

    @property
    def tables(self) -> Tables:
        """The model's tables, with the weights of new searches."""
        return self.searcher.snapshot.tables

    def input_of(self, line: Sentence) -> Input:
        """Make an Input of tokens; if the model has features of tags, these are word|TAG. Raises ConfigError."""
        if self._warns_of_raw_text and isinstance(line, str) and looks_raw(line):
            self._warns_of_raw_text = False
            log.warning("%s seems not to be tokenized: %s", excerpt(line), RAW_ADVICE)
        return line if isinstance(line, Input) else Input.read(line, self.model.has_tags)

    def search_input(self, line: Sentence) -> Input:
        """The Input that is decoded for a line; an AdaptedDecoder adds terms to it. Raises ConfigError."""
        return self.input_of(line)

    def translate(self, line: Sentence) -> Translation:
        """The best translation of a tokenized sentence that the search finds.

        A string is read without markup; read_markup makes an Input from a line with markup. Raises ConfigError for
        impossible instructions, such as a term outside the sentence.

        >>> decoder = Decoder.load("model")
        >>> translation = decoder.translate("der hund schläft .")
        >>> [(phrase.source, phrase.target) for phrase in translation.phrases]  # doctest: +SKIP
        [('der hund', 'the dog'), ('schläft .', 'sleeps .')]
        >>> decoder.translate(["der", "hund", "schläft", "."]) == translation
        True
        """
        return self.answer(line, self.request).translation

    @checked
    def translate_text(self, text: str, markup: Markup = "pass-through") -> str:
        """Translate a sentence given as a string: raw text if the model was trained on raw text, else tokens.

        `markup`: how tags such as <x translation="Hund">dog</x> are read, see read_markup. Raises SmtError.

        >>> Decoder.load("raw-model").translate_text("Der Hund schläft.")
        'The dog sleeps.'
        """
        given = self.tokenization.sentence(text, markup, has_tags=self.model.has_tags)
        return self.tokenization.text_of(self.translate(given), given)

    @property
    def tokenization(self) -> Tokenization:
        """The tokenizers of the model. Raises SmtError if their files are damaged."""
        if self._tokenization is None:
            if self._directory is None and self.model.description.preprocessing:
                raise ConfigError("this decoder does not know the directory of its model; open it by Decoder.load")
            self._tokenization = Tokenization.of_model(self._directory) if self._directory else TOKENIZED
        return self._tokenization

    @checked
    def complete(self, line: Sentence, prefix: str, partial_word: bool = False) -> Translation:
        """The best translation that begins with the tokenized `prefix`, whose words may be unknown; see Prefix.read."""
        return self.translate(replace(self.input_of(line), prefix=Prefix.read(prefix, partial_word)))

    @checked
    def nbest(self, line: Sentence, n: int, distinct: bool = False) -> list[Translation]:
        """The `n` best derivations that the search kept; the first is that of translate(line).

        With `distinct`, the best derivation of each of the `n` best target strings. The list is shorter if the search
        kept fewer. Raises ConfigError unless n >= 1.
        """
        return self.answer(line, Request(n, distinct)).nbest

    @checked
    def mbr(self, line: Sentence, settings: MbrSettings | None = None) -> Translation:
        """The translation with minimum Bayes risk: that of the distinct n-best list with the largest expected gain."""
        return self.answer(line, Request(mbr=settings or self.request.mbr or MbrSettings())).translation

    @checked
    def lattice(self, line: Sentence, beam: float = math.inf) -> Lattice:
        """The lattice of all derivations that survived the search, or of those at most `beam` below the best score.

        Raises ConfigError unless beam >= 0.
        """
        lattice = self.answer(line, Request(lattice=True, lattice_beam=beam)).lattice
        return cast(Lattice, lattice)

    @checked
    def answer(self, line: Sentence, request: Request = TRANSLATION, stop: StopFlag | None = None) -> Answer:
        """All results that `request` asks for, for a tokenized sentence, from one search.

        Raises InterruptedError when another thread sets the flag `stop`.

        >>> decoder = Decoder.load("model")
        >>> translation = decoder.answer("der hund schläft .", Request(confidence=decoder.confidence)).translation
        >>> [(word, p > 0.5) for word, p in zip(translation.text.split(), translation.confidences)]
        [('the', True), ('dog', True), ('sleeps', True), ('.', True)]
        """
        return self._answer(self.search_input(line), request, stop)

    def _answer(self, given: Input, request: Request, stop: StopFlag | None) -> Answer:
        with self.searcher.search(given, stop=stop) as result:
            confidence = request.confidence
            nbest = result.nbest(request.n, request.distinct, request.sparse, confidence) if request.n else []
            if request.mbr:
                evidence = self.evidence(given, request.mbr, stop)
                translation = result.least_risk(request.mbr, request.sparse, confidence, evidence)
            else:
                translation = nbest[0] if nbest else result.best(confidence)
            lattice = result.lattice(request.lattice_beam) if request.lattice else None
            return Answer(translation, nbest, lattice)

    def evidence(self, given: Input, risk: MbrSettings, stop: StopFlag | None = None) -> Evidence | None:
        """The second model's list for a sentence; None if it has no share, or if the sentence has instructions.

        Raises ConfigError if it has a share, and the model has no second model.
        """
        if not risk.evidence:
            return None
        second = self._second
        if second is None:
            raise ConfigError(
                f"mbr: evidence is {risk.evidence:g}, but the model has no folder `{EVIDENCE}` with a second model; "
                "set evidence to 0, or use a model that has one"
            )
        if not is_plain(given):
            return None
        with second.searcher.search(Input(given.words), stop=stop) as result:
            _, texts, probability = result.compared(risk)
        return Evidence([*map(second.tokenization.joined, texts)], probability, self.tokenization.joined)

    def answer_several(self, lines: Sequence[Sentence], request: Request) -> Iterator[Answer]:
        """Answer a request for several sentences; those without instructions are decoded together."""
        for found in self.found_together(lines, request):
            if isinstance(found, FoundBatch):
                yield from map(Answer, found.translations())
            else:
                yield found

    def found_together(self, lines: Sequence[Sentence], request: Request) -> Iterator[FoundBatch | Answer]:
        """Batches of translations of several sentences in order, or an answer where a sentence is decoded alone."""
        begin = 0
        while begin < len(lines):
            found = self._batches.best(self._plain(lines[begin:])) if request == TRANSLATION else None
            if found is not None and found.texts:
                yield found
                begin += len(found.texts)
            else:
                yield self.answer(lines[begin], request)
                begin += 1

    def _plain(self, lines: Sequence[Sentence]) -> list[str]:
        """The leading sentences that have only words, as tokenized lines."""
        plain = list[str]()
        with suppress(ConfigError):  # `answer` raises it for that sentence
            for line in lines[:MOST_SENTENCES]:
                given = self.input_of(line) if not isinstance(line, str) or self._warns_of_raw_text else None
                if given is not None and not is_plain(given):
                    break
                plain.append(line if isinstance(line, str) else " ".join(given.words if given else ()))
        return plain

    @checked
    def answer_all(self, lines: Iterable[Sentence], request: Request, threads: int = 1) -> Generator[Answer]:
        """Yield `answer` of each line in order, as translate_all does."""
        return current_engine().map(Answers(self, request), lines, threads)

    @checked
    def nbest_all(
        self, lines: Iterable[Sentence], n: int, distinct: bool = False, threads: int = 1
    ) -> Generator[list[Translation]]:
        """Yield `nbest` of each line, as translate_all does."""
        return current_engine().map(lambda line: self.nbest(line, n, distinct), lines, threads)

    @checked
    def nbest_tables(
        self, lines: Iterable[Sentence], n: int, distinct: bool = False, sparse: bool = False, threads: int = 1
    ) -> Generator[NbestTable]:
        """Yield `nbest` of each line as arrays, as translate_all does; with `sparse` also sparse features by key."""

        def table(line: Sentence) -> NbestTable:
            with self.searcher.search(self.search_input(line)) as result:
                return nbest_table(result, n, distinct, sparse)

        return current_engine().map(table, lines, threads)

    @checked
    def translate_all(self, lines: Iterable[Sentence], threads: int = 1) -> Generator[Translation]:
        """Yield the translations of `lines` in their order, each as soon as it and those before it are ready.

        An error in reading `lines` is raised after the translations of the lines before it. Raises ConfigError if
        `lines` is a single string.

        >>> decoder = Decoder.load("model")
        >>> [one.text for one in decoder.translate_all(["der hund schläft .", "die katze schläft ."], threads=2)]
        ['the dog sleeps .', 'the cat sleeps .']
        """
        with closing(self.answer_all(lines, self.request, threads)) as answers:
            for answer in answers:
                yield answer.translation


@dataclass(frozen=True)
class Answers(Together[Sentence, Answer]):
    """The answers of a decoder, as a function that the engine can send to other processes."""

    decoder: Decoder
    request: Request

    def __call__(self, item: Sentence) -> Answer:
        return self.decoder.answer(item, self.request)

    def of_several(self, items: Sequence[Sentence]) -> Iterator[Answer]:
        return self.decoder.answer_several(items, self.request)
