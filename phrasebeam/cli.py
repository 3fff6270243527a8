"""The command line: `phrasebeam` with its subcommands, and `translate`, short for `phrasebeam translate`.

Only the module of the subcommand that is called is imported, after a line on the terminal that it starts.
"""

import sys

from phrasebeam.links import broken_links
from phrasebeam.process.fatal_errors import end_by_fatal_errors
from phrasebeam.process.interruption import end_by_signals, ignore_signals
from phrasebeam.process.standard_streams import name_standard_output, open_closed_streams
from phrasebeam.process.starting_line import clear_starting_line, note_run, show_starting_line
from phrasebeam.process.system_errors import shortage, too_few_addresses

# Module and function of each subcommand, by the headings of the help.
GROUPS = {
    "Build": {
        "train": ("phrasebeam.training.recipe.train_command", "train_command"),
        "train-model": ("phrasebeam.training.build.train_model_command", "train_model"),
        "build-lm": ("phrasebeam.lm.build_lm_command", "build_lm"),
        "cluster": ("phrasebeam.training.clustering.cluster_command", "cluster"),
        "select": ("phrasebeam.training.selection.select_command", "select"),
        "check-model": ("phrasebeam.decoder.model.check_model_command", "check_model"),
    },
    "Translate": {
        "translate": ("phrasebeam.decoder.translate.translate_command", "translate"),
        "preprocess": ("phrasebeam.decoder.raw_text.preprocess_command", "preprocess"),
        "align": ("phrasebeam.decoder.adaptation.align_command", "align"),
        "serve": ("phrasebeam.server.serve_command", "serve"),
        "forced-decode": ("phrasebeam.decoder.forced.forced_decode_command", "forced_decode"),
    },
    "Tune and train": {
        "tune": ("phrasebeam.training.tuning.tune_command", "tune"),
        "rerank": ("phrasebeam.training.tuning.rerank_command", "rerank_command"),
        "train-maxforce": ("phrasebeam.training.maxforce.maxforce_command", "train_maxforce_command"),
        "train-ranking": ("phrasebeam.training.joint_selection.ranking_command", "train_ranking_command"),
        "train-expected-bleu": (
            "phrasebeam.training.expected_bleu.expected_bleu_command",
            "train_expected_bleu_command",
        ),
        "join-features": ("phrasebeam.training.joining.join_command", "join"),
    },
    "Evaluate": {
        "evaluate": ("phrasebeam.training.metrics.evaluate_command", "evaluate"),
        "explain": ("phrasebeam.decoder.translate.explain_command", "explain"),
        "report": ("phrasebeam.training.report.report_command", "report"),
    },
    "Moses": {
        "import-moses": ("phrasebeam.decoder.moses.commands", "import_moses"),
        "export-moses": ("phrasebeam.decoder.moses.commands", "export_moses"),
    },
    "Demo and settings": {
        "demo": ("phrasebeam.training.demo.demo_command", "demo"),
        "demo-corpus": ("phrasebeam.training.demo.demo_command", "demo_corpus"),
        "config": ("phrasebeam.config_command", "config"),
    },
}
COMMANDS = {name: place for group in GROUPS.values() for name, place in group.items()}
HELP_OPTIONS, QUIET = {"-h", "--help"}, {"-q", "--quiet"}
WITHOUT_KERNELS = "preprocess", "join-features", "demo-corpus", "config"
NAME = "phrasebeam"
HELP = "Phrase-based statistical machine translation: build a model from parallel text, tune, translate, evaluate."


def main(arguments: list[str] | None = None) -> int:
    """Run `phrasebeam` on `arguments`; return the exit status.

    Without them on those of the process, as all that it does: signals end it, and its standard streams must be open.
    """
    if line := broken_links():
        return _refuse(line)
    if arguments is not None:
        return _run(arguments)
    closed = open_closed_streams()
    try:
        end_by_signals(NAME)
        if closed:
            return _refuse(f"{' and '.join(closed)}: closed; open it, to /dev/null if it is not needed")
        name_standard_output()
        return _run_called(sys.argv[1:])
    except (RuntimeError, OSError) as error:  # before a command begins, which says its own
        if not (text := shortage(error)):
            raise
        return _refuse(text)
    finally:
        clear_starting_line()
        ignore_signals()


def _run_called(arguments: list[str]) -> int:
    """Run the command that is called, once it is said to start, and what ends it otherwise is known."""
    command = _called(arguments)
    has_kernels = command not in ("", *WITHOUT_KERNELS)
    if has_kernels and (text := too_few_addresses()):
        return _refuse(text)
    if not QUIET.intersection(arguments):
        show_starting_line(command or NAME, compiles=has_kernels)
    if has_kernels:
        end_by_fatal_errors(NAME)
    status = _run(arguments)
    if command and status == 0:
        note_run(command)
    return status


def _refuse(message: str) -> int:
    clear_starting_line()
    print(f"{NAME}: {message}", file=sys.stderr)
    return 2


def translate_main() -> int:
    """Run `phrasebeam translate` on the arguments of the process; return the exit status."""
    sys.argv.insert(1, "translate")
    return main()


def _run(arguments: list[str]) -> int:
    from phrasebeam.base.command_line import command_group, run

    return run(command_group(GROUPS, NAME, HELP), NAME, arguments)


def _called(arguments: list[str]) -> str:
    """The command that is called, unless only its help is to be shown."""
    name = next((argument for argument in arguments if argument in COMMANDS), "")
    return "" if HELP_OPTIONS.intersection(arguments) else name
