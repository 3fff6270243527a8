"""What each kind of stage does: a model in a directory of its own, made of the models of stages before it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from phrasebeam.base.config import parse_config, save_config
from phrasebeam.base.progress import stage as logged
from phrasebeam.decoder.output.mbr import MbrSettings
from phrasebeam.decoder.tables.model_files import SEARCH
from phrasebeam.decoder.translate.translate_settings import ModelSearch
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.process.unfinished import remove, unfinished_directory
from phrasebeam.training.build.config import TrainModelConfig
from phrasebeam.training.build.train_model import train_model
from phrasebeam.training.build.word_alignments import KeptAlignments
from phrasebeam.training.clustering.bigrams import read_bigrams
from phrasebeam.training.clustering.word_classes import write_classes
from phrasebeam.training.common.derived_model import Making
from phrasebeam.training.expected_bleu.expected_bleu_model import train_expected_bleu
from phrasebeam.training.joining.joined_model import join_features
from phrasebeam.training.joint_selection.ranking_model import train_ranking
from phrasebeam.training.maxforce.maxforce_model import train_maxforce
from phrasebeam.training.recipe.chosen_search import as_carried, choose, tried_in
from phrasebeam.training.recipe.recipe import AnyStage, BuildStage, RiskStage
from phrasebeam.training.recipe.recipe_data import DividedData, RecipeFiles
from phrasebeam.training.recipe.recipe_scores import scores_of, translated
from phrasebeam.training.recipe.searched_model import write_with_search
from phrasebeam.training.tuning.tune_model import tune_model


class StageWork(NamedTuple):
    """What a stage works on."""

    stage: Any  # one of AnyStage; its settings have the memory and threads of the recipe
    model: Path  # that it begins with; of the first stage, none
    features: Path  # the model of the other stage of a join
    output: Path
    files: RecipeFiles
    training: Any  # BitextFiles, where the stage learns from them
    data: DividedData | None  # of the first stage, none
    threads: int
    kept: Sequence[KeptAlignments] = ()  # by models of the same bitext

    @property
    def tuning(self) -> Any:
        """The development data that is tuned on."""
        return self.data.tuning if self.data else self.files.development


def build(work: StageWork) -> None:
    """The model of the bitext, with a language model over word classes where the stage asks for one."""
    files, stage = work.files.training, work.stage
    settings = with_word_classes(work) if stage.word_classes else stage.settings
    # By force, since one that was killed may have left the model with search.yaml, which is no part of it yet.
    train_model(files.source, files.target, work.output, settings, files.alignment, True, work.kept)
    save_config(ModelSearch(search=stage.search), work.output / SEARCH)


def with_word_classes(work: StageWork) -> TrainModelConfig:
    """The settings of the first stage with a language model over classes of the target words, which are made here."""
    stage: BuildStage = work.stage
    path = work.output.with_name(f"{work.output.name}.classes")
    with target_tokens(work) as target, logged("counting"):
        bigrams = read_bigrams([target], 1)
    write_classes(path, bigrams, stage.word_classes)
    given = stage.settings.model_dump(mode="json", exclude_unset=True)
    models = [*given.get("language_models", []), {"classes": str(path), "order": stage.class_order}]
    return parse_config(given | {"language_models": models}, TrainModelConfig, "recipe")


@contextmanager
def target_tokens(work: StageWork) -> Iterator[Path]:
    """A file of the target text as tokens, which is deleted after it if the text is raw."""
    files, settings = work.files.training, work.stage.settings
    if not settings.preprocessing:
        yield files.target
        return
    from phrasebeam.training.build.preprocessing import preprocessed  # slow, see train_model.py

    with (
        unfinished_directory(work.output.parent, "tokens") as directory,
        preprocessed(files.parallel[:2], settings.preprocessing, directory, settings.threads) as tokens,
    ):
        yield tokens[1]


def tune(work: StageWork) -> None:
    """A tuned model."""
    tune_model(work.model, work.tuning, work.output, work.stage.settings)


def choose_search(work: StageWork) -> None:
    """The model with the search that is best, and weights tuned for it."""
    choose(work.stage, work.model, work.tuning, work.output)


def expected_bleu(work: StageWork) -> None:
    """A model with learned scores of phrase pairs."""
    settings = as_carried(work.stage.settings, work.model)
    train_expected_bleu(work.model, work.training, work.tuning, work.output, settings)


def maxforce(work: StageWork) -> None:
    """A model with sparse features, by the perceptron."""
    settings = as_carried(work.stage.settings, work.model)
    train_maxforce(work.model, work.training, work.tuning, work.output, settings)


def ranking(work: StageWork) -> None:
    """A model with sparse features, by ranking."""
    settings = as_carried(work.stage.settings, work.model)
    train_ranking(work.model, work.training, work.tuning, work.output, settings)


def join(work: StageWork) -> None:
    """A model with the sparse features of another, tuned."""
    joined = work.output.with_name(f"{work.output.name}.joined")
    join_features(work.model, work.features, joined, is_forced=True)
    tune_model(joined, work.tuning, work.output, work.stage.settings)


def least_risk(work: StageWork) -> None:
    """The same model, which chooses translations by least Bayes risk, as is best on what is tuned on."""
    stage: RiskStage = work.stage
    decoder, found = Decoder.load(work.model), []
    for size in stage.sizes:
        for scale in stage.scales:
            risk = MbrSettings(size=size, scale=scale)
            found.append((scores_of(translated(decoder, work.tuning, work.threads, risk), work.tuning).bleu, risk))
    _, best = max(found, key=lambda one: one[0])
    write_with_search(work.model, work.output, {"mbr": best}, Making("mbr", {"mbr": best.model_dump(mode="json")}))


RUNS: dict[str, Callable[[StageWork], None]] = {  # by the kind of stage
    "train-model": build,
    "tune": tune,
    "choose": choose_search,
    "train-expected-bleu": expected_bleu,
    "train-maxforce": maxforce,
    "train-ranking": ranking,
    "join-features": join,
    "mbr": least_risk,
}


def run_stage(stage: AnyStage, work: StageWork) -> None:
    """Make the model of a stage in its directory; what was begun there goes on. Raises SmtError or OSError."""
    RUNS[stage.kind](work)


def clear_stage(output: Path) -> None:
    """Delete what a stage has made in its directory, and its work; the stage begins anew."""
    remove(tried_in(output))
    remove(output)
