"""Sparse features of a derivation by their definitions: as names, (group, what it is made of), and keys of names."""

from itertools import combinations, product

from tests.naive.hashes import EVERY_BIT, combine, hash_text, mix, name_hash
from tests.naive.phrase_templates import PHRASE_GROUPS, deleted, phrase_hash, phrase_names, phrase_text
from tests.naive.search import orientation

EDGES = (
    "source_edges",
    "target_edges",
    "context_edges",
    "source_target_edges",
    "source_context_edges",
    "target_context_edges",
    "all_edges",
)
RULES = ("rule_id", "rule_bigram", "rule_history")
JUMPS = ("rule_reordering", "class_reordering")
POSITIONS = ("first_source", "last_source", "first_target", "last_target", "before", "behind")


def stand_ins(levels, maps, word, tag):
    """What stands for a word at each level, and as what; a target word has the tag None, and None where it has none."""
    found = []
    for level, known in zip(levels, maps):
        if tag is None and not has_target(level):
            found.append(None)
            continue
        if level.suffix:
            found.append(f"last_characters{level.suffix}={word[-level.suffix :]}")
            continue
        if level.kind == "type":
            text = "boundary" if word in ("<s>", "</s>") else "word" if word.isalpha() else "mark"
        else:
            of_map = known.get(word, "?")
            text = {"classes": of_map, "tags": of_map if tag is None else tag}.get(level.kind, word)
            text = text[: level.prefix] if level.prefix else text
        found.append(f"{level.kind}{level.prefix or ''}={text}")
    return found


def has_target(level):
    """Whether a level classes target words."""
    return not level.source_only and (level.kind != "tags" or level.target != "")


def edges(templates, maps, source, tags, span, target):
    """The names of the combinations of one phrase pair."""
    settings = templates.word_edges
    sentence = list(zip(["<s>", *source, "</s>"], ["<s>", *tags, "</s>"]))
    begin, end = span
    at = [
        (*sentence[begin + 1], "source"),
        (*sentence[end], "source"),
        (target[0] if target else None, None, "target"),
        (target[-1] if target else None, None, "target"),
        (*sentence[begin], "source"),
        (*sentence[end + 1], "source"),
    ]
    for size in range(1, settings.most_words + 1):
        for chosen in combinations(range(6), size):
            for levels in product(range(len(templates.levels)), repeat=size):
                if cost(templates.levels, chosen, levels) <= settings.budget:
                    parts = []
                    for position, level in zip(chosen, levels):
                        word, tag, side = at[position]
                        text = stand_ins(templates.levels, maps[side], word, tag)[level] if word is not None else None
                        parts.append((position, text))
                    group = kind_of_edges(chosen)
                    yield group, tuple(parts), None
                    if settings.with_length:
                        yield group, tuple(parts), end - begin


def cost(levels, positions, chosen):
    """The cost of the `chosen` levels at these positions, of which the target's are not at all levels."""
    is_missing = any(i in (2, 3) and not has_target(levels[k]) for i, k in zip(positions, chosen))
    return float("inf") if is_missing else sum(levels[k].budget for k in chosen)


