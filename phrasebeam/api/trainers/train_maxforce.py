"""train_maxforce: dense and sparse weights by the violation-fixing perceptron (Yu et al. 2013)."""

from collections.abc import Sequence
from pathlib import Path

from phrasebeam.api.arguments import File, Files, Memory, Settings, memory_bound, optional_path, paths
from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.config import config_with_options
from phrasebeam.decoder.input.sentence_input import LeaveOneOut
from phrasebeam.engine.current_engine import EngineName
from phrasebeam.engine.engine_options import chosen_engine
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.gain import TrainingOutcome
from phrasebeam.training.maxforce import maxforce_model
from phrasebeam.training.maxforce.config import MaxforceConfig
from phrasebeam.training.maxforce.updates import Strategy


@checked
def train_maxforce(
    model: File,
    source: File,
    target: File,
    dev_source: File,
    dev_reference: Files,
    output: File,
    *,
    alignment: File | None = None,
    config: Settings | None = None,
    update: Strategy | None = None,
    iterations: int | None = None,
    leave_one_out: LeaveOneOut | None = None,
    lm_folds: int | None = None,
    seed: int | Sequence[int] | None = None,
    threads: int | None = None,
    memory: Memory | None = None,
    engine: EngineName = "local",
    address: str | None = None,
    workers: int | None = None,
    force: bool = False,
) -> TrainingOutcome[maxforce_model.TrainingResult]:
    """Learn dense and sparse weights on training data: the violation-fixing perceptron with forced decoding.

    Args:
        model: Model directory, as train_model writes it.
        source: Source sentences of the training data, tokenized, one a line.
        target: Their translations, line by line.
        dev_source: Other sentences, whose score says which iteration is best.
        dev_reference: Their translations, one file for each set of them.
        output: Directory of the new model; a training that was stopped there goes on.
        alignment: Word alignment of the training data (0-0 1-2 ...); None: what the model keeps of them.
        config: Settings, see MaxforceConfig; what is given beside them counts instead.
        update: Where to update; None: that of the settings, as all that follows.
        iterations: Over the data, at most.
        leave_one_out: What the counts of a sentence pair leave of the phrase pairs that it is translated by.
        lm_folds: Language models without a fold of the data each.
        seed: Of the order of sentences; of several, the mean of what they learn.
        threads: Processor cores to use; results do not depend on it.
        memory: Bytes that may be held in memory, such as "2G" (the default).
        engine: Who does the work: this machine ("local"), or Ray's workers ("ray"); results do not depend on it.
        address: Of Ray's cluster, host:port or "auto"; None: one is started here.
        workers: Processes that work at the same time; None: Ray's processors, or threads.
        force: Delete the model, or the work, that is there instead.

    Returns the iterations by seed, and what was gained on the development data. Raises SmtError or OSError.

    >>> outcome = train_maxforce("model", "train.de", "train.en", "dev.de", "dev.en", "learned", config=SHORT)
    >>> outcome.gain.before <= outcome.gain.best
    True
    """
    options = {
        "update": update,
        "iterations": iterations,
        "leave_one_out": leave_one_out,
        "lm_folds": lm_folds,
        "seeds": [seed] if isinstance(seed, int) else seed,
        "threads": threads,
        "memory": memory,
    }
    settings = config_with_options(config, MaxforceConfig, options)
    corpus = BitextFiles(Path(source), [Path(target)], optional_path(alignment))
    development = BitextFiles(Path(dev_source), paths(dev_reference))
    with memory_bound(settings.memory), chosen_engine(engine, address, workers):
        result = maxforce_model.train_maxforce(Path(model), corpus, development, Path(output), settings, force)
    return TrainingOutcome(result, result.gain(settings.metric))
