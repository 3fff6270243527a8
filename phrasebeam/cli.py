"""The command line: `phrasebeam` with its subcommands, and `translate`, short for `phrasebeam translate`.

Only the module of the subcommand that is called is imported.
"""

import sys
from importlib import import_module

from phrasebeam.process.interruption import end_by_signals
from phrasebeam.process.standard_streams import name_standard_output, open_closed_streams

# Module and function of each subcommand, in the order of the help.
COMMANDS = {
    "train-model": ("phrasebeam.training.build.train_model_command", "train_model"),
    "translate": ("phrasebeam.decoder.translate.translate_command", "translate"),
    "forced-decode": ("phrasebeam.decoder.forced.forced_decode_command", "forced_decode"),
    "preprocess": ("phrasebeam.decoder.raw_text.preprocess_command", "preprocess"),
    "tune": ("phrasebeam.training.tuning.tune_command", "tune"),
    "train-maxforce": ("phrasebeam.training.maxforce.maxforce_command", "train_maxforce_command"),
    "train-ranking": ("phrasebeam.training.joint_selection.ranking_command", "train_ranking_command"),
    "train-expected-bleu": ("phrasebeam.training.expected_bleu.expected_bleu_command", "train_expected_bleu_command"),
    "join-features": ("phrasebeam.training.joining.join_command", "join"),
    "check-model": ("phrasebeam.decoder.model.check_model_command", "check_model"),
    "explain": ("phrasebeam.decoder.translate.explain_command", "explain"),
    "rerank": ("phrasebeam.training.tuning.rerank_command", "rerank_command"),
    "evaluate": ("phrasebeam.training.metrics.evaluate_command", "evaluate"),
    "build-lm": ("phrasebeam.lm.build_lm_command", "build_lm"),
    "select": ("phrasebeam.training.selection.select_command", "select"),
    "cluster": ("phrasebeam.training.clustering.cluster_command", "cluster"),
    "import-moses": ("phrasebeam.decoder.moses.commands", "import_moses"),
    "export-moses": ("phrasebeam.decoder.moses.commands", "export_moses"),
    "demo": ("phrasebeam.training.demo.demo_command", "demo"),
    "demo-corpus": ("phrasebeam.training.demo.demo_command", "demo_corpus"),
}
NAME = "phrasebeam"
HELP = "Phrase-based statistical machine translation: build a model from parallel text, tune, translate, evaluate."


def main(arguments: list[str] | None = None) -> int:
    """Run `phrasebeam` on `arguments`; return the exit status.

    Without them on those of the process, as all that it does: signals end it, and its standard streams must be open.
    """
    if arguments is not None:
        return _run(arguments)
    closed = open_closed_streams()
    end_by_signals(NAME)
    if closed:
        print(f"{NAME}: {' and '.join(closed)}: closed; open it, to /dev/null if it is not needed", file=sys.stderr)
        return 2
    name_standard_output()
    return _run(sys.argv[1:])


def translate_main() -> int:
    """Run `phrasebeam translate` on the arguments of the process; return the exit status."""
    sys.argv.insert(1, "translate")
    return main()


def _run(arguments: list[str]) -> int:
    import typer

    from phrasebeam.base.command_line import ManyValuesCommand, run

    app = typer.Typer(help=HELP, add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True)
    app.callback()(lambda: None)
    for name in set(COMMANDS).intersection(arguments[:1]) or COMMANDS:
        module, function = COMMANDS[name]
        app.command(name, cls=ManyValuesCommand)(getattr(import_module(module), function))
    return run(app, NAME, arguments)
