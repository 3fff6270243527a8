"""The derivations that forced decoding finds of a sentence pair, as a line of JSON."""

import json

from phrasebeam.decoder.forced.forced_decoder import ForcedResult


def render_forced(result: ForcedResult) -> str:
    """The line; where there is no derivation, its parts are empty or null.

    segmentation: [source span, target span] of each phrase in target order, half open; alignment: [source, target].
    """
    best = result.best
    fields = {
        "status": result.status,
        "source_prefix": result.source_prefix,
        "target_prefix": result.target_prefix,
        "segmentation": [[p.source_span, p.target_span] for p in best.phrases] if best else [],
        "alignment": best.alignment if best else [],
        "score": best.score if best else None,
        "features": best.features if best else None,
        "ln_derivations": result.ln_derivations,
    }
    return json.dumps(fields) + "\n"
