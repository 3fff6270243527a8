"""Names of dense features for users, as in the literature; files have only keys and numbers."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from phrasebeam.decoder.features.reordering_type import Kind, Reordering

Groups = Iterable[tuple[str, int | None]]  # keys of weights.yaml, and lengths of lists; None: a single number
TITLES = {  # for features whose keys, written with spaces, are less clear
    "bitext_count": "ln count of the phrase pair",
    "early_distortion": "early distortion (certain jumps)",
    "length_groups": "by phrase length",
    "related_words": "related words for unknown ones",
    "source_idf": "rarer source words (idf)",
    "spelled_words": "unknown words translated by letters",
    "spelling": "P(e|f) of the letters of unknown words",
    "target_idf": "rarer target words (idf)",
    "unique_rule": "phrase pairs seen once",
}
OF_PHRASES = ("P(f|e)", "lexical weight P(f|e)", "P(e|f)", "lexical weight P(e|f)")  # Moses' order
OF_OPERATIONS = ("operation sequence model", "opened gaps", "jumps back")
OF_ORIENTATIONS: dict[Kind, tuple[str, ...]] = {  # in the order of reordering.COLUMNS
    "msd": ("monotone", "swap", "discontinuous"),
    "mslr": ("monotone", "swap", "discontinuous left", "discontinuous right"),
    "monotonicity": ("monotone", "not monotone"),
    "leftright": ("right", "left"),
}


def feature_titles(groups: Groups, reordering: Reordering | None) -> list[str]:
    """One title for each value of a feature vector; `reordering` is the type of its reordering model, if known.

    >>> feature_titles([("translation", 2), ("word_penalty", None)], None)
    ['P(f|e)', 'lexical weight P(f|e)', 'word penalty']
    """
    sizes = dict(groups)
    of_lists: Mapping[str, Callable[[int], Sequence[str]]] = {
        "translation": phrase_titles,
        "reordering": lambda size: reordering_titles(reordering, size),
        "language_model": lambda size: _numbered("language model", size) if size > 1 else ["language model"],
        "operations": lambda size: OF_OPERATIONS if size == len(OF_OPERATIONS) else _numbered("operations", size),
        "length_groups": lambda size: _length_titles(sizes.get("translation") or 1, size),
    }
    titles: list[str] = []
    for name, size in sizes.items():
        title = TITLES.get(name, name.replace("_", " "))
        titles += [title] if size is None else of_lists.get(name, lambda n, title=title: _numbered(title, n))(size)
    return titles


def phrase_titles(size: int) -> list[str]:
    """Titles of scores of the phrase table."""
    return [*OF_PHRASES[:size], *(f"phrase score {number}" for number in range(len(OF_PHRASES) + 1, size + 1))]


def reordering_titles(reordering: Reordering | None, size: int) -> list[str]:
    """Titles of scores of lexicalized reordering: direction and orientation, or numbers if the type is not known."""
    if reordering is None or reordering.n_weights != size:
        return _numbered("reordering", size)
    kinds = OF_ORIENTATIONS[reordering.kind]
    columns = [f"{direction} {kind}" for direction in reordering.directions for kind in kinds]
    titles = list(reordering.directions) if reordering.collapse else list(columns)
    for number in range(1, reordering.learned + 1):
        titles += [f"{column} (learned{f' {number}' if reordering.learned > 1 else ''})" for column in columns]
    return [f"reordering: {title}" for title in titles]


def _length_titles(n_scores: int, size: int) -> list[str]:
    """Titles of length groups: for each score of the phrase table, all ranges within 1..M, see features/pair.py."""
    longest = next((m for m in range(size + 1) if n_scores * m * (m + 1) // 2 >= size), 0)
    ranges = [(a, b) for a in range(1, longest + 1) for b in range(a, longest + 1)]
    if n_scores * len(ranges) != size:
        return _numbered(TITLES["length_groups"], size)
    return [f"{title} of {_words(a, b)}" for title in phrase_titles(n_scores) for a, b in ranges]


def _words(first: int, last: int) -> str:
    if first == last:
        return "phrases of 1 word" if first == 1 else f"phrases of {first} words"
    return f"phrases of {first} to {last} words"


def _numbered(title: str, size: int) -> list[str]:
    return [f"{title} {number}" for number in range(1, size + 1)]
