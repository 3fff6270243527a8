"""Declarations of all dense features, in the order of the feature vector.

Features of phrase pairs are declared beside their kernel in pair.py, and the scales of groups of sparse features with
the groups, in phrasebeam.decoder.sparse.templates.
"""

from phrasebeam.decoder.features.dense_feature import DenseFeature
from phrasebeam.decoder.features.pair import PAIR_FEATURES
from phrasebeam.decoder.sparse.templates import SPARSE_GROUPS

LISTS = (
    DenseFeature(
        "translation",
        "ln scores of the phrase table; of train-model: p(f|e), lex(f|e), p(e|f), lex(e|f)",
        "list",
        (0.2,) * 4,
    ),
    DenseFeature("reordering", "ln probabilities of lexicalized reordering, by orientation", "list", (0.3,) * 6),
    DenseFeature("language_model", "ln probability by each language model", "list or number", (0.5,)),
)
SCALARS = (
    DenseFeature(
        "distortion",
        "minus the source words between the end of a phrase and the beginning of the next",
        weight=0.3,
    ),
    DenseFeature("word_penalty", "minus the number of target words", weight=-1.0),
    DenseFeature("phrase_penalty", "number of phrases", weight=0.2),
    DenseFeature("unknown_word_penalty", "-100 for each source word that is copied, as it is unknown", weight=1.0),
)
EARLY_DISTORTION = DenseFeature(
    "early_distortion", "distortion that is certain, counted as soon as a phrase leaves a gap (Moore & Quirk 2007)"
)
LENGTH_GROUPS = DenseFeature(
    "length_groups", "ln scores of the phrase table, once for each range of phrase lengths (Tan et al. 2013)", "list"
)
RELATED_WORDS = DenseFeature(
    "related_words",
    "number of known words that are translated in place of unknown ones: other inflections, parts of compounds",
)
OPERATIONS = DenseFeature(
    "operations",
    "ln probability of the operations that generate both sides; minus the gaps opened, minus the jumps back "
    "(Durrani et al. 2011)",
    "list",
)
INPUT_SCORE = DenseFeature(
    "input_score",
    "ln probabilities of the arcs of a lattice or confusion network that were chosen, summed; 0 for text",
    "list or number",
)
SCALES = tuple(
    DenseFeature(
        group.name, f"sum of weights times values: {group.description}", rate=group.rate, rate_name=group.rate_name
    )
    for group in SPARSE_GROUPS
)
OPTIONAL = (
    EARLY_DISTORTION,
    *PAIR_FEATURES,
    LENGTH_GROUPS,
    RELATED_WORDS,
    OPERATIONS,
    INPUT_SCORE,
    *SCALES,
)  # only in models that give them weights
FEATURES = (*LISTS, *SCALARS, *OPTIONAL)
ADDED_BY_TUNE = (*PAIR_FEATURES, EARLY_DISTORTION, RELATED_WORDS)  # and LENGTH_GROUPS, up to a length in its settings
