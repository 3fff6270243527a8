"""Hints at possible errors if text looks tokenized (by sacrebleu's test), or a score is very low."""

from collections.abc import Mapping, Sequence

from phrasebeam.process.hints import hint

LEAST_BLEU = 2.0
TOKENIZED_LINES = 100  # as in sacrebleu
FIELDS = " ||| "  # separator of the fields of an n-best list


def hint_at_tokens(systems: Mapping[str, Sequence[str]]) -> None:
    """Give a hint for each system with many lines that end in a tokenized period, if BLEU has a tokenizer."""
    for name, lines in systems.items():
        if sum(line.rstrip().endswith(" .") for line in lines) >= TOKENIZED_LINES:
            found = f"{name}: {TOKENIZED_LINES} lines or more end in a tokenized period (' .')"
            hint(f"{found}: detokenize translations and references, or BLEU is not comparable; or give --tokenize none")


def hint_at_fields(systems: Mapping[str, Sequence[str]]) -> None:
    """Give a hint for each system in which every line has the fields of n-best lists, or of `translate --scores`."""
    for name, lines in systems.items():
        if all(FIELDS in line for line in lines):
            hint(f"{name}: fields set off by '|||' in each line count as words; give only the translations")


def hint_at_low_score(metric: str, score: float) -> None:
    """Give a hint if `metric` is BLEU and its score (0 to 100) is so low that weights cannot be the cause."""
    if metric == "bleu" and score < LEAST_BLEU:
        asked = "are source and target in the right direction, line by line, and tokenized and cased alike?"
        hint(f"BLEU is {score:.2f}: {asked}")
