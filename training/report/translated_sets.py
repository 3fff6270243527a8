"""Collects the translations of a development set by several trainings, which are compared sentence by sentence."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from phrasebeam.base.errors import ConfigError
from phrasebeam.training.common.kept_translations import KeptSet
from phrasebeam.training.metrics.evaluation import EvaluatedTexts
from phrasebeam.training.report.run_files import RunDirectory, TrainingWork, find_training, is_lower_better
from phrasebeam.training.report.training_report import best_iteration, best_score

EXPECTED = "expected the output of tune, train or a train- command that has translated its development set"


class TranslatedSets(NamedTuple):
    """Sentences with several translations."""

    texts: EvaluatedTexts
    source: Sequence[str] | None  # a line for each sentence
    is_tokenized: bool = False


def translated_sets(directories: Sequence[Path]) -> TranslatedSets:
    """Read the best translations of the training in each directory. Raises SmtError if the development sets differ."""
    found = {str(one): _best(find_training(one)) for one in directories}
    if len(found) < 2:
        raise ConfigError(f"a comparison needs two or more training runs, got {len(found)}; give more")
    first, (known, _, is_tokenized) = next(iter(found.items()))
    for name, (other, _, is_other) in found.items():
        if other.references != known.references or is_other != is_tokenized:
            raise ConfigError(
                f"{name}: other development sentences than in {first}; compare runs with the same development set"
            )
    texts = EvaluatedTexts({name: texts for name, (_, texts, _) in found.items()}, known.references)
    return TranslatedSets(texts, known.source or None, is_tokenized)


def _best(files: RunDirectory) -> tuple[KeptSet, Sequence[str], bool]:
    """The development set of a training, its best translations, and whether they are tokenized. Raises ConfigError."""
    recipe = files.recipe
    if recipe.deciding and recipe.kept_translations:
        is_raw = files.description is not None and files.description.preprocessing is not None
        return recipe.deciding, [*recipe.kept_translations.values()][-1], not is_raw
    for work in files.works:
        if work.development and (texts := _best_texts(work)):
            return work.development, texts, True
    raise ConfigError(f"{files.directory}: no translations that can be compared; {EXPECTED}")


def _best_texts(work: TrainingWork) -> Sequence[str]:
    """The translations of the best iteration of the best run; empty if there are none."""
    is_lower = is_lower_better(work)
    found: list[tuple[float, Sequence[str]]] = []
    for run in work.runs:
        number = best_iteration(work.curves, run.name, is_lower)
        score = best_score(work.curves, run.name, is_lower)
        if number in run.translations and score is not None:
            found.append((-score if is_lower else score, run.translations[number]))
    return max(found, key=lambda one: one[0])[1] if found else []
