"""Words after which a period ends no sentence, such as Mr., from the lists of Moses' tokenizer.perl by language."""

from collections.abc import Mapping
from functools import cache

# In Moses' lists these lines end in a space, so that tokenizer.perl never finds them.
NEVER_FOUND = {
    **dict.fromkeys(["as", "bn", "mni"], ("ভি",)),
    "es": ("Fil", "gr", "pÃ¡g"),
    "it": ("Amn", "Arch", "a.c", "all", "es"),
    "ml": ("പി",),
    "nl": ("Nrs",),
    "sk": ("Pf",),
    "sv": ("Ö",),
}
NUMERIC = "#NUMERIC_ONLY#"


@cache
def nonbreaking_prefixes(language: str) -> Mapping[str, bool]:
    """Words that keep their period; True for words that keep it only before digits, such as No. in No. 5.

    A language without a list gets that of English.
    """
    from sacremoses.corpus import NonbreakingPrefixes  # slow to import; it has Moses' lists, stripped of spaces

    lines = list(NonbreakingPrefixes().words(language))
    if language == "tdt":
        lines.append(f"Nu {NUMERIC}")  # missing in sacremoses 0.2
    prefixes = {line.removesuffix(NUMERIC).rstrip(): line.endswith(NUMERIC) for line in lines}
    return {word: numeric for word, numeric in prefixes.items() if word not in NEVER_FOUND.get(language, ())}
