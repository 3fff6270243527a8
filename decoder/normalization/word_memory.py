"""Words and forms seen in training, known words of the target language, and features computed from both."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from phrasebeam.base.errors import FormatError
from phrasebeam.base.files import atomic_file, read_lines

UNSEEN_SHARE, UNSEEN_WORD = 0.1, 0.5  # added to the counts of a form and of its word before the ln of the form's share
# Features of a word and a form, in this order: whether training saw the pair; ln (1 + x) of its count x; ln of the
# form's share of the word; whether the word was seen but never with this form, and then ln (1 + x) of the word's count;
# whether the form is a known word; whether it is a form of the training pairs; ln (1 + x) of its count; whether it is
# either of these; whether it is the word itself; whether it is also a known word; the difference of lengths; whether it
# is the word itself, which training did not see.
MEMORY_FEATURES = (
    *("seen_pair", "ln_seen_pair", "ln_share_of_word", "other_forms_seen", "ln_other_forms_seen"),
    *("known_form", "training_form", "ln_training_form", "any_known_form"),
    *("same", "same_and_known", "length_difference", "same_and_unseen"),
)


class WordMemory:
    """Counts of the training pairs, and the known words of the target language."""

    def __init__(self, pairs: Mapping[tuple[str, str], int], known: Collection[str]):
        self.pairs, self.known = pairs, known
        self._words, self._forms = Counter[str](), Counter[str]()
        forms_of: dict[str, list[tuple[int, str]]] = {}
        for (word, form), count in pairs.items():
            self._words[word] += count
            self._forms[form] += count
            forms_of.setdefault(word, []).append((-count, form))
        self.forms_of = {word: [form for _, form in sorted(found)] for word, found in forms_of.items()}

    @classmethod
    def of(cls, pairs: Iterable[tuple[str, str]], known: Collection[str]) -> "WordMemory":
        """The memory of pairs (word, form) of running text."""
        return cls(Counter(pairs), known)

    @property
    def forms(self) -> set[str]:
        """The forms that training saw, and the known words."""
        return {*self._forms, *self.known}

    def features(self, words: Sequence[str], forms: Sequence[str]) -> np.ndarray:
        """float64[C, ...], the values of MEMORY_FEATURES for C forms and the word of each."""
        pair = np.array([self.pairs.get(both, 0) for both in zip(words, forms)], np.float64)
        seen = np.array([self._words.get(word, 0) for word in words], np.float64)
        times = np.array([self._forms.get(form, 0) for form in forms], np.float64)
        is_known = np.array([form in self.known for form in forms], bool)
        is_same = np.array([word == form for word, form in zip(words, forms)], bool)
        lengths = np.array([abs(len(word) - len(form)) for word, form in zip(words, forms)])
        columns = (
            pair > 0,
            np.log1p(pair),
            np.where(seen > 0, np.log((pair + UNSEEN_SHARE) / (seen + UNSEEN_WORD)), 0.0),
            (seen > 0) & (pair == 0),
            np.where(pair == 0, np.log1p(seen), 0.0),
            is_known,
            times > 0,
            np.log1p(times),
            is_known | (times > 0),
            is_same,
            is_same & is_known,
            lengths,
            is_same & (seen == 0),
        )
        return np.column_stack(columns).astype(np.float64)

    def save(self, pairs: Path, known: Path) -> None:
        """Write the counts and the known words."""
        with atomic_file(pairs) as file:
            for (word, form), count in sorted(self.pairs.items()):
                file.write(f"{word}\t{form}\t{count}\n".encode())
        with atomic_file(known) as file:
            for word in sorted(self.known):
                file.write(f"{word}\n".encode())

    @classmethod
    def load(cls, pairs: Path, known: Path) -> "WordMemory":
        """Load what `save` wrote. Raises FormatError or OSError."""
        counts = {}
        for number, line in enumerate(read_lines(pairs), 1):
            word, *rest = line.rstrip("\n").split("\t")
            if len(rest) != 2 or not rest[1].isdecimal():
                raise FormatError(pairs, "expected a word, a form and a count; train the normalizer again", number)
            counts[word, rest[0]] = int(rest[1])
        return cls(counts, {line.rstrip("\n") for line in read_lines(known)})
