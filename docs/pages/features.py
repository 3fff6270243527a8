"""The page of all features, from what is declared of them in the code."""

from docs.pages.markdown_table import markdown_table
from phrasebeam.decoder.explanation.feature_titles import OF_PHRASES, reordering_titles
from phrasebeam.decoder.features.dense_feature import DenseFeature
from phrasebeam.decoder.features.registry import ADDED_BY_TUNE, FEATURES, LENGTH_GROUPS, SCALES
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.sparse.sparse_files import FORMAT
from phrasebeam.decoder.sparse.templates import SPARSE_GROUPS

HEAD = """# Features

`docs/pages/features.py` generates this page from the declarations in `decoder/features/` and `decoder/sparse/`.

The score of a derivation is the sum of its feature values times their weights. Values are natural logarithms or counts,
and higher scores are better. The names below are used in `weights.yaml`, in the settings `fixed`, `add`, `online.rates`
and `online.strengths` of `tune`, and in the settings `fixed` and `rates` of `train-maxforce` and `train-ranking`. The
column "Rate" has the default learning rate of `train-maxforce`.

## Features of every model

{always}

Reports, the server's page and the field `title` in answers of `/v1/explain` have a readable name for each value: for
`reordering` the direction and orientation, such as {of_reordering}; for `translation`, in this order,
{of_phrases}.

## Features of models that give them a weight

`tune` can add the features marked "yes" to a model, with weight 0, if `add` in its settings says so.

{optional}

## Groups of sparse features

There can be millions of sparse features, each with its own weight. `train-maxforce` writes a `templates.yaml`, which
says which groups of sparse features a model has: by the name of a group, or by the section `word_edges`. Its line
`format: {format}` gives the version of the keys of their weights. In each group, the sum of weights times values is one
dense feature; its weight in `weights.yaml` is called the scale of the group.

A trainer with the setting `templates` learns the groups of these templates and the groups that the model has. It starts
with the weights of the model (except with `start: zero` of `train-ranking`). A group that is in both must have the same
`levels`. If the levels of the default templates differ from those of the model, only the model's own groups are
learned.

{groups}

## Levels of words

Word edges are the first and last words of the phrases of a pair, and the neighbours of the source phrase. Features of
word edges and rule histories represent words at several `levels`, which `templates.yaml` lists. Each level has a cost.
A combination of words may cost at most the `budget` of `word_edges`, and may have at most `most_words` words. These are
the levels of Yu et al. (2013, Table 1):

    word_edges: {{budget: 10, most_words: 3}}
    levels:
    - {{kind: word, budget: 5}}
    - {{kind: characters, budget: 3, prefix: 1, source_only: true}}
    - {{kind: characters, budget: 3, suffix: 1, source_only: true}}
    - {{kind: classes, budget: 3, source: source.paths, target: target.paths}}
    - {{kind: classes, budget: 2, prefix: 6, source: source.paths, target: target.paths}}
    - {{kind: classes, budget: 2, prefix: 4, source: source.paths, target: target.paths}}
    - {{kind: tags, budget: 2, target: target.tags}}
    - {{kind: type, budget: 1, source_only: true}}

`prefix` uses the first characters of a word, class or tag, and `suffix` the last characters of a word. Levels with
`source_only` are not used for edges of the target phrase and for rule histories. Files of classes (`phrasebeam cluster`
makes some) have lines `class word count` or `word class`; a file with the most frequent tag of each target word gives
target words tags, too. Each phrase pair has all combinations within the budget: 13,526 for these levels, and 1,542 with
at most two words. The training time grows with their number.

`inserted_words`, `deleted_words`, `word_pairs` and `phrase_lengths` are features of Moses. Word lists in
`templates.yaml` say which words have features of their own; all other words are replaced by `OTHER`:

    word_lists: {{inserted: [the, of], deleted: [der], pair_source: [der, die], pair_target: [the]}}

## Tags of source tokens

A level of kind `tags` in `templates.yaml` represents a source token by its tag, such as its part of speech (Green et
al. 2013). Two occurrences of a word may have different tags:

    levels:
    - {{kind: word, budget: 5}}
    - {{kind: tags, budget: 2, content: [N, ADJ, V, ADV]}}

`class_reordering` and `source_deletion` then use tags instead of classes. Content words are words whose tags begin with
one of the strings in `content`. Without `content`, as in models without tags, content words are all words except
frequent words, punctuation and numbers. Target words get tags only from a file, as above; without it, `rule_history`
and edges of the target phrase have no features at this level.

For a model with such a level, all source text must have tokens `word|TAG`, in training and in translation, also within
markup. A token is split at its last `|`. Only `train-model` reads words without tags. In Python use `Input(words,
tags=...)`. The following command combines files `text` and `tags`, which have equal numbers of words and tags in each
line:

    paste text tags | awk '{{for (i = 1; i <= NF/2; i++) printf "%s|%s ", $i, $(i + NF/2); print ""}}'
"""


def page() -> str:
    """The whole text."""
    always = [one for one in FEATURES if one.weight is not None]
    optional = [one for one in FEATURES if one.weight is None and one not in SCALES]
    added = {one.name for one in (*ADDED_BY_TUNE, LENGTH_GROUPS)}
    rate_names = [(one, one.rate_name or one.name) for one in SPARSE_GROUPS]
    reordering = reordering_titles(Reordering(), Reordering().n_weights)
    return HEAD.format(
        format=FORMAT,
        of_phrases=", ".join(f"`{title}`" for title in OF_PHRASES),
        of_reordering=f"`{reordering[0]}`",
        always=markdown_table(
            ("Name", "Default weight", "Rate", "Value"),
            ((f"`{one.name}`", _weight(one), f"{one.rate:g}", one.description) for one in always),
        ),
        optional=markdown_table(
            ("Name", "Weights", "Added by tune", "Rate", "Value"),
            (
                (f"`{one.name}`", one.kind, "yes" if one.name in added else "no", f"{one.rate:g}", one.description)
                for one in optional
            ),
        ),
        groups=markdown_table(
            ("Name", "In templates.yaml", "Rate", "One feature for each"),
            (
                (f"`{one.name}`", _setting(one.name, one.is_switch, name), f"{one.rate:g} (`{name}`)", one.description)
                for one, name in rate_names
            ),
        ),
    )


def _weight(feature: DenseFeature) -> str:
    if isinstance(feature.weight, tuple):
        return f"{feature.weight[0]:g} each, {len(feature.weight)} in a default model"
    return f"{feature.weight:g}"


def _setting(name: str, is_switch: bool, rate_name: str) -> str:
    if is_switch:
        return f"`{name}: true`"
    return f"`{rate_name}`" if rate_name != name else "no; they come with the phrase table"
