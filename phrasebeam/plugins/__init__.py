"""Features, losses, rules and metrics from a user's own files.

A plugin is a Python file that declares what it adds, by the decorators of this module:

    from phrasebeam.plugins import pair_feature

    @pair_feature("same_length", "1 for pairs of as many words on both sides")
    def same_length(phrases, idf, pair, source_length, target_length):
        return 1.0 if source_length == target_length else 0.0

`phrasebeam --plugin FILE COMMAND ...` or the variable PHRASEBEAM_PLUGINS names such files; in Python call `use`. They
are run once, before the lists that they extend are made. A plugin must therefore import other modules of phrasebeam
within its functions, not at its top.
"""

from phrasebeam.plugins.declarations import (
    metric,
    optimizer,
    pair_feature,
    pair_loss,
    update_rule,
    update_strategy,
    use,
)

__all__ = ["metric", "optimizer", "pair_feature", "pair_loss", "update_rule", "update_strategy", "use"]
