"""train_ranking: dense and sparse weights by distributed ranking, joint feature selection (Simianer et al. 2012)."""

from pathlib import Path
from typing import Annotated, Unpack

from pydantic import Field

from phrasebeam.api.arguments import ClusterOptions, File, Model, Source, Target, optional_path, resources
from phrasebeam.api.trainers import trainer_options as shared
from phrasebeam.base.options import described, settings_of
from phrasebeam.training.bitext.tokenized_files import tokenized_files
from phrasebeam.training.common.gain import Gain, TrainingOutcome
from phrasebeam.training.joint_selection import ranking_model
from phrasebeam.training.joint_selection.config import RankingConfig
from phrasebeam.training.online.progress import OnlineProgress
from phrasebeam.training.ranking.list_iteration import ListIteration


class RankingOptions(shared.CorpusOptions, ClusterOptions, total=False):
    """Options of sharding, feature selection and mixing."""

    algorithm: Annotated[int | None, Field(ge=1, le=4)]
    shards: int | None
    keep: int | None
    workers: int | None
    tasks: Annotated[
        File | None,
        "File with a label for each sentence pair, for example its domain. Each label gets a shard and, with the "
        "setting `task_weights: own`, a model with its own weights in ranking/tasks/ of the output.",
    ]
    seed: int | None


@described(RankingConfig)
def train_ranking(
    model: Model,
    source: Source,
    target: Target,
    dev_source: shared.DevSource,
    dev_reference: shared.References,
    output: shared.NewModel,
    **options: Unpack[RankingOptions],
) -> TrainingOutcome[OnlineProgress[ListIteration]]:
    """Train dense and sparse weights on training data: pairwise ranking on shards, joint feature selection.

    Returns the epochs, and the gain on the development data. Raises SmtError or OSError.

    >>> outcome = train_ranking("model", "train.de", "train.en", "dev.de", "dev.en", "ranked", config=SHORT)
    >>> len(outcome.result.iterations)  # that of the weights before, and one epoch
    2
    """
    settings = settings_of(train_ranking, RankingConfig, options)
    corpus = shared.training_data(source, target, options["alignment"])
    development, tasks = shared.development_data(dev_source, dev_reference), optional_path(options["tasks"])
    token_files = tokenized_files(Path(model), options["raw"])
    with resources(settings.memory, options, options["workers"]), token_files as tokens:
        progress = ranking_model.train_ranking(
            Path(model), tokens(corpus), tokens(development), Path(output), settings, tasks, options["force"]
        )
    return TrainingOutcome(progress, Gain.of(progress, settings.metric))
