"""Phrase-based statistical machine translation: the names that people import.

Each is imported where it is first used, so that `import phrasebeam` takes no time.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from phrasebeam.base.config import load_config
    from phrasebeam.base.errors import ConfigError, FormatError, ModelError, SmtError
    from phrasebeam.decoder.features.weights import Weights
    from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder, ForcedResult
    from phrasebeam.decoder.forced.forced_settings import Forcing
    from phrasebeam.decoder.input.input_settings import Reading
    from phrasebeam.decoder.input.markup import read_markup
    from phrasebeam.decoder.input.raw_text_settings import Preprocessing
    from phrasebeam.decoder.input.sentence_input import Input, LeftOut, Term
    from phrasebeam.decoder.output.lattice import Lattice
    from phrasebeam.decoder.output.mbr import Mbr
    from phrasebeam.decoder.output.request import Answer, Request
    from phrasebeam.decoder.output.translation import Phrase, Translation
    from phrasebeam.decoder.raw_text.raw_text import RawText
    from phrasebeam.decoder.search.search_settings import Search
    from phrasebeam.decoder.translate.pipeline import LineOutput, LineSettings, translate_lines
    from phrasebeam.decoder.translate.translator import Decoder
    from phrasebeam.lm.language_model import LanguageModel
    from phrasebeam.training.build.config import TrainModelConfig
    from phrasebeam.training.build.train_model import train_model
    from phrasebeam.training.common.training_data import TrainingData
    from phrasebeam.training.expected_bleu.config import ExpectedBleuConfig
    from phrasebeam.training.expected_bleu.expected_bleu_model import train_expected_bleu
    from phrasebeam.training.joining.joined_model import join_features
    from phrasebeam.training.maxforce.config import MaxforceConfig
    from phrasebeam.training.maxforce.maxforce_model import train_maxforce
    from phrasebeam.training.metrics.evaluation import Evaluation, EvaluationOptions, evaluate, evaluate_files
    from phrasebeam.training.tuning.config import TuneConfig
    from phrasebeam.training.tuning.tune_model import TuningData, tune_model

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
    "translate_lines",
    "LineSettings",
    "LineOutput",
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
    "ForcedResult",
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
]

HOMES = {
    "phrasebeam.training.build.train_model": ("train_model",),
    "phrasebeam.training.build.config": ("TrainModelConfig",),
    "phrasebeam.training.metrics.evaluation": ("evaluate", "evaluate_files", "Evaluation", "EvaluationOptions"),
    "phrasebeam.training.tuning.config": ("TuneConfig",),
    "phrasebeam.training.tuning.tune_model": ("tune_model", "TuningData"),
    "phrasebeam.training.maxforce.config": ("MaxforceConfig",),
    "phrasebeam.training.maxforce.maxforce_model": ("train_maxforce",),
    "phrasebeam.training.common.training_data": ("TrainingData",),
    "phrasebeam.training.joining.joined_model": ("join_features",),
    "phrasebeam.training.expected_bleu.config": ("ExpectedBleuConfig",),
    "phrasebeam.training.expected_bleu.expected_bleu_model": ("train_expected_bleu",),
    "phrasebeam.decoder.translate.pipeline": ("translate_lines", "LineSettings", "LineOutput"),
    "phrasebeam.decoder.translate.translator": ("Decoder",),
    "phrasebeam.decoder.output.request": ("Request", "Answer"),
    "phrasebeam.decoder.features.weights": ("Weights",),
    "phrasebeam.decoder.forced.forced_settings": ("Forcing",),
    "phrasebeam.decoder.input.input_settings": ("Reading",),
    "phrasebeam.decoder.input.raw_text_settings": ("Preprocessing",),
    "phrasebeam.decoder.output.mbr": ("Mbr",),
    "phrasebeam.decoder.search.search_settings": ("Search",),
    "phrasebeam.decoder.forced.forced_decoder": ("ForcedDecoder", "ForcedResult"),
    "phrasebeam.decoder.input.sentence_input": ("Input", "LeftOut", "Term"),
    "phrasebeam.decoder.output.lattice": ("Lattice",),
    "phrasebeam.decoder.input.markup": ("read_markup",),
    "phrasebeam.decoder.raw_text.raw_text": ("RawText",),
    "phrasebeam.decoder.output.translation": ("Translation", "Phrase"),
    "phrasebeam.base.config": ("load_config",),
    "phrasebeam.lm.language_model": ("LanguageModel",),
    "phrasebeam.base.errors": ("SmtError", "ConfigError", "FormatError", "ModelError"),
}


def __getattr__(name: str) -> Any:
    for module, names in HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
