"""What forced decoding found of a sentence pair, as a line of JSON."""

import json

from phrasebeam.decoder.forced.forced_decoder import ForcedResult
from phrasebeam.decoder.input.sentence_input import Input

ForcedPair = tuple[Input, tuple[str, ...]]  # sentence and reference


def render_forced(line: int, pair: ForcedPair, result: ForcedResult) -> str:
    """A line of JSON for the sentence pair in line `line` (1-based); without a derivation its parts are empty or null.

    segmentation: [source span, target span] of each phrase in target order, half open; alignment: [source, target].
    """
    best = result.best
    fields = {
        "line": line,
        "source": " ".join(pair[0].words),
        "reference": " ".join(pair[1]),
        "status": result.status,
        "source_prefix": result.source_prefix,
        "target_prefix": result.target_prefix,
        "segmentation": [[p.source_span, p.target_span] for p in best.phrases] if best else [],
        "alignment": best.alignment if best else [],
        "score": best.score if best else None,
        "features": best.features if best else None,
        "ln_derivations": result.ln_derivations,
    }
    return json.dumps(fields, ensure_ascii=False) + "\n"
