"""The sections of a moses.ini (moses/Parameter.cpp), and whether the import uses, ignores or refuses them."""

from collections.abc import Callable
from typing import NamedTuple


class Value(NamedTuple):
    """One line of a section."""

    text: str
    line: int  # from 1


Sections = dict[str, list[Value]]
Setting = float | str  # value of a limit of the search

USED, LEFT_OUT = True, False
ALGORITHMS = {"0": "stack", "1": "cube"}


def _algorithm(number: str) -> str:
    if number not in ALGORITHMS:
        raise ValueError("expected 0 (stack decoding) or 1 (cube pruning)")
    return ALGORITHMS[number]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("expected a number") from None


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("expected a whole number") from None


def _pop_limit(text: str) -> int:
    if _whole(text) < 1:
        raise ValueError("expected 1 or more; with less Moses tries nothing")
    return int(text)


Entry = tuple[str, Callable[[str], Setting]] | bool  # the decoder's name and its conversion; or USED, LEFT_OUT
SWITCHES = {"early-distortion-cost"}  # switched on by a header without a line
SECTIONS: dict[str, Entry] = {
    "search-algorithm": ("algorithm", _algorithm),
    "cube-pruning-pop-limit": ("pop_limit", _pop_limit),
    "stack": ("stack", _whole),
    "beam-threshold": ("beam_threshold", _number),
    "distortion-limit": ("distortion_limit", _whole),
    "max-phrase-length": ("max_phrase_length", _whole),
    **dict.fromkeys(
        ("ttable-limit", "feature", "weight", "weight-file", "mapping", "input-factors", "output-factors"), USED
    ),
    **dict.fromkeys(SWITCHES, USED),
    # Search methods of Moses that the decoder lacks, how Moses runs, and what it prints.
    **dict.fromkeys(("cube-pruning-diversity", "stack-diversity"), LEFT_OUT),
    **dict.fromkeys(("cube-pruning-lazy-scoring", "cube-pruning-deterministic-search", "n-best-factor"), LEFT_OUT),
    **dict.fromkeys(("max-trans-opt-per-coverage", "max-partial-trans-opt", "lazy-ngram"), LEFT_OUT),
    **dict.fromkeys(("translation-option-threshold", "early-discarding-threshold", "time-out"), LEFT_OUT),
    **dict.fromkeys(("threads", "verbose", "cache-path", "persistent-cache-size", "use-persistent-cache"), LEFT_OUT),
    **dict.fromkeys(("clean-lm-cache", "minphr-memory", "minlexr-memory", "description", "config"), LEFT_OUT),
    **dict.fromkeys(("n-best-list", "lattice-samples", "print-all-derivations", "show-weights"), LEFT_OUT),
    **dict.fromkeys(("input-file", "start-translation-id", "text-type", "references"), LEFT_OUT),
    **dict.fromkeys(("report-all-factors", "report-all-factors-in-n-best", "report-segmentation"), LEFT_OUT),
    **dict.fromkeys(("report-segmentation-enriched", "report-sparse-features", "labeled-n-best-list"), LEFT_OUT),
    **dict.fromkeys(("include-segmentation-in-n-best", "print-alignment-info-in-n-best"), LEFT_OUT),
    **dict.fromkeys(("print-alignment-info", "print-id", "print-passthrough", "print-passthrough-in-n-best"), LEFT_OUT),
    **dict.fromkeys(("alignment-output-file", "sort-word-alignment", "output-hypo-score"), LEFT_OUT),
    **dict.fromkeys(("output-word-graph", "output-search-graph", "output-search-graph-extended"), LEFT_OUT),
    **dict.fromkeys(("output-search-graph-slf", "output-search-graph-hypergraph", "output-unknowns"), LEFT_OUT),
    **dict.fromkeys(("unpruned-search-graph", "translation-details", "translation-all-details"), LEFT_OUT),
    **dict.fromkeys(("mbr-size", "mbr-scale", "lmbr-thetas", "lmbr-pruning-factor", "lmbr-p", "lmbr-r"), LEFT_OUT),
    **dict.fromkeys(("lmbr-map-weight", "mark-unknown", "unknown-word-prefix", "unknown-word-suffix"), LEFT_OUT),
    **dict.fromkeys(("xml-input", "xml-brackets", "placeholder-factor", "no-cache"), LEFT_OUT),
    **dict.fromkeys(("server", "server-port", "server-log", "serial", "version", "segment-time-out"), LEFT_OUT),
    **dict.fromkeys(("daemon", "server-maxconn", "server-maxconn-backlog", "server-timeout"), LEFT_OUT),
    **dict.fromkeys(("server-keepalive-maxconn", "server-keepalive-timeout"), LEFT_OUT),
    **dict.fromkeys(("session-timeout", "session-cache-size", "n-best-list-file", "n-best-list-size"), LEFT_OUT),
    **dict.fromkeys(("output-search-graph-pb", "factor-delimiter", "disable-discarding", "lmodel-dub"), LEFT_OUT),
    **dict.fromkeys(("minimum-bayes-risk", "mbr", "drop-unknown", "inputtype", "recover-input-path"), LEFT_OUT),
    **dict.fromkeys(("n-best-trees", "tree-translation-details", "include-lhs-in-search-graph"), LEFT_OUT),
}
INSTEAD = {  # alternatives to sections that are left out
    "minimum-bayes-risk": "translate --mbr",
    "mbr": "translate --mbr",
    "mbr-size": "translate --mbr-size",
    "mbr-scale": "translate --mbr-scale",
    "xml-input": "translate --markup",
    "drop-unknown": "translate --oov drop",
    "mark-unknown": "translate --oov mark",
    "inputtype": "translate --input-format confusion or plf",
    "threads": "translate --threads",
    "n-best-list": "translate --nbest N --nbest-output FILE",
    "report-segmentation": "translate --segmentation",
    "print-alignment-info": "translate --alignment",
    "alignment-output-file": "translate --alignment",
    "output-search-graph": "translate --lattice-output",
}

