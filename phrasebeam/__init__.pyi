from .base.config import load_config as load_config
from .base.errors import (
    ConfigError as ConfigError,
)
from .base.errors import (
    FormatError as FormatError,
)
from .base.errors import (
    ModelError as ModelError,
)
from .base.errors import (
    SmtError as SmtError,
)
from .decoder.features.weights import Weights as Weights
from .decoder.forced.forced_decoder import ForcedDecoder as ForcedDecoder
from .decoder.forced.forced_decoder import ForcedResult as ForcedResult
from .decoder.forced.forced_settings import ForcedDecodingSettings as ForcedDecodingSettings
from .decoder.input.input_settings import InputSettings as InputSettings
from .decoder.input.markup import read_markup as read_markup
from .decoder.input.raw_text_settings import RawTextSettings as RawTextSettings
from .decoder.input.sentence_input import HeldOutPair as HeldOutPair
from .decoder.input.sentence_input import Input as Input
from .decoder.input.sentence_input import Term as Term
from .decoder.output.lattice import Lattice as Lattice
from .decoder.output.mbr import MbrSettings as MbrSettings
from .decoder.output.request import Answer as Answer
from .decoder.output.request import Request as Request
from .decoder.output.translation import Phrase as Phrase
from .decoder.output.translation import Translation as Translation
from .decoder.raw_text.raw_text import RawText as RawText
from .decoder.search.search_settings import SearchSettings as SearchSettings
from .decoder.translate.pipeline import LineOutput as LineOutput
from .decoder.translate.pipeline import LineSettings as LineSettings
from .decoder.translate.pipeline import translate_lines as translate_lines
from .decoder.translate.translator import Decoder as Decoder
from .lm.language_model import LanguageModel as LanguageModel
from .training.build.config import TrainModelConfig as TrainModelConfig
from .training.build.train_model import train_model as train_model
from .training.common.development_set import DevelopmentData as DevelopmentData
from .training.common.training_data import TrainingData as TrainingData
from .training.expected_bleu.config import ExpectedBleuConfig as ExpectedBleuConfig
from .training.expected_bleu.expected_bleu_model import train_expected_bleu as train_expected_bleu
from .training.joining.joined_model import join_features as join_features
from .training.joint_selection.config import RankingConfig as RankingConfig
from .training.joint_selection.ranking_model import train_ranking as train_ranking
from .training.maxforce.config import MaxforceConfig as MaxforceConfig
from .training.maxforce.maxforce_model import train_maxforce as train_maxforce
from .training.metrics.evaluation import (
    Evaluation as Evaluation,
)
from .training.metrics.evaluation import (
    EvaluationOptions as EvaluationOptions,
)
from .training.metrics.evaluation import (
    evaluate as evaluate,
)
from .training.metrics.evaluation import (
    evaluate_files as evaluate_files,
)
from .training.tuning.config import TuneConfig as TuneConfig
from .training.tuning.online_model import OnlineData as OnlineData
from .training.tuning.tune_model import tune_model as tune_model
