"""Types of lexicalized reordering models in moses.ini, such as type=wbe-msd-bidirectional-fe-allff (LRModel.cpp)."""

import numpy as np

from phrasebeam.decoder.features.reordering_type import N_ORIENTATIONS, Reordering
from phrasebeam.decoder.tables.phrase_table import floored_ln

# For each setting of Reordering, its values by Moses' words, of which the first that fits is written.
TOKENS: dict[str, dict[str, object]] = {
    "orientation": {"wbe": "word", "phrase": "phrase", "hier": "hier"},
    "kind": {"msd": "msd", "mslr": "mslr", "monotonicity": "monotonicity", "leftright": "leftright"},
    "direction": {
        "bidirectional": "bidirectional",
        "backward": "backward",
        "forward": "forward",
        "unidirectional": "backward",
    },
    "condition": {"fe": "fe", "f": "f"},
    "collapse": {"allff": False, "collapseff": True},
}
DEFAULTS = {"orientation": "word", "direction": "backward", "collapse": False}
EXPECTED = "expected a type such as wbe-msd-bidirectional-fe"


def read_type(text: str, default_scores: str | None) -> Reordering:
    """The model of type=`text` and default-scores=, probabilities separated by commas. Raises ValueError."""
    settings: dict[str, object] = {}
    for token in text.split("-"):
        (setting,) = [name for name, tokens in TOKENS.items() if token in tokens] or [""]
        if not setting:
            raise ValueError(f"the decoder does not have {token}; {EXPECTED}")
        if setting in settings:
            raise ValueError(f"{token} is the second of {', '.join(TOKENS[setting])}; {EXPECTED}")
        settings[setting] = TOKENS[setting][token]
    for setting in TOKENS.keys() - DEFAULTS.keys() - settings.keys():
        raise ValueError(f"none of {', '.join(TOKENS[setting])}; {EXPECTED}")
    model = Reordering.model_validate(DEFAULTS | settings)
    return model if default_scores is None else _with_default(model, default_scores)


def _with_default(model: Reordering, default_scores: str) -> Reordering:
    try:
        probabilities = [float(field) for field in default_scores.split(",")]
    except ValueError:
        probabilities = []
    if len(probabilities) != model.n_columns or not all(0 <= p < np.inf for p in probabilities):
        message = f"default-scores={default_scores}, expected {model.n_columns} numbers not below 0, set off by commas"
        raise ValueError(message)
    if model.collapse:
        raise ValueError("default-scores with collapseff, which Moses cannot add up; remove one of them")
    return model.model_copy(update={"ln_default": floored_ln(np.array(probabilities)).tolist()})


def columns_read(model: Reordering) -> list[int]:
    """For each column of `model` the column of the text table that Moses reads it from.

    With collapseff its forward scores begin behind the one backward feature, not behind all backward columns
    (LRState::CopyScores, in Moses and Moses2); such models were tuned so, and we read the same.
    """
    n = N_ORIENTATIONS[model.kind]
    if model.collapse and model.direction == "bidirectional":
        return [*range(n), *range(1, 1 + n)]
    return list(range(model.n_columns))


def write_type(model: Reordering) -> str:
    """The type= of `model`."""
    settings = model.model_dump()
    return "-".join(
        next(token for token, value in tokens.items() if value == settings[name]) for name, tokens in TOKENS.items()
    )
