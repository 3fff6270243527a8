"""The command `phrasebeam` with its subcommands, as typer takes them; each is imported when it is needed."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from phrasebeam.base.progress import set_volume
from phrasebeam.commands.bare_words import shown_words, take_words
from phrasebeam.commands.option_file import Quiet, Verbose, told_command

Panels = Mapping[str, Mapping[str, str]]  # by heading of the help and command name, the module that prints its result


def command_group(groups: Panels, name: str, help: str, is_run: bool = True) -> typer.Typer:
    """The command `name` with subcommands, grouped by the headings of its help.

    If no subcommand is run (`is_run`), their options are read from a file, which is quick.
    """

    class Group(_CommandGroup):
        panels = groups
        imports = is_run

    app = typer.Typer(cls=Group, help=help, pretty_exceptions_enable=False, no_args_is_help=True)

    def show_version(is_wanted: bool) -> None:
        if is_wanted:
            from importlib.metadata import version

            print(f"{name} {version(name)}")
            raise typer.Exit

    @app.callback(context_settings={"help_option_names": ["-h", "--help"]})
    def options(
        quiet: Quiet = False,
        verbose: Verbose = False,
        version: Annotated[
            bool,
            typer.Option("--version", "-V", callback=show_version, is_eager=True, help="Show the version and exit."),
        ] = False,
        plugin: Annotated[
            list[str],
            typer.Option(metavar="FILE", help="Load a Python file with features, losses, update rules or metrics."),
        ] = [],  # noqa: B006 - for the help only: the program removes it from the arguments before it imports anything
    ) -> None:
        set_volume(quiet, verbose)

    return app


def _unconverted(param: Any) -> Callable[[Any, Any], Any]:
    """A type that keeps an option's value as typed: importing a converter takes longer than everything else."""
    return lambda ctx, value: param.callback(ctx, param, value) if param.callback else value


def _of_one(param: Any, ctx: Any) -> str:
    """The type of a single value of an option or argument that takes several values."""
    return str(param.display_type_rich(ctx)).replace("list[", "").replace("]", "").lower()


def _shown(text: str, ctx: Any) -> str:
    return text


class _PlainHelp:
    """A command whose help shows no type for flags, and the type of a single value for options of several values."""

    def get_params(self, ctx: Any) -> Any:
        """All parameters, including that for the help."""
        params = super().get_params(ctx)  # type: ignore
        for param in params:
            if not getattr(ctx.find_root().command, "imports", True):
                param.process_value = _unconverted(param)
            if getattr(param, "is_flag", False):
                param.metavar = ""
            elif getattr(param, "multiple", False) and param.metavar is None:
                param.metavar = _of_one(param, ctx) + "..."
            elif getattr(param, "nargs", 1) == -1:
                param.display_type_rich = partial(_shown, _of_one(param, ctx))
        return params


class Command(_PlainHelp, TyperCommand):
    """A command whose list options take one or more values, as in "--reference a b"; typer has no such options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse `args` after `repeat_options`."""
        list_options = {name for option in self.params if getattr(option, "multiple", False) for name in option.opts}
        return super().parse_args(ctx, repeat_options(args, list_options))

    def make_parser(self, ctx: Any) -> Any:
        """A parser that takes words without the name of an option, see bare_words.py."""
        parser: Any = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_args(args: list[str]) -> tuple[dict[str, Any], list[str], list[Any]]:
            options, words, order = parse(args=args)
            return options, take_words(self.name or "", self.params, options, words), order

        parser.parse_args = parse_args
        return parser

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The parts of the usage line after the command's name."""
        return [*super().collect_usage_pieces(ctx), *shown_words(self.name or "", self.params)]


class _CommandGroup(_PlainHelp, TyperGroup):
    """Commands in panels of the help."""

    panels: Panels
    imports: bool

    def __init__(self, **attributes: Any):
        super().__init__(**attributes)
        self.commands: Any = _LazyCommands(self.panels, self.imports)

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands; none is imported, so that a completion imports one command only."""
        return list(self.commands)


class _LazyCommands(Mapping[str, TyperCommand]):
    """The commands of all panels by name; each is imported when it is needed."""

    def __init__(self, panels: Panels, imports: bool):
        self._imports = imports
        self._found = {name: (panel, module) for panel, places in panels.items() for name, module in places.items()}

    def __getitem__(self, name: str) -> TyperCommand:
        panel, module = self._found[name]
        app = typer.Typer(add_completion=False)
        app.command(name, cls=Command, rich_help_panel=panel)(self._function(name, module))
        command: Any = typer.main.get_command(app)
        return command

    def _function(self, name: str, module: str) -> Callable[..., Any]:
        told = None if self._imports else told_command(name)
        if told is None:
            from phrasebeam.commands.derived_command import command_function

            told = command_function(name, module)
        return told

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def repeat_options(arguments: list[str], list_options: set[str]) -> list[str]:
    """The arguments with "--reference a b" written as "--reference a --reference b", for each of `list_options`."""
    repeated: list[str] = []
    option, n_values = "", 0
    for position, argument in enumerate(arguments):
        if argument == "--":
            return repeated + arguments[position:]
        if argument.startswith("-") and argument != "-":
            name, has_value, _ = argument.partition("=")
            option, n_values = name if name in list_options else "", int(bool(has_value))
        elif option:
            if n_values > 0:
                repeated.append(option)
            n_values += 1
        repeated.append(argument)
    return repeated
