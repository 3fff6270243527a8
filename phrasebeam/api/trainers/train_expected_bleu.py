"""train_expected_bleu: scores of phrase pairs by maximum expected BLEU (Wuebker et al. 2015)."""

from collections.abc import Sequence
from pathlib import Path

from phrasebeam.api.arguments import File, Files, Memory, Settings, memory_bound, optional_path, paths
from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.config import config_with_options
from phrasebeam.decoder.input.sentence_input import LeaveOneOut
from phrasebeam.engine.current_engine import EngineName
from phrasebeam.engine.engine_options import chosen_engine
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.common.gain import Gain, TrainingOutcome
from phrasebeam.training.expected_bleu import expected_bleu_model
from phrasebeam.training.expected_bleu.config import ExpectedBleuConfig, Optimizer


@checked
def train_expected_bleu(
    model: File,
    source: File,
    target: File,
    dev_source: File,
    dev_reference: Files,
    output: File,
    *,
    alignment: File | None = None,
    lists: File | None = None,
    config: Settings | None = None,
    optimizer: Optimizer | None = None,
    features: str | Sequence[str] | None = None,
    iterations: int | None = None,
    leave_one_out: LeaveOneOut | None = None,
    lm_folds: int | None = None,
    threads: int | None = None,
    memory: Memory | None = None,
    engine: EngineName = "local",
    address: str | None = None,
    workers: int | None = None,
    force: bool = False,
) -> TrainingOutcome[expected_bleu_model.ExpectedBleuProgress]:
    """Learn scores of phrase pairs on training data, so that the expected BLEU of n-best lists becomes large.

    Args:
        model: Model directory, as train_model and tune write it.
        source: Source sentences of the training data, tokenized, one a line.
        target: Their translations, line by line.
        dev_source: Other sentences, whose score says which iteration is best.
        dev_reference: Their translations, one file for each set of them.
        output: Directory of the new model; a training that was stopped there goes on.
        alignment: Word alignment of the training data (0-0 1-2 ...); None: what the model keeps of them.
        lists: Directory for the n-best lists, which further trainings then find there.
        config: Settings, see ExpectedBleuConfig; what is given beside them counts instead.
        optimizer: How to step.
        features: a, phrase pairs; b, word pairs; c, triplets; d, orientations; e, orientations of first and last
            words: "a,b" or ["a", "b"]; None: a to d, as far as the model has orientations.
        iterations: Steps over all lists.
        leave_one_out: What the counts of a sentence pair leave of the phrase pairs that it is translated by.
        lm_folds: Language models without a fold of the data each.
        threads: Processor cores to use; results do not depend on it.
        memory: Bytes that may be held in memory, such as "2G" (the default).
        engine: Who does the work: this machine ("local"), or Ray's workers ("ray"); results do not depend on it.
        address: Of Ray's cluster, host:port or "auto"; None: one is started here.
        workers: Processes that work at the same time; None: Ray's processors, or threads.
        force: Delete the model, or the work, that is there instead.

    Returns the iterations, and what was gained on the development data. Raises SmtError or OSError.

    >>> outcome = train_expected_bleu("model", "train.de", "train.en", "dev.de", "dev.en", "scored", config=SHORT)
    >>> outcome.result.iterations[1].objective > outcome.result.iterations[0].objective
    True
    """
    names = features.split(",") if isinstance(features, str) else features
    options = {
        "optimizer": optimizer,
        "features": None if names is None else [name.strip() for name in names],
        "iterations": iterations,
        "leave_one_out": leave_one_out,
        "lm_folds": lm_folds,
        "threads": threads,
        "memory": memory,
    }
    settings = config_with_options(config, ExpectedBleuConfig, options)
    corpus = BitextFiles(Path(source), [Path(target)], optional_path(alignment))
    development = BitextFiles(Path(dev_source), paths(dev_reference))
    with memory_bound(settings.memory), chosen_engine(engine, address, workers):
        progress = expected_bleu_model.train_expected_bleu(
            Path(model), corpus, development, Path(output), settings, optional_path(lists), force
        )
    return TrainingOutcome(progress, Gain.of(progress, settings.metric))
