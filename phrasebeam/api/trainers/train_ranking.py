"""train_ranking: dense and sparse weights by distributed ranking, joint feature selection (Simianer et al. 2012)."""

from pathlib import Path

from phrasebeam.api.arguments import File, Files, Memory, Settings, memory_bound, optional_path, paths
from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.config import config_with_options
from phrasebeam.decoder.input.sentence_input import LeaveOneOut
from phrasebeam.engine.current_engine import EngineName
from phrasebeam.engine.engine_options import chosen_engine
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.gain import Gain, TrainingOutcome
from phrasebeam.training.joint_selection import ranking_model
from phrasebeam.training.joint_selection.config import RankingConfig
from phrasebeam.training.online.progress import OnlineProgress
from phrasebeam.training.ranking.list_iteration import ListIteration


@checked
def train_ranking(
    model: File,
    source: File,
    target: File,
    dev_source: File,
    dev_reference: Files,
    output: File,
    *,
    alignment: File | None = None,
    config: Settings | None = None,
    algorithm: int | None = None,
    shards: int | None = None,
    keep: int | None = None,
    workers: int | None = None,
    tasks: File | None = None,
    iterations: int | None = None,
    leave_one_out: LeaveOneOut | None = None,
    lm_folds: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    memory: Memory | None = None,
    engine: EngineName = "local",
    address: str | None = None,
    force: bool = False,
) -> TrainingOutcome[OnlineProgress[ListIteration]]:
    """Learn dense and sparse weights on training data: pairwise ranking over shards, joint feature selection.

    Args:
        model: Model directory, as train_model writes it.
        source: Source sentences of the training data, tokenized, one a line.
        target: Their translations, line by line.
        dev_source: Other sentences, whose score says which epoch is best.
        dev_reference: Their translations, one file for each set of them.
        output: Directory of the new model; a training that was stopped there goes on.
        alignment: Word alignment of the training data (0-0 1-2 ...); None: what the model keeps of them.
        config: Settings, see RankingConfig; what is given beside them counts instead.
        algorithm: Of Simianer et al. (2012), 1 to 4: 1 has one shard, 4 selects features jointly.
        shards: Parts of the data; 0: of 1000 sentences each.
        keep: Features that algorithm 4 keeps.
        workers: Shards at a time; results do not depend on it.
        tasks: File of a label for each sentence pair, say its domain: a shard for each label and, with the setting
            `task_weights: own`, a model of its own weights in ranking/tasks/ of the output.
        iterations: Epochs, at most.
        leave_one_out: What the counts of a sentence pair leave of the phrase pairs that it is translated by.
        lm_folds: Language models without a fold of the data each.
        seed: Of shards and orders.
        threads: Processor cores to use; results do not depend on it.
        memory: Bytes that may be held in memory, such as "2G" (the default).
        engine: Who does the work: this machine ("local"), or Ray's workers ("ray"); results do not depend on it.
        address: Of Ray's cluster, host:port or "auto"; None: one is started here.
        force: Delete the model, or the work, that is there instead.

    Returns the epochs, and what was gained on the development data. Raises SmtError or OSError.

    >>> outcome = train_ranking("model", "train.de", "train.en", "dev.de", "dev.en", "ranked", config=SHORT)
    >>> len(outcome.result.iterations)  # that of the weights before, and one epoch
    2
    """
    options = {
        "algorithm": algorithm,
        "shards": shards,
        "keep": keep,
        "workers": workers,
        "iterations": iterations,
        "leave_one_out": leave_one_out,
        "lm_folds": lm_folds,
        "seed": seed,
        "threads": threads,
        "memory": memory,
    }
    settings = config_with_options(config, RankingConfig, options)
    corpus = BitextFiles(Path(source), [Path(target)], optional_path(alignment))
    development = BitextFiles(Path(dev_source), paths(dev_reference))
    with memory_bound(settings.memory), chosen_engine(engine, address, workers):
        progress = ranking_model.train_ranking(
            Path(model), corpus, development, Path(output), settings, optional_path(tasks), force
        )
    return TrainingOutcome(progress, Gain.of(progress, settings.metric))
