"""Sparse features of a phrase pair alone by their definitions: as names, hashes and text."""

from itertools import groupby

from tests.naive.hashes import EVERY_BIT, combine, hash_text, mix, name_hash

PHRASE_GROUPS = ("source_bigrams", "target_bigrams", "rule_shape", "phrase_alignment", "source_deletion")
WORD_GROUPS = ("inserted_words", "deleted_words", "word_pairs", "phrase_lengths")
PHRASE_GROUPS += WORD_GROUPS
LONGEST = 255  # words of a side that count


def most_frequent(counts, n):
    """The `n` words with the largest counts, of {word: count} in the order of the vocabulary."""
    return {*sorted((word for word in counts if counts[word]), key=lambda word: -counts[word])[:n]}


def one_word_counts(pairs):
    """{word: count} of both sides, of [(source words, target words, count)]: the counts of pairs with a side of one."""
    counts = {}, {}
    for *sides, count in pairs:
        for side, words in zip(counts, sides):
            for word in words:
                side[word] = side.get(word, 0) + (max(count, 1) if len(words) == 1 else 0)
    return counts


def phrase_names(rule, points, lists):
    """The names of all features of (source words, target words) but those of deleted content words.

    `lists`: of word features, by name.
    """
    yield from word_names([side[:LONGEST] for side in rule], points, lists)
    rule = [side[:LONGEST] for side in rule]
    for group, words in zip(PHRASE_GROUPS, rule):
        for i in range(len(words) - 1):
            yield group, words[i], words[i + 1]
    aligned = [[(side, i) in cells(points) for i in range(len(words))] for side, words in enumerate(rule)]
    runs = tuple(tuple(key for key, _ in groupby(flags)) for flags in aligned)
    crosses = any((i - k) * (j - m) < 0 for i, j in points for k, m in points)
    yield "rule_shape", tuple(min(7, len(words)) for words in rule), runs, crosses
    rest = cells(points)
    while rest:
        clique = reached({min(rest)}, points)
        yield "phrase_alignment", *(tuple(sorted(rule[side][i] for s, i in clique if s == side)) for side in (0, 1))
        rest -= clique


def word_names(rule, points, lists):
    """Moses' features of words: TargetWordInsertion, SourceWordDeletion, WordTranslation, PhraseLength."""

    def known(word, name):
        return word if lists.get(name) is None or word in lists[name] else "OTHER"

    source, target = rule
    if not (len(source) == len(target) == 1 and not points):
        yield from (
            ("inserted_words", known(w, "inserted")) for j, w in enumerate(target) if j not in {j for _, j in points}
        )
        yield from (
            ("deleted_words", known(w, "deleted")) for i, w in enumerate(source) if i not in {i for i, _ in points}
        )
    for i, j in points:
        yield "word_pairs", known(source[i], "pair_source"), known(target[j], "pair_target")
    yield from (
        ("phrase_lengths", *sizes) for sizes in ((len(source), -1), (-1, len(target)), (len(source), len(target)))
    )


def cells(points):
    return {(0, i) for i, _ in points} | {(1, j) for _, j in points}


def reached(clique, points):
    """All words that points connect with some."""
    more = {cell for i, j in points for cell in ((0, i), (1, j)) if {(0, i), (1, j)} & clique}
    return clique if more <= clique else reached(clique | more, points)


def deleted(frequent, rule, tags, content, points):
    """The positions of content words that are deleted; `content`: how their tags begin, if tags say it."""
    for i, (word, tag) in enumerate(zip(rule[0], tags)):
        is_content = word not in frequent[0] and any(c.isalpha() for c in word)
        if content:
            is_content = any(tag.startswith(beginning) for beginning in content)
        if is_content and all(rule[1][j] in frequent[1] for k, j in points if k == i):
            yield i


def phrase_hash(name):
    """What the key of a name is made of, besides its group."""
    group, rest = name[0], name[1:]
    if group == "rule_shape":
        lengths, runs, crosses = rest
        h = combine(combine(0, lengths[0]), lengths[1])
        for value in (*runs[0], 2, *runs[1], 2):
            h = mix(combine(h, int(value)))
        return combine(h, int(crosses))
    if group == "phrase_alignment":
        sides = [(side, word) for side, words in zip(("source", "target"), rest) for word in words]
        parts = [combine(combine(0, name_hash(side)), hash_text(f"word={word}")) for side, word in sides]
        return sum(map(mix, parts)) & EVERY_BIT
    if group == "source_deletion":
        return 0 if rest[0] == "all" else combine(0, hash_text(rest[0]))
    if group == "phrase_lengths":
        return combine(combine(0, rest[0]), rest[1])
    if group in ("inserted_words", "deleted_words"):
        return combine(combine(0, hash_text(f"word={rest[0]}")), -1)
    first, second = (hash_text(f"word={word}") for word in rest)
    return combine(combine(0, first), second)


def phrase_text(name):
    """What the feature is called, without its group."""
    group, rest = name[0], name[1:]
    if group == "rule_shape":
        lengths, runs, crosses = rest
        parts = ["".join("UA"[key] for key in side) or "-" for side in runs]
        return "_".join(["x".join(map(str, lengths)), *parts, "crossing" if crosses else "monotone"])
    if group == "phrase_alignment":
        return "~".join("_".join(words) for words in rest)
    if group == "phrase_lengths":
        return f"t{rest[1]}" if rest[0] < 0 else f"s{rest[0]}" if rest[1] < 0 else f"{rest[0]},{rest[1]}"
    if group == "word_pairs":
        return "~".join(rest)
    return "_".join(rest)
