"""Runs of the perceptron, by name: the settings that differ from the defaults of train-maxforce."""

from typing import Any

from phrasebeam.training.maxforce.config import MaxforceConfig

SENTENCES = {"multi30k": 6000, "ted": 4000, "tanaka": 9000}
ITERATIONS, LONG = 3, 15
PEAK = 13  # the best iteration in the paper
FEW = 1500  # pairs; on Multi30k two thirds of them have y-good derivations, about as many as in Figure 10
CLASSES = 200
SPARSE = "rule_id", "rule_bigram", "rule_history", "word_edges"
SMALL: dict[str, Any] = MaxforceConfig().model_dump(mode="json", exclude={"rates", "seeds", "threads", "memory"})
TUNING = {name: SMALL[name] for name in ("scales", "tune", "development_search")}
EDGES: dict[str, Any] = SMALL["templates"]
RULES = {"rule_id": True}
WORD_CLASSES = [{"kind": "classes", "budget": 3}, {"kind": "classes", "budget": 2, "prefix": 4}]  # see with_classes
CLASS_EDGES = EDGES | {"levels": [{"kind": "word", "budget": 5}, *WORD_CLASSES]}
NON_LOCAL = EDGES | {"rule_bigram": True, "rule_history": True}
LEARNING: dict[str, Any] = {name: value for name, value in SMALL.items() if name not in ("scales", "tune")} | {
    "scales": [1.0],
    "tune": None,
    "rates": dict.fromkeys(SPARSE, 1.0),  # as in the paper
    "iterations": ITERATIONS,
    "patience": LONG,  # learn until the last iteration
}
DENSE = ("translation", "reordering", "language_model", "distortion", "word_penalty", "phrase_penalty")
NARROW: dict[str, Any] = {"search": {"stack": 3, "beam_threshold": 0.0}}
ANY_PAIR: dict[str, Any] = {"gold_table_limit": 0}  # the paper mentions no limit
WIDE: dict[str, Any] = {"search": {"stack": 30, "beam_threshold": 0.0, "table_limit": 100}}
SCALED: dict[str, Any] = {name: SMALL[name] for name in ("scales", "iterations", "patience")} | {"sentences": 0}
RUNS: dict[str, dict[str, Any]] = {
    "dense features": {"templates": {}, "rates": dict.fromkeys(DENSE, 1.0)},
    "rule ids": {"templates": RULES},
    "standard": {},
    "word classes": {"templates": CLASS_EDGES},
    "non-local features": {"templates": NON_LOCAL},
    "max-violation": {"update": "max_violation"},
    "early": {"update": "early"},
    "local": {"update": "local"},
    "max-violation, beam 3": NARROW | {"update": "max_violation"},
    "early, beam 3": NARROW | {"update": "early"},
    "standard, beam 3": NARROW,
    "local, beam 3": NARROW | {"update": "local"},
    "max-violation, any phrase pair": ANY_PAIR | {"update": "max_violation"},
    "early, any phrase pair": ANY_PAIR | {"update": "early"},
    "standard, any phrase pair": ANY_PAIR,
    "local, any phrase pair": ANY_PAIR | {"update": "local"},
    "standard, wide": WIDE,
    "y-good derivations that fit the alignment": {"forcing": {"aligned": True}},
    "language model without folds": {"lm_folds": 0},
    "without leave-one-out": {"leave_one_out": None, "lm_folds": 0},
    "max-violation, all pairs": {"update": "max_violation", "sentences": 0},
    "standard, all pairs": {"sentences": 0},
    "word classes, all pairs": {"templates": CLASS_EDGES, "sentences": 0},
    "standard, long": {"iterations": LONG},
    "max-violation, long": {"update": "max_violation", "iterations": LONG},
    "standard, all pairs, long": {"sentences": 0, "iterations": LONG},
    "max-violation, all pairs, long": {"update": "max_violation", "sentences": 0, "iterations": LONG},
    "scaled, all pairs": SCALED,
    "scaled, all pairs, same length": SCALED | {"keep_length": True},
    "margin 30": {"margin": 30.0},  # violations are 20 to 50
    "margin 300": {"margin": 300.0},
    "max-violation, margin 30": {"update": "max_violation", "margin": 30.0},
    "language models of halves": {"lm_folds": 2},
    "learning rate 0.03, all pairs": {"rates": dict.fromkeys(SPARSE, 0.03), "sentences": 0},
}
TABLE_1: list[dict[str, Any]] = [
    {"kind": "word", "budget": 5},
    {"kind": "characters", "budget": 3, "prefix": 1, "source_only": True},
    {"kind": "characters", "budget": 3, "suffix": 1, "source_only": True},
    *WORD_CLASSES,
    {"kind": "classes", "budget": 2, "prefix": 6},
    {"kind": "type", "budget": 1, "source_only": True},
]
RICH = EDGES | {"levels": TABLE_1}  # the paper's levels except tags; 1,140 combinations per phrase pair
THREE_LEVELS = [{"kind": "word", "budget": 5}, {"kind": "classes", "budget": 2, "prefix": 6}]
THREE_WORDS = EDGES | {"word_edges": {"budget": 9, "most_words": 3}, "levels": THREE_LEVELS}  # a word and two classes
RUNS |= {
    "rich": {"templates": RICH},
    "rich, non-local": {"templates": NON_LOCAL | {"levels": TABLE_1}},
    "three words": {"templates": THREE_WORDS},
    "three words, max-violation": {"templates": THREE_WORDS, "update": "max_violation"},
}
AS_PAPER: dict[str, Any] = {"iterations": PEAK, "patience": PEAK, "update": "max_violation"}
FIGURE_9: dict[str, dict[str, Any]] = {  # the figure shows only the share of invalid updates
    f"figure 9, beam {size}": AS_PAPER
    | {"templates": NON_LOCAL, "update": "standard", "search": {"stack": size, "beam_threshold": 0.0}}
    for size in (3, 10)
}
FIGURES: dict[str, dict[str, Any]] = {
    "figure 8, max-violation": AS_PAPER | {"templates": NON_LOCAL},
    "figure 8, early": AS_PAPER | {"templates": NON_LOCAL, "update": "early"},
    "figure 8, standard": AS_PAPER | {"templates": NON_LOCAL, "update": "standard"},
    "figure 8, local": AS_PAPER | {"templates": NON_LOCAL, "update": "local"},
    **FIGURE_9,
    **{
        f"figure 10, batch {size}": AS_PAPER | {"templates": NON_LOCAL, "batch": size, "sentences": FEW}
        for size in (1, 4, 24)
    },
    "figure 12, dense": AS_PAPER | {"templates": {}, "rates": dict.fromkeys(DENSE, 1.0)},
    "figure 12, rule ids": AS_PAPER | {"templates": RULES},
    "figure 12, word edges": AS_PAPER | {"templates": EDGES},
}
RUNS |= FIGURES
PAPER_SEARCH: dict[str, Any] = {"algorithm": "stack", "stack": 30, "beam_threshold": 0.0, "future_cost": False}
SEARCHES = {"ours": LEARNING["development_search"], "paper": PAPER_SEARCH}
PENALTIES = ["word_penalty", "phrase_penalty"]
TINY = {"sentences": 60, "iterations": 1, "lm_folds": 2}
TINY_TUNE = {"iterations": 1, "nbest": 10}
