"""Language models in ARPA format as dicts, scored by backing off; MurmurHash64A in Python's integers."""

import random

import numpy as np

MASK = 2**64 - 1


def parse_arpa(text):
    """{n-gram (tuple of words): (log10 p, log10 backoff)} of an ARPA text, float32 each."""
    model = {}
    for line in text.splitlines():
        fields = line.split("\t")
        if len(fields) > 1:
            backoff = fields[2] if len(fields) > 2 else 0
            model[tuple(fields[1].split(" "))] = np.float32(fields[0]), np.float32(backoff)
    return model


def score(model, context, word):
    """log10 p(word | context) (float32), and the length of the longest n-gram of the model that matched."""
    if (word,) not in model:
        word = "<unk>"
    context = tuple(w if (w,) in model else "<unk>" for w in context)
    return _back_off(model, context, word)


def _back_off(model, context, word):
    if (*context, word) in model:
        return model[(*context, word)][0], len(context) + 1
    log10_prob, length = _back_off(model, context[1:], word)
    return np.float32(log10_prob + model.get(context, (0, np.float32(0)))[1]), length


def random_arpa(sentences, order, seed, drop=0.0):
    """An ARPA text with the n-grams of `sentences` and random probabilities and backoff weights.

    Of the n-grams that are no context of a longer one, the share `drop` is left out (of the longest, half of it), so
    that suffixes are missing.
    """
    rng = random.Random(seed)
    orders = [set() for _ in range(order)]
    for sentence in sentences:
        words = ["<s>", *sentence, "</s>"]
        for n in range(order):
            orders[n].update(tuple(words[i : i + n + 1]) for i in range(len(words) - n))
    orders[0].update([("<unk>",), ("<s>",), ("</s>",)])
    # Backoff weights above 0 could lift a missing suffix above probability 1, which KenLM's tables cannot hold.
    highest = 0 if drop else 0.5
    contexts, share = set(), drop / 2
    for n in range(order - 1, 0, -1):
        orders[n] = {ngram for ngram in sorted(orders[n]) if ngram in contexts or rng.random() >= share}
        contexts, share = {ngram[:-1] for ngram in orders[n]}, drop
    lines = ["\\data\\", *(f"ngram {n}={len(ngrams)}" for n, ngrams in enumerate(orders, 1))]
    for n, ngrams in enumerate(orders, 1):
        lines += ["", f"\\{n}-grams:"]
        for ngram in sorted(ngrams):
            backoff = rng.choice(["", "\t0", f"\t{rng.uniform(-2, highest):.6f}"]) if n < order else ""
            lines.append(f"{rng.uniform(-4, 0):.6f}\t{' '.join(ngram)}{backoff}")
    return "\n".join([*lines, "", "\\end\\", ""])


def murmur64a(data, seed=0):
    """MurmurHash64A of bytes (Austin Appleby, 2008)."""
    m = 0xC6A4A7935BD1E995
    h = seed ^ (len(data) * m & MASK)
    whole = len(data) // 8 * 8
    for i in range(0, whole, 8):
        k = int.from_bytes(data[i : i + 8], "little") * m & MASK
        h = (h ^ ((k ^ (k >> 47)) * m & MASK)) * m & MASK
    if whole < len(data):
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & MASK
    h = (h ^ (h >> 47)) * m & MASK
    return h ^ (h >> 47)
