"""Words in a spelling that is made up: sentences of the embedded corpus, respelled by rules."""

import re

from phrasebeam.training.demo.demo_corpus import write_pairs

RULES = (("^u", "v"), ("ei", "ey"), ("s(.)", "\u017f\\1"), ("k", "ck"), ("t$", "th"))


def respelled(word):
    for pattern, new in RULES:
        word = re.sub(pattern, new, word)
    return word


def write_words(directory, n_sentences=150, n_test=20):
    """Write train.tsv, and test.words and test.forms, a sentence a line; known, the words of all sentences."""
    directory.mkdir(exist_ok=True)
    write_pairs(directory / "made", n_sentences, 1, 0.0)
    sentences = [line.split() for line in (directory / "made.de").read_text().splitlines()]
    rows = ["".join(f"{respelled(word)}\t{word}\n" for word in one) for one in sentences[:-n_test]]
    (directory / "train.tsv").write_text("\n".join(rows))
    lines = [" ".join(map(respelled, one)) for one in sentences[-n_test:]]
    (directory / "test.words").write_text("\n".join(lines) + "\n")
    (directory / "test.forms").write_text("\n".join(map(" ".join, sentences[-n_test:])) + "\n")
    (directory / "known").write_text("\n".join(sorted({word for one in sentences for word in one})) + "\n")
