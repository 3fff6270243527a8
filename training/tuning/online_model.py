"""Online tuning of a model directory: features, folds, runs, and a new model directory with the best run's weights.

The work directory `tuning` in the output has features/ and lm_folds/ like that of the perceptron, and for each seed a
directory with the files of an OnlineTraining.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import read_lines
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.model.opened_model import Model
from phrasebeam.decoder.sparse.templates import needs_tags
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.bitext.kept_alignment import kept_alignment
from phrasebeam.training.common.best_weights import BestWeights
from phrasebeam.training.common.derived_model import DerivedModel, Making, with_sparse_weights
from phrasebeam.training.common.development_set import DevelopmentScore, DevelopmentSet, read_development
from phrasebeam.training.common.gain import Gain
from phrasebeam.training.common.settings import changed_settings, settings_with_effect
from phrasebeam.training.common.training_data import training_folds, training_pairs
from phrasebeam.training.metrics.score_hints import hint_at_low_score
from phrasebeam.training.online.featured_model import LearnedFeatures, about_training, with_features, write_learned
from phrasebeam.training.online.progress import UPDATES, OnlineProgress, load_best
from phrasebeam.training.ranking.list_iteration import ListIteration
from phrasebeam.training.ranking.list_objective import ListExample
from phrasebeam.training.tuning.carried_search import save_search, with_search
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.online_tuning import TuningData, examples_of, online_training
from phrasebeam.training.tuning.run_state import RunResult

WORK = "tuning"  # in the model directory; has all runs


@dataclass(frozen=True)
class OnlineData:
    """Data of the method online, besides sentences and references."""

    alignment: Path | None = None  # word alignment, if the sentences are the training data of the model
    held_out: BitextFiles | None = None  # other sentences; their score decides which epoch is best

    @property
    def files(self) -> dict[str, Path]:
        """Paths of all files, by name."""
        files = {} if self.alignment is None else {"alignment": self.alignment}
        return files | (
            {f"held-out {name}": path for name, path in self.held_out.sets_by_name.items()} if self.held_out else {}
        )


def tune_online(
    model: Path,
    corpus: BitextFiles,
    output: Path,
    config: TuneConfig,
    test: BitextFiles | None = None,
    online: OnlineData = OnlineData(),
    is_forced: bool = False,
) -> list[RunResult]:
    """Tune online, see tune_model. Without held-out data, the score of `corpus` itself chooses the epoch.

    Raises SmtError.
    """
    if online.alignment is None and len(corpus.references) == 1:
        kept = corpus.alignment or kept_alignment(model, corpus.source, corpus.target)
        online = replace(online, alignment=kept)
    derived = DerivedModel.begin(model, output, WORK, corpus.sets_by_name | online.files)
    has_tags = needs_tags(config.online.templates) or needs_tags(derived.opened.templates)
    held_out = read_development(online.held_out or corpus, config, has_tags)
    test_set = read_development(test, config, has_tags) if test else None
    training = _training(corpus, online)
    examples = _examples(corpus, training, config, has_tags)
    asked, config = config, with_search(config, model)
    signature = derived.begin_work("tune", settings_with_effect(config), is_forced, online.held_out or corpus)
    weights = config.add.added_to(derived.opened.weights)
    opened = with_features(derived.opened._replace(weights=weights), model, derived.work, config.online)
    folds = (
        training_folds(training, opened, derived.work / "lm_folds", config.online, config.memory) if training else ()
    )
    data, results, found = TuningData(examples, folds), [], {}
    for seed in config.seeds:
        directory = derived.work / f"seed-{seed}"
        online_run, start = online_training(opened, data, held_out, config, seed, directory)
        found[seed] = online_run.finish(signature, start)
        found_best = load_best(directory, signature, online_run.objective.features.size)
        tested = _tested(found_best, opened, test_set, config) if test_set else None
        results.append(_result(f"seed-{seed}", found[seed], held_out, tested))
    seed = max(found, key=lambda seed: found[seed].best_score)
    best = derived.work / f"seed-{seed}"
    sentences = {example.number: example.given for example in data.examples}
    learned = LearnedFeatures([best / UPDATES.format(0)], sentences, config.online.names)
    making = Making(
        "tune",
        settings=about_training("tune", config, derived),
        changed=changed_settings(asked),
        gain=str(Gain.of(found[seed], config.metric)),
        trainer="tune",
    )
    own = save_search(asked, derived)
    decoder = Decoder(opened, config.search)
    write_learned(derived, decoder, load_best(best, signature, decoder.features.size), learned, making, own)
    hint_at_low_score(config.metric, max(result.score for result in results))
    return results


def _training(corpus: BitextFiles, online: OnlineData) -> BitextFiles | None:
    """`corpus` as training data, to be decoded with leave-one-out, if there is a word alignment; otherwise None."""
    if online.alignment is None:
        return None
    if len(corpus.references) > 1:
        raise ConfigError(f"{len(corpus.references)} references of training data, expected one; leave out --alignment")
    return BitextFiles(corpus.source, [corpus.references[0]], online.alignment)


def _examples(
    corpus: BitextFiles, training: BitextFiles | None, config: TuneConfig, has_tags: bool
) -> Sequence[ListExample]:
    """The sentences of `training` with 1 to max_words words; if it is None, the sentences of `corpus`."""
    if training is None:
        references = [list(read_lines(path)) for path in corpus.references]
        return examples_of(read_development(corpus, config, has_tags), references)
    return [
        ListExample(number, given, [" ".join(reference)])
        for number, (given, reference) in enumerate(training_pairs(training, config.online, has_tags))
        if 0 < len(given.words) <= config.online.max_words
    ]


def _tested(best: BestWeights, opened: Model, test: DevelopmentSet, config: TuneConfig) -> DevelopmentScore:
    decoder = Decoder(opened, config.search)
    weights = Weights.learned(decoder.features.by_group(best.dense))
    decoder = Decoder(with_sparse_weights(opened, best.table()), config.search, weights)
    return test.score(decoder)


def _result(
    name: str, progress: OnlineProgress[ListIteration], held_out: DevelopmentSet, tested: DevelopmentScore | None
) -> RunResult:
    iterations, reported = progress.iterations, held_out.reported
    return RunResult(
        name,
        None,
        len(iterations) - 1,
        progress.best,
        reported(iterations[0].score),
        reported(progress.best_score),
        reported(tested.score) if tested else None,
        iterations[progress.best].chrfpp,
        tested.chrfpp if tested else None,
        sum(iteration.updates for iteration in iterations),
        0.0,
        sum(iteration.seconds + iteration.development_seconds for iteration in iterations),
    )
