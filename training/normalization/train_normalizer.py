"""Training of a normalizer: letter models of all words, and of all words but one fold; then the choice among forms.

DIR/recipe has run.yaml, the language model of known words, and the letter models. Each is built only once; several are
built at the same time.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from phrasebeam.base.config import Section, load_config, save_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import atomic_file
from phrasebeam.base.memory_bound import LEAST_MEMORY
from phrasebeam.base.progress import Advance, log, stage
from phrasebeam.base.side_by_side import run_side_by_side
from phrasebeam.decoder.model.digests import file_digest
from phrasebeam.decoder.normalization.candidates import CandidateLists, LetterCosts, candidate_lists
from phrasebeam.decoder.normalization.directory import NORMALIZER
from phrasebeam.decoder.normalization.letter_edits import learn_costs
from phrasebeam.decoder.normalization.near_words import lexicon_of
from phrasebeam.decoder.normalization.normalizer_files import (
    EDITS,
    LETTER_MODEL,
    NORMALIZER_FORMAT,
    OUTPUTS,
    OWN_FILES,
    PAIRS,
    SPARSE,
    WORDS,
    HeldOutResult,
    NormalizerDescription,
    open_parts,
)
from phrasebeam.decoder.normalization.running_text import distinct_words
from phrasebeam.decoder.normalization.word_letters import Alphabet
from phrasebeam.decoder.normalization.word_memory import WordMemory
from phrasebeam.decoder.tables.provenance import check_work, file_digests, signature, version
from phrasebeam.decoder.tokenizers.spelling import Spelling
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.process.directory_lock import alone_in_output
from phrasebeam.process.interruption import goes_on_in
from phrasebeam.process.unfinished import put_in_place, remove
from phrasebeam.training.normalization.held_out_words import (
    ChoiceWeights,
    HeldOutPart,
    held_out_result,
    learn_choice,
)
from phrasebeam.training.normalization.letter_model import LetterModelBuilder
from phrasebeam.training.normalization.normalizer_settings import NormalizerSettings
from phrasebeam.training.normalization.output_learning import learn_outputs
from phrasebeam.training.normalization.word_pairs import (
    Pair,
    Sentences,
    in_parts,
    read_known_words,
    read_word_pairs,
    spelling_of_forms,
)

WORK, WHOLE = "recipe", "all"
WITHOUT_EFFECT = {"threads", "memory"}
FEWEST_WORDS = 20


class WordFiles(NamedTuple):
    """The user's files: word pairs as one table or as two files, and further words of the target language."""

    pairs: Path
    forms: Path | None = None
    development: Path | None = None
    development_forms: Path | None = None
    words: Path | None = None

    @property
    def by_name(self) -> dict[str, Path]:
        """The given files, by name."""
        return {name: path for name, path in self._asdict().items() if path is not None}


class NormalizerState(Section):
    """The content of run.yaml: the signature of the files and settings of the work."""

    format: Literal["phrasebeam recipe normalizer 3"] = "phrasebeam recipe normalizer 3"
    signature: str = ""


class HeldOutWork(NamedTuple):
    """A letter model to build, and the sentences for whose words it lists candidates."""

    name: str
    pairs: list[Pair]  # from which the model is built
    sentences: Sentences


@alone_in_output
def train_normalizer(
    files: WordFiles, output: Path, settings: NormalizerSettings, is_forced: bool = False
) -> NormalizerDescription:
    """Train a normalizer on word pairs, and write it to `output`; work with the same files and settings is continued.

    Raises SmtError or OSError; if files are missing or wrong, before any work.
    """
    pairs = read_word_pairs(files.pairs, files.forms)
    development = read_word_pairs(files.development, files.development_forms) if files.development else []
    spelling = spelling_of_forms(pairs, settings.form_letters)
    known = read_known_words(files.words, spelling) if files.words else set[str]()
    if (n := sum(map(len, pairs))) < FEWEST_WORDS:
        raise ConfigError(f"{files.pairs}: {n} word pairs; give {FEWEST_WORDS} or more")
    digests = file_digests(files.by_name)
    sign = signature(settings.model_dump(mode="json", exclude=WITHOUT_EFFECT), digests)
    if (output / NORMALIZER).exists() and not is_forced:
        found = open_parts(output).description
        if found.signature == sign:
            log.info("%s: already made from the same files and settings", output)
            return found
        raise ConfigError(f"{output}: another normalizer; give --force to replace it, or another --output")
    if not (output / NORMALIZER).exists():
        check_work(output)
    training = _Training(pairs, development, known, spelling, output, settings, sign)
    return training.run(digests)


