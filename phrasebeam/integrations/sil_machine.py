"""The classes used from SIL's package sil-machine; if it is missing, an error says how to install it."""

try:
    from machine.annotations.range import Range
    from machine.corpora import ParallelTextCorpus
    from machine.tokenization import WHITESPACE_DETOKENIZER, WHITESPACE_TOKENIZER
    from machine.tokenization.detokenizer import Detokenizer
    from machine.tokenization.string_tokenizer import StringTokenizer
    from machine.tokenization.tokenizer import Tokenizer
    from machine.translation.interactive_translation_model import InteractiveTranslationModel
    from machine.translation.trainer import Trainer, TrainStats
    from machine.translation.translation_result import TranslationResult
    from machine.translation.translation_result_builder import TranslationResultBuilder
    from machine.translation.translation_sources import TranslationSources
    from machine.translation.truecaser import Truecaser
    from machine.translation.word_alignment_matrix import WordAlignmentMatrix
    from machine.translation.word_graph import WordGraph
    from machine.translation.word_graph_arc import WordGraphArc
    from machine.utils.progress_status import ProgressStatus
except ImportError as error:
    raise ImportError(
        "phrasebeam.integrations.machine needs sil-machine, which is not installed; pip install 'phrasebeam[machine]'"
    ) from error

__all__ = [
    "WHITESPACE_DETOKENIZER",
    "WHITESPACE_TOKENIZER",
    "Detokenizer",
    "InteractiveTranslationModel",
    "ParallelTextCorpus",
    "ProgressStatus",
    "Range",
    "StringTokenizer",
    "Tokenizer",
    "TrainStats",
    "Trainer",
    "TranslationResult",
    "TranslationResultBuilder",
    "TranslationSources",
    "Truecaser",
    "WordAlignmentMatrix",
    "WordGraph",
    "WordGraphArc",
]
