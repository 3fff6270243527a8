"""Switches of Moses' decoder and the options that replace them, for users who type Moses' switches."""

from collections.abc import Iterable

_MODEL = "`phrasebeam import-moses moses.ini --output DIR`, then --model DIR"
_LIST = "--nbest N --nbest-output FILE"
_NOTHING = "nothing"

# By name without dashes; the page docs/moses.md has the same switches.
SWITCHES = {
    "f": _MODEL,
    "config": "--config for settings; for a moses.ini " + _MODEL,
    "i": "--input",
    "input-file": "--input",
    "th": "--threads",
    "search-algorithm": "--algorithm stack or cube",
    "s": "--stack",
    "b": "--beam-threshold",
    "cube-pruning-pop-limit": "--pop-limit",
    "cbp": "--pop-limit",
    "dl": "--distortion-limit",
    "ttable-limit": "--table-limit",
    "max-phrase-length": "`search: {max_phrase_length: N}` in the file of --config",
    "early-distortion-cost": "the feature early_distortion, which `tune` adds by `add: {early_distortion: true}`",
    "weight": "weights.yaml of the model",
    "weight-file": "weights.yaml of the model",
    "weight-overwrite": "`weights` in the file of --config",
    "inputtype": "--input-format text, confusion or plf",
    "n-best-list": _LIST,
    "n-best-list-file": _LIST,
    "n-best-list-size": _LIST,
    "n-best-factor": f"{_NOTHING}: n-best lists are exact",
    "include-segmentation-in-n-best": "--segmentation",
    "report-segmentation": "--segmentation",
    "t": "--segmentation",
    "print-alignment-info-in-n-best": "--alignment",
    "print-alignment-info": "--alignment",
    "alignment-output-file": "--alignment",
    "output-hypo-score": "--scores",
    "report-sparse-features": "--sparse-features",
    "output-search-graph": "--lattice-output FILE",
    "output-word-graph": f"{_NOTHING}; --lattice-output FILE has the same hypotheses",
    "output-search-graph-slf": f"{_NOTHING}; --lattice-output FILE has the same hypotheses",
    "output-search-graph-hypergraph": f"{_NOTHING}; --lattice-output FILE has the same hypotheses",
    "minimum-bayes-risk": "--mbr",
    "drop-unknown": "--oov drop",
    "du": "--oov drop",
    "mark-unknown": "--oov mark",
    "unknown-word-prefix": "`input: {oov_prefix: TEXT}` in the file of --config",
    "unknown-word-suffix": "`input: {oov_suffix: TEXT}` in the file of --config",
    "xml-input": "--markup exclusive, inclusive, constraint, ignore or pass-through",
    "xi": "--markup exclusive, inclusive, constraint, ignore or pass-through",
    "report-segmentation-enriched": "--segmentation --scores",
    "translation-details": "--segmentation --scores; all of a sentence by forced-decode",
    "tt": "--segmentation --scores; all of a sentence by forced-decode",
    "monotone-at-punctuation": f"{_NOTHING}; walls by --markup come nearest",
    "phrase-drop-allowed": _NOTHING,
    "generation-file": f"{_NOTHING}: there are no factors",
    "lattice-samples": f"{_NOTHING}; {_LIST}",
    "print-all-derivations": f"{_NOTHING}; {_LIST}",
    "continue-partial-translation": "--prefix FILE, --partial-word",
    "constraint": "`phrasebeam forced-decode --model DIR --source FILE --reference FILE --output FILE`",
    "show-weights": "weights.yaml of the model",
    "lminimum-bayes-risk": f"{_NOTHING}; --mbr is nearest",
    "consensus-decoding": f"{_NOTHING}; --mbr is nearest",
    "server": "`phrasebeam serve`",
}


def moses_advice(arguments: Iterable[str], known: Iterable[str]) -> str:
    """A hint for the first Moses switch among `arguments` that is not a `known` option; "" if there is none."""
    options = {*known}
    for argument in arguments:
        switch = argument.partition("=")[0]
        name = switch.lstrip("-")
        if switch.startswith("-") and switch not in options and (name in SWITCHES or f"--{name}" in options):
            return f"Moses' {switch} is here {SWITCHES.get(name, f'--{name}')}"
    return ""
