"""The page of all features, from what is declared of them in the code."""

from docs.pages.markdown_table import markdown_table
from phrasebeam.decoder.explanation.feature_titles import OF_PHRASES, reordering_titles
from phrasebeam.decoder.features.dense_feature import DenseFeature
from phrasebeam.decoder.features.registry import ADDED_BY_TUNE, FEATURES, LENGTH_GROUPS, SCALES
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.sparse.sparse_files import FORMAT
from phrasebeam.decoder.sparse.templates import SPARSE_GROUPS

HEAD = """# Features

This page is written by `docs/pages/features.py` from the declarations in `decoder/features/` and `decoder/sparse/`.

The score of a derivation is the sum of its features, each times its weight; values are natural logarithms or counts,
and higher scores are better. Names are those of `weights.yaml`, of the settings `fixed` and `add` of `tune`, its
`online.rates` and `online.strengths`, and of the settings `fixed` and `rates` of `train-maxforce` and `train-ranking`.
A rate is the default learning rate of `train-maxforce`.

## Features of every model

{always}

Reports, the page of a server and `title` in answers of `/v1/explain` name each value for people: those of `reordering`
by direction and orientation, such as {of_reordering}, those of `translation`, in their order,
{of_phrases}.

## Features of models that give them a weight

`tune` adds the marked ones to a model that lacks them, with weight 0, where `add` in its settings says so.

{optional}

## Groups of sparse features

A sparse feature is one of any number, each with a weight of its own. The `templates.yaml` of a model, which
`train-maxforce` writes, says which groups of them there are: by the name of the group, or by the section `word_edges`.
Its line `format: {format}` says what the keys of their weights are made of. Each group's sum of
weights times values is one dense feature, and its weight in `weights.yaml` is the scale of the group.

A training with `templates` learns their groups and those that the model has; what the model has learned is what it
begins with (but for `start: zero` of `train-ranking`). Groups of both have to be computed alike, at the same `levels`;
where those of the default templates are not, the model's own are learned alone.

{groups}

## Levels of words

Word edges and rule histories are made of words at the `levels` of `templates.yaml`; each combination of words costs at
most the `budget` of `word_edges`, and has at most `most_words` of them. The levels of Yu et al. (2013, Table 1):

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

`prefix` takes the first characters of a word, class or tag, `suffix` the last ones of a word. Levels that are
`source_only` class no target words: no edges of the target phrase and no rule histories are at these levels. Maps of
classes (`phrasebeam cluster` makes some) have lines `class word count` or `word class`; one with the most frequent tag
of each target word lets target words have tags, too. Each phrase pair has all combinations within the budget: 13,526
here, 1,542 of at most two words; the time of training grows with them.

`inserted_words`, `deleted_words`, `word_pairs` and `phrase_lengths` are those of Moses. Word lists in `templates.yaml`
say which words have features of their own; all others are `OTHER`:

    word_lists: {{inserted: [the, of], deleted: [der], pair_source: [der, die], pair_target: [the]}}

## Tags of source tokens

A level of kind `tags` in `templates.yaml` takes the tag of each source token, such as its part of speech (Green et al.
2013), which may differ from one token of a word to the next:

    levels:
    - {{kind: word, budget: 5}}
    - {{kind: tags, budget: 2, content: [N, ADJ, V, ADV]}}

`class_reordering` and `source_deletion` are then of tags instead of classes. Content words are those whose tags begin
with one of `content`; without that, those that are not frequent, nor marks or numbers, as in models without tags.
Target words have tags only by a map, as above; without it neither `rule_history` nor edges of the target phrase have
any at this level.

All source text that a model with such a level reads, in training and to translate, has tokens `word|TAG`, split at the
last `|`, also within markup; only `train-model` reads words alone. In Python it is `Input(words, tags=...)`. Files
`text` and `tags` with as many words as tags in each line become one by

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
