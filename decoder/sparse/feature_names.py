"""Names of sparse features, made from the words of a phrase in its context; their keys are hashes and cannot be read.

Rule id: the words of both sides. Rule bigram, rule history: Yu et al. (2013, section 4.3).

Bigrams and shape correspond to the rule n-grams and rule shapes of Simianer, Riezler & Dyer (2012), for phrase pairs
instead of rules; aligned words and deleted content words are those of Green et al. (2013, section 3.2). A copied word
is aligned with its copy, a term as its markup says, usually not at all. For content words and frequent words see
Levels.

Inserted, deleted and translated words and lengths are Moses' TargetWordInsertionFeature, SourceWordDeletionFeature,
WordTranslationFeature and PhraseLengthFeature (Hasler, Haddow & Koehn 2011). An unaligned pair of two words has no
inserted or deleted word. With a word list, words that it lacks are OTHER.

A phrase is monotone to the previous one if its source words follow those of that phrase, and non-monotone otherwise;
this is also so in models with hierarchical lexicalized reordering. The first phrase is monotone if it begins the
sentence. The last phrase has no next phrase, and no feature with it, as in lexicalized reordering. Rule reordering is
the "discriminative re-ordering" of Green et al. (2013). Class reordering is their "POS-based re-ordering", with the
tags of the source tokens, or their classes: see Levels.class_column. There, "with-next" of a phrase and "with-previous"
of the following phrase are conjunctions of the same two sequences, so we count them once. We also add the orientation,
which the sequences alone do not determine: the paper's feature is the sum of two of ours.

Of each side only the first LONGEST_PHRASE words count; no phrase of a table has more.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from phrasebeam.decoder.sparse.levels import ABSENT, LENGTH, POSITIONS, Levels
from phrasebeam.decoder.tables.phrase_table import LONGEST_PHRASE
from phrasebeam.lm.text.vocabulary import BEGIN, END

Points = Sequence[Sequence[int]]  # (source, target) positions inside a phrase pair

LONGEST_SHAPE = 7  # in rule_shape, longer sides get this length
ALL_CLASSES = "all"  # the aggregate feature of source_deletion
OTHER = "OTHER"  # replaces words that a list lacks
MOST_POINTS = 2 * LONGEST_PHRASE  # alignment points of a phrase pair that count in word_pairs
EMPTY_PHRASE = "-"  # the edge word of an empty target phrase


class RuleInContext(NamedTuple):
    """A phrase of a derivation, as text, with the context on which its sparse features depend."""

    levels: Levels
    combinations: Sequence[Sequence[Sequence[int]]]  # rows of Sparse.combinations, by kind of word edges
    source: Sequence[str]  # the words of the sentence
    tags: Sequence[str]  # their tags; UNCLASSED in models without tags
    begin: int  # source words, half open
    end: int
    target: Sequence[str]
    pair_names: Sequence[str]  # names of its features in the phrase table
    points: Points
    before: str  # the name of the previous rule, or BEGIN
    previous_begin: int  # source words of the previous rule, half open; 0:0 at the start
    previous_end: int
    is_monotone: bool  # whether the rule is monotone to the previous one
    last: str  # the previous target word, or BEGIN
    second_last: str  # the target word before `last`, or BEGIN

    def source_names(self, position: int) -> list[str]:
        """The source word at `position`, from -1 to n for <s>, the words and </s>, and its class at each level."""
        if 0 <= position < len(self.source):
            return self.levels.names("source", self.source[position], self.tags[position])
        boundary = BEGIN if position < 0 else END
        return self.levels.names("source", boundary, boundary)

    @property
    def rule(self) -> str:
        """The name of the rule: the words of both sides."""
        return f"{'_'.join(self.source[self.begin : self.end])}~{'_'.join(self.target)}"


def history_names(context: RuleInContext) -> Iterator[str]:
    """The rule with the last two target words before it, at each level of target words."""
    last, second_last = (context.levels.names("target", word) for word in (context.last, context.second_last))
    for column in context.levels.target_columns:
        yield f"{context.rule},{context.levels.labels[column]}={second_last[column]}_{last[column]}"


def bigram_names(side: str, context: RuleInContext) -> Iterator[str]:
    """Neighbouring words of one side, "source" or "target"."""
    words = context.source[context.begin : context.end] if side == "source" else context.target
    for first, second in pairwise(words[:LONGEST_PHRASE]):
        yield f"{first}_{second}"


def shape_names(context: RuleInContext) -> Iterator[str]:
    """Lengths of both sides, runs of aligned words, and whether alignment points cross."""
    sizes = [min(size, LONGEST_PHRASE) for size in (context.end - context.begin, len(context.target))]
    lengths = "x".join(str(min(size, LONGEST_SHAPE)) for size in sizes)
    yield f"{lengths}_{shape_of(context.points, *sizes)}"


def alignment_names(context: RuleInContext) -> Iterator[str]:
    """The words of each clique, a set of aligned words without links to other words."""
    for source, target in cliques_of(context.points):
        words = [context.source[context.begin + i] for i in source], [context.target[j] for j in target]
        yield "~".join("_".join(sorted(side)) for side in words)


def deletion_names(context: RuleInContext) -> Iterator[str]:
    """Content words aligned with no words or only frequent words: one feature for all, others by tag or class."""
    levels, begin = context.levels, context.begin
    for position in range(begin, min(context.end, begin + LONGEST_PHRASE)):
        partners = [context.target[j] for i, j in context.points if begin + i == position]
        is_content = levels.is_content(context.source[position], context.tags[position])
        if is_content and levels.frequent.target.issuperset(partners):
            yield ALL_CLASSES
            if column := levels.class_column:
                yield f"{levels.labels[column]}={context.source_names(position)[column]}"


def cliques_of(points: Points) -> Iterator[tuple[list[int], list[int]]]:
    """Source and target positions of the cliques, the connected parts of the alignment, by first source position."""
    cliques: list[tuple[set[int], set[int]]] = []
    for i, j in points:
        joined, others = ({i}, {j}), []
        for clique in cliques:
            if i in clique[0] or j in clique[1]:
                joined = joined[0] | clique[0], joined[1] | clique[1]
            else:
                others.append(clique)
        cliques = [*others, joined]
    for source, target in sorted(cliques, key=lambda clique: min(clique[0])):
        yield sorted(source), sorted(target)


def shape_of(points: Points, n_source: int, n_target: int) -> str:
    """The shape of an alignment for a name: runs of aligned (A) and unaligned (U) words of both sides, and crossing."""
    runs = [
        "".join("A" if is_aligned else "U" for is_aligned, _ in groupby(i in aligned for i in range(size))) or "-"
        for size, aligned in ((n_source, {i for i, _ in points}), (n_target, {j for _, j in points}))
    ]
    crosses = any(i < other_i and j > other_j for i, j in points for other_i, other_j in points)
    return "_".join([*runs, "crossing" if crosses else "monotone"])


def _named(word: str, words: frozenset[str] | None) -> str:
    return word if words is None or word in words else OTHER


def inserted_names(context: RuleInContext) -> Iterator[str]:
    """Unaligned target words."""
    n_source, words = context.end - context.begin, context.target[:LONGEST_PHRASE]
    aligned = {j for _, j in context.points}
    for j, word in enumerate(words):
        if j not in aligned and (aligned or n_source > 1 or len(words) > 1):
            yield _named(word, context.levels.listed["inserted"])


def deleted_names(context: RuleInContext) -> Iterator[str]:
    """Unaligned source words."""
    words = context.source[context.begin : context.end][:LONGEST_PHRASE]
    aligned = {i for i, _ in context.points}
    for i, word in enumerate(words):
        if i not in aligned and (aligned or len(words) > 1 or len(context.target) != 1):
            yield _named(word, context.levels.listed["deleted"])


def word_pair_names(context: RuleInContext) -> Iterator[str]:
    """Pairs of aligned words."""
    listed = context.levels.listed
    for i, j in context.points[:MOST_POINTS]:
        source, target = context.source[context.begin + i], context.target[j]
        yield f"{_named(source, listed['pair_source'])}~{_named(target, listed['pair_target'])}"


def length_names(context: RuleInContext) -> Iterator[str]:
    """Names of three features: length of the source phrase, length of the target phrase, and both lengths together."""
    n_source, n_target = (min(n, LONGEST_PHRASE) for n in (context.end - context.begin, len(context.target)))
    yield from (f"s{n_source}", f"t{n_target}", f"{n_source},{n_target}")


def _orientation(context: RuleInContext) -> str:
    return "monotone" if context.is_monotone else "non_monotone"


def jump_names(context: RuleInContext) -> Iterator[str]:
    """The previous rule with its orientation to this one, and this rule with its orientation to the previous one."""
    if context.before != BEGIN:
        yield f"{context.before},{_orientation(context)}_with_next"
    yield f"{context.rule},{_orientation(context)}_with_previous"


def class_jump_names(context: RuleInContext) -> Iterator[str]:
    """Classes of the source words of this phrase and of the previous one, and the orientation."""
    column = context.levels.class_column
    previous, current = (
        "_".join(context.source_names(position)[column] for position in range(begin, end))
        for begin, end in ((context.previous_begin, context.previous_end), (context.begin, context.end))
    )
    yield f"{previous or BEGIN}+{current},{_orientation(context)}"


def edge_names(kind: int, context: RuleInContext) -> Iterator[str]:
    """The names of the combinations of one kind."""
    if not context.combinations[kind]:
        return
    labels, begin, end = context.levels.labels, context.begin, context.end
    target = [context.levels.names("target", word) for word in (*context.target[:1], *context.target[-1:])]
    at = [
        *(context.source_names(position) for position in (begin, end - 1)),
        *(target or [[EMPTY_PHRASE] * len(labels)] * 2),
        *(context.source_names(position) for position in (begin - 1, end)),
    ]
    parts = [
        [f"{position}.{label}={name}" for label, name in zip(labels, names)] for position, names in zip(POSITIONS, at)
    ]
    length = f"length={end - begin}"
    for row in context.combinations[kind]:
        words = [of_position[column] for of_position, column in zip(parts, row) if column != ABSENT]
        yield ",".join(words + [length] * row[int(LENGTH)])
