"""The front door: the names that people import, and the umbrella command.

Everything is imported where it is first used, so that each command loads only what it needs.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from decoder.answer import Answer, Request
    from decoder.config import Forcing, Mbr, Preprocessing, Reading, Search, Weights
    from decoder.forced_decoder import Forced, ForcedDecoder
    from decoder.input import Input, LeftOut, Term
    from decoder.lattice import Lattice
    from decoder.markup import read_markup
    from decoder.raw_text import RawText
    from decoder.translation import Phrase, Translation
    from decoder.translator import Decoder
    from lm.config import load_config
    from lm.errors import ConfigError, FormatError, ModelError, SmtError
    from lm.language_model import LanguageModel
    from training.build.model import train_model
    from training.config import TrainModelConfig
    from training.evaluation import Evaluation, EvaluationOptions, evaluate, evaluate_files
    from training.expected_bleu.config import ExpectedBleuConfig
    from training.expected_bleu.expected_bleu_model import train_expected_bleu
    from training.joined_model import join_features
    from training.maxforce.config import MaxforceConfig
    from training.maxforce.maxforce_model import train_maxforce
    from training.training_data import TrainingData
    from training.tuning.config import TuneConfig
    from training.tuning.tune_model import TuningData, tune_model

__all__ = [
    "train_model",
    "TrainModelConfig",
    "tune_model",
    "TuneConfig",
    "TuningData",
    "train_maxforce",
    "MaxforceConfig",
    "TrainingData",
    "train_expected_bleu",
    "ExpectedBleuConfig",
    "join_features",
    "load_config",
    "Decoder",
    "RawText",
    "Preprocessing",
    "Search",
    "Weights",
    "Mbr",
    "Request",
    "Answer",
    "Lattice",
    "Reading",
    "Input",
    "Term",
    "LeftOut",
    "ForcedDecoder",
    "Forced",
    "Forcing",
    "read_markup",
    "Translation",
    "Phrase",
    "evaluate",
    "evaluate_files",
    "Evaluation",
    "EvaluationOptions",
    "LanguageModel",
    "SmtError",
    "ConfigError",
    "FormatError",
    "ModelError",
    "main",
    "translate_main",
]

HOMES = {
    "training.build.model": ("train_model",),
    "training.config": ("TrainModelConfig",),
    "training.evaluation": ("evaluate", "evaluate_files", "Evaluation", "EvaluationOptions"),
    "training.tuning.config": ("TuneConfig",),
    "training.tuning.tune_model": ("tune_model", "TuningData"),
    "training.maxforce.config": ("MaxforceConfig",),
    "training.maxforce.maxforce_model": ("train_maxforce",),
    "training.training_data": ("TrainingData",),
    "training.joined_model": ("join_features",),
    "training.expected_bleu.config": ("ExpectedBleuConfig",),
    "training.expected_bleu.expected_bleu_model": ("train_expected_bleu",),
    "decoder.translator": ("Decoder",),
    "decoder.answer": ("Request", "Answer"),
    "decoder.config": ("Forcing", "Mbr", "Preprocessing", "Reading", "Search", "Weights"),
    "decoder.forced_decoder": ("ForcedDecoder", "Forced"),
    "decoder.input": ("Input", "LeftOut", "Term"),
    "decoder.lattice": ("Lattice",),
    "decoder.markup": ("read_markup",),
    "decoder.raw_text": ("RawText",),
    "decoder.translation": ("Translation", "Phrase"),
    "lm.config": ("load_config",),
    "lm.language_model": ("LanguageModel",),
    "lm.errors": ("SmtError", "ConfigError", "FormatError", "ModelError"),
}
COMMANDS = {
    "train-model": ("training.commands", "train_model"),
    "translate": ("decoder.commands", "translate"),
    "forced-decode": ("decoder.forced_commands", "forced_decode"),
    "preprocess": ("decoder.raw_commands", "preprocess"),
    "tune": ("training.tuning.tune_command", "tune"),
    "train-maxforce": ("training.maxforce.maxforce_command", "train_maxforce_command"),
    "train-expected-bleu": ("training.expected_bleu.expected_bleu_command", "train_expected_bleu_command"),
    "join-features": ("training.join_command", "join"),
    "check-model": ("decoder.check_command", "check_model"),
    "explain": ("decoder.explain_command", "explain"),
    "rerank": ("training.tuning.rerank_command", "rerank_command"),
    "evaluate": ("training.evaluate_command", "evaluate"),
    "build-lm": ("lm.commands", "build_lm"),
    "cluster": ("training.cluster_command", "cluster"),
    "import-moses": ("decoder.moses.commands", "import_moses"),
    "export-moses": ("decoder.moses.commands", "export_moses"),
    "demo": ("training.demo_command", "demo"),
    "demo-corpus": ("training.demo_command", "demo_corpus"),
}
HELP = "Phrase-based statistical machine translation: build a model from parallel text, tune, translate, evaluate."


def __getattr__(name: str) -> Any:
    for module, names in HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def main(arguments: list[str] | None = None) -> int:
    """The command `phrasebeam` (default: on the arguments of the process); its exit status."""
    import typer

    from lm.command_line import ManyValuesCommand, run

    arguments = sys.argv[1:] if arguments is None else arguments
    app = typer.Typer(help=HELP, add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True)
    app.callback()(lambda: None)
    for name in set(COMMANDS).intersection(arguments[:1]) or COMMANDS:
        module, function = COMMANDS[name]
        app.command(name, cls=ManyValuesCommand)(getattr(import_module(module), function))
    return run(app, "phrasebeam", arguments)


def translate_main() -> int:
    """The command `translate`, short for `phrasebeam translate`."""
    return main(["translate", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