def kind_of_edges(positions):
    """The group of what combines these, two of which are of the source phrase, the target phrase and the context."""
    sides = ("source", "target", "context")
    parts = [side for i, side in enumerate(sides) if any(position // 2 == i for position in positions)]
    return f"{'all' if len(parts) == 3 else '_'.join(parts)}_edges"


def deletions(templates, maps, rule, tags, points):
    """The names of deleted content words: all of them, and their tags or classes, if there are any."""
    content = next((level.content for level in templates.levels if level.kind == "tags"), [])
    for i in deleted(maps["frequent"], rule, tags, content, points):
        yield "source_deletion", "all"
        if any(level.kind in ("tags", "classes") for level in templates.levels):
            yield "source_deletion", class_of(templates.levels, maps["source"], rule[0][i], tags[i])


def groups_of(templates):
    """The groups whose features a model of the templates can have."""
    found = [name for name in (*RULES, *PHRASE_GROUPS, *JUMPS) if getattr(templates, name)]
    if templates.word_edges:
        kinds = set()
        for size in range(1, templates.word_edges.most_words + 1):
            for chosen, levels in product(
                combinations(range(6), size), product(range(len(templates.levels)), repeat=size)
            ):
                if cost(templates.levels, chosen, levels) <= templates.word_edges.budget:
                    kinds.add(kind_of_edges(chosen))
        found += [name for name in EDGES if name in kinds]
    return found


def names(templates, maps, source, tags, derivation):
    """The names of all features of [(span, target words)]."""
    before, span_before, history = None, (-1, 0), ["<s>", "<s>"]
    for (begin, end), target in derivation:
        rule = tuple(source[begin:end]), tuple(target)
        if templates.rule_id:
            yield "rule_id", rule
        points = maps["points"].get(rule, [(0, 0)])  # a word that is no phrase is copied
        for name in phrase_names(rule, points, dict(templates.word_lists)):
            if getattr(templates, name[0]):
                yield name
        if templates.source_deletion:
            yield from deletions(templates, maps, rule, tags[begin:end], points)
        if templates.word_edges:
            yield from edges(templates, maps, source, tags, (begin, end), target)
        if templates.rule_bigram:
            yield "rule_bigram", before, rule
        if templates.rule_history:
            last = [stand_ins(templates.levels, maps["target"], word, None) for word in history[:-3:-1]]
            for level in (i for i, level in enumerate(templates.levels) if has_target(level)):
                yield "rule_history", rule, last[0][level], last[1][level]
        is_monotone = orientation(span_before, (begin, end)) == 0
        if templates.rule_reordering:
            if before is not None:
                yield "rule_reordering", before, "next", is_monotone
            yield "rule_reordering", rule, "previous", is_monotone
        if templates.class_reordering:
            classes = [class_of(templates.levels, maps["source"], *token) for token in zip(source, tags)]
            classes_before = None if before is None else tuple(classes[slice(*span_before)])
            yield "class_reordering", classes_before, tuple(classes[begin:end]), is_monotone
        before, span_before, history = rule, (begin, end), [*history, *target]


def key_of(name):
    """The 64-bit key of a name."""
    group, rest = name[0], name[1:]
    if group in PHRASE_GROUPS:
        h = phrase_hash(name)
    elif group == "rule_id":
        h = rule_hash(rest[0])
    elif group in EDGES:
        parts = [(POSITIONS[position], 1 if text is None else hash_text(text)) for position, text in rest[0]]
        if rest[1] is not None:
            parts.append(("length", rest[1]))
        h = sum(mix(combine(combine(0, name_hash(part)), value)) for part, value in parts) & EVERY_BIT
    elif group == "rule_bigram":
        before = 0 if rest[0] is None else rule_hash(rest[0])
        h = combine(combine(0, before), rule_hash(rest[1]))
    elif group == "rule_reordering":
        h = combine(combine(0, rule_hash(rest[0])), name_hash(jump(*rest[1:])))
    elif group == "class_reordering":
        before = 0 if rest[0] is None else sequence_hash(rest[0])
        h = combine(combine(combine(0, before), sequence_hash(rest[1])), int(rest[2]))
    else:
        h = combine(0, rule_hash(rest[0]))
        for text in rest[1:]:
            h = combine(h, hash_text(text))
    return mix(combine(h, name_hash(group))) | 1


def text_of(name):
    """What the feature is called."""
    group, rest = name[0], name[1:]
    if group in PHRASE_GROUPS:
        text = phrase_text(name)
    elif group in EDGES:
        parts = [f"{POSITIONS[position]}.{text}" for position, text in rest[0]]
        text = ",".join(parts if rest[1] is None else [*parts, f"length={rest[1]}"])
    elif group == "rule_bigram":
        text = f"{'<s>' if rest[0] is None else rule_text(rest[0])}+{rule_text(rest[1])}"
    elif group == "rule_reordering":
        text = f"{rule_text(rest[0])},{jump(*rest[1:])}"
    elif group == "class_reordering":
        before, here = ("<s>" if side is None else "_".join(x.partition("=")[2] for x in side) for side in rest[:2])
        text = f"{before}+{here},{'monotone' if rest[2] else 'non_monotone'}"
    elif group == "rule_history":
        text = f"{rule_text(rest[0])},{rest[2]}_{rest[1].partition('=')[2]}"
    else:
        text = rule_text(rest[0])
    return f"{group}_{text}"


def class_of(levels, maps, word, tag):
    """What stands for a source word at the first level of tags, or else of classes."""
    kinds = [level.kind for level in levels]
    return stand_ins(levels, maps, word, tag)[kinds.index("tags" if "tags" in kinds else "classes")]


def jump(neighbour, is_monotone):
    return f"{'monotone' if is_monotone else 'non_monotone'}_with_{neighbour}"


def sequence_hash(texts):
    h = 0
    for text in texts:
        h = combine(h, hash_text(text))
    return mix(h)


def rule_text(rule):
    return "~".join("_".join(side) for side in rule)


def rule_hash(rule):
    h = 0
    for word in rule[0]:
        h = combine(h, hash_text(f"word={word}"))
    h = combine(h, -2)
    for word in rule[1]:
        h = combine(h, hash_text(f"word={word}"))
    return mix(h)
