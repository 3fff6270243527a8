"""The front door: the names that people import, and the umbrella command."""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from decoder.config import Search, Weights
    from decoder.translation import Phrase, Translation
    from decoder.translator import Decoder
    from lm.errors import ConfigError, FormatError, ModelError, SmtError
    from lm.language_model import LanguageModel
    from training.build.model import train_model
    from training.config import TrainModelConfig

__all__ = [
    "Decoder",
    "Translation",
    "Phrase",
    "Search",
    "Weights",
    "LanguageModel",
    "train_model",
    "TrainModelConfig",
    "SmtError",
    "ConfigError",
    "FormatError",
    "ModelError",
]

# Where each name lives; imported when it is first used, so that a command loads only what it needs.
HOMES = {
    "Decoder": "decoder.translator",
    "Translation": "decoder.translation",
    "Phrase": "decoder.translation",
    "Search": "decoder.config",
    "Weights": "decoder.config",
    "LanguageModel": "lm.language_model",
    "train_model": "training.build.model",
    "TrainModelConfig": "training.config",
    "SmtError": "lm.errors",
    "ConfigError": "lm.errors",
    "FormatError": "lm.errors",
    "ModelError": "lm.errors",
}
COMMANDS = {
    "train-model": ("training.commands", "train_model"),
    "build-lm": ("lm.commands", "build_lm"),
    "translate": ("decoder.commands", "translate"),
    "evaluate": ("training.evaluate_command", "evaluate"),
    "demo": ("training.demo_command", "demo"),
    "demo-corpus": ("training.demo_command", "demo_corpus"),
}


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module 'phrasebeam' has no attribute {name!r}")
    return getattr(import_module(HOMES[name]), name)


def main(arguments: list[str] | None = None) -> int:
    """The command `phrasebeam`: its exit status."""
    import typer

    from lm.command_line import run

    arguments = sys.argv[1:] if arguments is None else arguments
    wanted = [name for name in COMMANDS if name in arguments[:1]] or list(COMMANDS)
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        help="Phrase-based statistical machine translation.",
        pretty_exceptions_enable=False,
    )
    app.callback()(lambda: None)
    for name in wanted:
        module, function = COMMANDS[name]
        app.command(name)(getattr(import_module(module), function))
    return run(app, "phrasebeam", arguments)


def translate_main() -> int:
    """The command `translate`: its exit status."""
    return main(["translate", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