SPARSE = "the decoder has no such feature; remove it, and tune again"
SEARCH = "the decoder cannot search so; remove it"
OVER_LATTICES = "the decoder minimizes risk only over n-best lists; remove it, and give --mbr to translate"
INPUT = "arcs have one score per weight of InputFeature, and the number of words is not a score; remove it"
LINE = "write the feature of this name into [feature], and its weights into [weight]"
OLD = "a section from before 2013; convert the file by Moses' scripts/training/convert-moses-ini-to-v2.perl"
CHART = "no chart decoding here"
REFUSED_SECTIONS = {  # these change the score or the choice of a translation
    **dict.fromkeys(("ttable-file", "lmodel-file", "distortion-file", "weight-t", "weight-l", "weight-d"), OLD),
    **dict.fromkeys(("weight-lr", "weight-w", "weight-u", "weight-p", "weight-i"), OLD),
    **dict.fromkeys(("weight-overwrite", "weight-add"), "write these weights into [weight]"),
    **dict.fromkeys(("feature-overwrite", "feature-add", "feature-name-overwrite"), "write it into [feature]"),
    "generation-file": "the decoder has no generation step; train the model without factors",
    "weight-generation": "the decoder has no generation step; train the model without factors",
    "decoding-graph-backoff": "all paths are tried for every phrase; remove it",
    "translation-systems": "the decoder has one system; remove it",
    "alternate-weight-setting": "the decoder has one set of weights; remove it",
    **dict.fromkeys(("input-scores", "link-param-count"), INPUT),
    **dict.fromkeys(("monotone-at-punctuation", "phrase-drop-allowed", "lattice-hypo-set", "mira"), SEARCH),
    **dict.fromkeys(("context-string", "context-weights", "context-window", "spe-src", "spe-trg", "spe-aln"), SEARCH),
    **dict.fromkeys(("constraint", "always-create-direct-transopt", "continue-partial-translation"), SEARCH),
    "lmodel-oov-feature": "the decoder has no such feature; remove it and its weight, and tune again",
    **dict.fromkeys(("lminimum-bayes-risk", "consensus-decoding", "lmbr"), OVER_LATTICES),
    **dict.fromkeys(("max-chart-span", "non-terminals", "rule-limit", "unknown-lhs", "source-label-overlap"), CHART),
    **dict.fromkeys(("s2t-parsing-algorithm", "default-non-term-for-empty-range-only"), CHART),
    **dict.fromkeys(("source-word-deletion-feature", "target-word-insertion-feature"), LINE),
    **dict.fromkeys(("word-translation-feature", "phrase-length-feature"), LINE),
    **dict.fromkeys(("phrase-boundary-source-feature", "phrase-boundary-target-feature"), SPARSE),
    **dict.fromkeys(("phrase-pair-feature", "slmodel-file", "slmodel-factor", "slmodel-beam"), SPARSE),
    **dict.fromkeys(("weight-lex", "weight-glm", "weight-wt", "weight-pp", "weight-pb", "weight-dlm"), SPARSE),
    **dict.fromkeys(("weight-e", "weight-bl", "weight-slm", "dlm-model", "global-lexical-file"), SPARSE),
}
