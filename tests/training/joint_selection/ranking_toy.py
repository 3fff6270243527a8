"""Settings of a short train-ranking on the toy data of train-maxforce."""

RANKING = {
    "algorithm": 4,
    "scales": [1.0],
    "tune": None,
    "lm_folds": 0,
    "templates": {"rule_id": True, "word_edges": {"most_words": 2}},
    "rate": 0.02,
    "margin": 0.0,
    "pairs": "sequential",
    "shards": 5,
    "iterations": 3,
    "nbest": 20,
    "keep": 40,
    "search": {"algorithm": "cube", "pop_limit": 50, "stack": 50, "max_phrase_length": 1},  # longer ones would know
}
