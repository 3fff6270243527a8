"""The command line: `phrasebeam` with its subcommands, and `translate`, short for `phrasebeam translate`.

Only the module of the called subcommand is imported, after a line on the terminal that the command starts.
"""

import atexit
import os
import sys

from phrasebeam.base.errors import SmtError
from phrasebeam.links import broken_links
from phrasebeam.process.fatal_errors import end_by_fatal_errors
from phrasebeam.process.garbage import collect_rarely
from phrasebeam.process.interruption import end_by_signals, ignore_signals
from phrasebeam.process.standard_streams import name_standard_output, open_closed_streams
from phrasebeam.process.starting_line import clear_starting_line, is_dumb, note_run, show_starting_line
from phrasebeam.process.system_errors import shortage, too_few_addresses

# The commands under each heading of the help. A command has the options of the function of its name in the package. The
# module of phrasebeam/commands that is given may have a function of the same name, which prints the result.
GROUPS = {
    "Build": {"train": "trainers"}
    | dict.fromkeys(("train-model", "build-lm", "cluster", "select", "check-model"), "building"),
    "Translate": dict.fromkeys(("translate", "preprocess", "align", "serve", "forced-decode"), "translating"),
    "Tune and train": dict.fromkeys(
        ("tune", "rerank", "train-maxforce", "train-ranking", "train-expected-bleu"), "trainers"
    )
    | {"join-features": "building"},
    "Evaluate": dict.fromkeys(("evaluate", "explain", "report"), "evaluating"),
    "Moses": dict.fromkeys(("import-moses", "export-moses"), "moses"),
    "Demo and settings": dict.fromkeys(("demo", "demo-corpus", "config", "warm-up"), "demo"),
}
COMMANDS = {name: module for group in GROUPS.values() for name, module in group.items()}
ANSWERED, QUIET = {"-h", "--help", "--version", "-V", "--show-completion", "--install-completion"}, {"-q", "--quiet"}
COMPLETING = "_PHRASEBEAM_COMPLETE"  # variable that the shell sets when it asks for a completion
PLUGIN = "--plugin"
WITHOUT_KERNELS = "preprocess", "join-features", "demo-corpus", "config"
NAME = "phrasebeam"
HELP = "Phrase-based statistical machine translation: build a model from parallel text, tune, translate, evaluate."


def main(arguments: list[str] | None = None) -> int:
    """Run `phrasebeam` on `arguments`; return the exit status.

    Without arguments it runs on those of the process, and takes care of the process as a whole: signals end it, and
    its standard streams must be open.
    """
    if line := broken_links():
        return _refuse(line)
    try:
        spelled = _spelled_out(sys.argv[1:] if arguments is None else arguments)
    except SmtError as error:
        return _refuse(str(error))
    if arguments is not None:
        return _run(spelled)
    closed = open_closed_streams()
    collect_rarely()
    try:
        end_by_signals(NAME)
        if closed:
            return _refuse(f"{' and '.join(closed)}: closed; open it, to /dev/null if it is not needed")
        name_standard_output()
        return _run_called(spelled)
    except (RuntimeError, OSError) as error:  # before a command begins; a command handles its own errors
        if not (text := shortage(error)):
            raise
        return _refuse(text)
    finally:
        clear_starting_line()
        _leave_no_codes()
        ignore_signals()


def _run_called(arguments: list[str]) -> int:
    """Run the command that is called, after the line that it starts and the handlers of fatal errors are set up."""
    command = _called(arguments)
    is_asked = _is_asked(arguments)
    has_kernels = not is_asked and command not in ("", *WITHOUT_KERNELS)
    if has_kernels and (text := too_few_addresses()):
        return _refuse(text)
    if not (is_asked or QUIET.intersection(arguments)):
        show_starting_line(command or NAME, compiles=has_kernels)
    if has_kernels:
        end_by_fatal_errors(NAME)
    status = _run(arguments)
    if command and status == 0:
        note_run(command)
    return status


def _leave_no_codes() -> None:
    """Prevent colorama, which numba loads, from writing codes to a terminal that would show them as text."""
    if is_dumb() and (colours := sys.modules.get("colorama.initialise")):
        atexit.unregister(colours.reset_all)


def _refuse(message: str) -> int:
    clear_starting_line()
    print(f"{NAME}: {message}", file=sys.stderr)
    return 2


def translate_main() -> int:
    """Run `phrasebeam translate` on the arguments of the process; return the exit status."""
    sys.argv.insert(1, "translate")
    return main()


def _spelled_out(arguments: list[str]) -> list[str]:
    """The arguments, with `help COMMAND` as `COMMAND --help`, and without --plugin, which applies to all commands."""
    arguments, files = _without_plugins(arguments)
    if files:
        from phrasebeam.plugins import use

        use(*files)
    return [*arguments[1:2], "--help"] if arguments[:1] == ["help"] else arguments


def _without_plugins(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The arguments without `--plugin FILE` and `--plugin=FILE`; and the files that these name."""
    left, files, following = list[str](), list[str](), iter(arguments)
    for argument in following:
        name, is_given, file = argument.partition("=")
        if name == PLUGIN:
            files.append(file if is_given else next(following, ""))
        else:
            left.append(argument)
    return left, files


def _run(arguments: list[str]) -> int:
    from phrasebeam.commands.command_group import command_group
    from phrasebeam.commands.command_line import run

    return run(command_group(GROUPS, NAME, HELP, is_run=not _is_asked(arguments)), NAME, arguments)


def _called(arguments: list[str]) -> str:
    """The name of the command that is called; empty if only its help is to be shown."""
    name = next((argument for argument in arguments if argument in COMMANDS), "")
    return "" if _is_asked(arguments) else name


def _is_asked(arguments: list[str]) -> bool:
    """Whether only help, the version or a completion is requested; then the code of commands is not imported."""
    return not arguments or COMPLETING in os.environ or bool(ANSWERED.intersection(arguments))
