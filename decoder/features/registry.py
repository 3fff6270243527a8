"""Declarations of all dense features, in the order of the feature vector.

Features of phrase pairs are declared beside their kernel in pair.py. Features that depend on the preceding phrases have
files of their own, which stateful.py lists. The scales of the groups of sparse features are declared with the groups,
in phrasebeam.decoder.sparse.templates.
"""

from phrasebeam.decoder.features.dense_feature import DenseFeature
from phrasebeam.decoder.features.distortion import DISTORTION, EARLY_DISTORTION
from phrasebeam.decoder.features.pair import PAIR_FEATURES
from phrasebeam.decoder.features.stateful import OPERATIONS, REORDERING, STATEFUL
from phrasebeam.decoder.sparse.templates import SPARSE_GROUPS

_STATEFUL = {feature.name: feature.declared for feature in STATEFUL if feature.declared}

LISTS = (
    DenseFeature(
        "translation",
        "log scores of the phrase table; train-model writes p(f|e), lex(f|e), p(e|f), lex(e|f)",
        "list",
        (0.2,) * 4,
    ),
    _STATEFUL.pop(REORDERING.name),
    DenseFeature("language_model", "log probability by each language model", "list or number", (0.5,)),
)
SCALARS = (
    _STATEFUL.pop(DISTORTION.name),
    DenseFeature("word_penalty", "minus the number of target words", weight=-1.0),
    DenseFeature("phrase_penalty", "number of phrases", weight=0.2),
    DenseFeature("unknown_word_penalty", "-100 for each unknown source word that is copied", weight=1.0),
)
LENGTH_GROUPS = DenseFeature(
    "length_groups",
    "log scores of the phrase table, with separate weights for each range of phrase lengths (Tan et al. 2013)",
    "list",
)
RELATED_WORDS = DenseFeature(
    "related_words",
    "number of known words that are translated instead of unknown ones: other inflected forms, parts of compounds",
)
SPELLED_WORDS = DenseFeature(
    "spelled_words",
    "number of unknown words whose letters are translated, by the model of letters that the model has",
)
SPELLING = DenseFeature(
    "spelling", "log probability of such a translation, or of the copy of an unknown word, by the model of letters"
)
OF_LETTERS = (SPELLED_WORDS, SPELLING)  # need a model of letters
OF_UNKNOWN_WORDS = (RELATED_WORDS, SPELLED_WORDS)  # with each of these, unknown words have more translations
INPUT_SCORE = DenseFeature(
    "input_score",
    "sum of the log probabilities of the chosen arcs of a lattice or confusion network; 0 for text",
    "list or number",
)
SCALES = tuple(
    DenseFeature(
        group.name, f"sum of weights times values: {group.description}", rate=group.rate, rate_name=group.rate_name
    )
    for group in SPARSE_GROUPS
)
_UNSCALED = (
    _STATEFUL.pop(EARLY_DISTORTION.name),
    *PAIR_FEATURES,
    LENGTH_GROUPS,
    RELATED_WORDS,
    SPELLED_WORDS,
    SPELLING,
    _STATEFUL.pop(OPERATIONS.name),
    INPUT_SCORE,
    *_STATEFUL.values(),
)
OPTIONAL = (*_UNSCALED, *SCALES)  # only in models that give them weights
FEATURES = (*LISTS, *SCALARS, *OPTIONAL)
SINGLE = tuple(one for one in (*LISTS, *SCALARS, *_UNSCALED) if one not in PAIR_FEATURES)  # each has a field of weights
# `tune` adds these, and LENGTH_GROUPS up to a length in its settings
ADDED_BY_TUNE = (*PAIR_FEATURES, *(one for one in _UNSCALED if one.kind == "number" and one not in PAIR_FEATURES))