class _Training:
    """One training: its words, its settings, and its work."""

    def __init__(
        self,
        pairs: Sentences,
        development: Sentences,
        known: set[str],
        spelling: Spelling,
        output: Path,
        settings: NormalizerSettings,
        sign: str,
    ):
        self.pairs, self.development, self.known, self.output, self.settings = (
            pairs,
            development,
            known,
            output,
            settings,
        )
        self.work, self.sign = output / WORK, sign
        words, forms = ([pair[side] for one in (*pairs, *development) for pair in one] for side in (0, 1))
        self.alphabet = Alphabet.of(words, forms, spelling)
        self.workers = min(settings.threads, settings.folds + 1)
        bounds = settings.threads // self.workers, max(LEAST_MEMORY, settings.memory // self.workers)
        letter_model = settings.letter_model
        self.builder = LetterModelBuilder(self.work, known, spelling, letter_model, letter_model.search, *bounds)
        self._begin()

    def run(self, digests: dict[str, dict[str, str]]) -> NormalizerDescription:
        """Do the missing work, and write the normalizer."""
        whole, folds = _flat(self.pairs), in_parts(self.pairs, self.settings.folds)
        letters = self._letters(whole)
        self.builder.prepare()
        pieces = [HeldOutWork(f"fold-{i}", _all_but(folds, i), fold) for i, fold in enumerate(folds)]
        pieces.append(HeldOutWork(WHOLE, whole, self.development))
        with stage("models of letters", len(pieces), "models") as advance:
            work, numbers = partial(self._lists, pieces), range(len(pieces))
            lists = run_side_by_side(work, numbers, self.workers, advance)
        parts = [HeldOutPart(piece.sentences, found) for piece, found in zip(pieces, lists) if piece.sentences]
        with stage("learning weights"):
            estimate = self._estimate(parts)
            weights = learn_choice(parts, self.alphabet, self.settings)
        return self._write(whole, letters, weights, estimate, digests)

    def _begin(self) -> None:
        """Continue the run in the directory if it has the same files and settings; otherwise begin a new run."""
        path = self.work / "run.yaml"
        if path.exists() and load_config(path, NormalizerState).signature != self.sign:
            remove(self.work)
        self.work.mkdir(parents=True, exist_ok=True)
        goes_on_in(self.work)
        save_config(NormalizerState(signature=self.sign), path)

    def _lists(self, pieces: Sequence[HeldOutWork], number: int, advance: Advance) -> CandidateLists:
        """Build the model of a piece, unless it exists; return candidates for the sentences that it has not seen."""
        name, pairs, sentences = pieces[number]
        letters = self._letters(pairs)
        self.builder.build(name, Counter(pairs), letters.alphabet, letters.costs)
        words = distinct_words([[word for word, _ in sentence] for sentence in sentences])
        decoder, memory = Decoder.load(self.work / name), WordMemory.of(pairs, self.known)
        lexicon, settings = lexicon_of(memory.forms, self.alphabet), self.settings.candidates
        found = candidate_lists(words, decoder, memory, lexicon, letters, settings, self.builder.threads)
        advance(1)
        return found

    def _letters(self, pairs: Sequence[Pair]) -> LetterCosts:
        """Learn the costs of edits of letters, and what is written in place of letters, from these pairs."""
        counts = sorted(Counter(pairs).items())
        weights = np.log1p([count for _, count in counts])
        words, forms = [word for (word, _), _ in counts], [form for (_, form), _ in counts]
        costs = learn_costs(words, forms, weights, self.alphabet)
        outputs = learn_outputs(words, forms, self.alphabet, costs, self.settings.outputs)
        return LetterCosts(self.alphabet, costs, outputs)

    def _estimate(self, parts: list[HeldOutPart]) -> HeldOutResult:
        """The accuracy on the last part, with weights that are learned from the other parts."""
        weights = learn_choice(parts[:-1], self.alphabet, self.settings)
        return held_out_result(parts[-1], weights, self.alphabet)

    def _write(
        self,
        pairs: Sequence[Pair],
        letters: LetterCosts,
        weights: ChoiceWeights,
        estimate: HeldOutResult,
        digests: dict[str, dict[str, str]],
    ) -> NormalizerDescription:
        """Write the normalizer, with its description last, and delete the models of folds."""
        output = self.output
        remove(output / NORMALIZER)
        remove(output / LETTER_MODEL)
        put_in_place(self.work / WHOLE, output / LETTER_MODEL)
        WordMemory.of(pairs, self.known).save(output / PAIRS, output / WORDS)
        for name, numbers in ((EDITS, letters.costs), *zip(OUTPUTS, letters.outputs), (SPARSE, weights.sparse)):
            with atomic_file(output / name) as file:
                np.save(file, numbers)
        description = NormalizerDescription(
            format=NORMALIZER_FORMAT,
            version=version(),
            signature=self.sign,
            candidates=self.settings.candidates,
            alphabet=self.alphabet.letters,
            has_spaced_forms=self.alphabet.of_forms.is_spaced,
            weights=weights.dense,
            held_out=estimate,
            data=digests,
            files={name: file_digest(output / name) for name in OWN_FILES},
        )
        save_config(description, output / NORMALIZER)
        remove(self.work)
        return description


def _all_but(folds: Sequence[Sentences], number: int) -> list[Pair]:
    return [pair for other, fold in enumerate(folds) if other != number for pair in _flat(fold)]


def _flat(sentences: Sentences) -> list[Pair]:
    return [pair for sentence in sentences for pair in sentence]
