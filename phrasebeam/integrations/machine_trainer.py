"""A trainer of sil-machine that makes a model from a parallel corpus, by a recipe."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from phrasebeam.api.arguments import Settings
from phrasebeam.api.trainers.train import train
from phrasebeam.base.errors import ConfigError
from phrasebeam.integrations.machine_text import Segment, SideWords
from phrasebeam.integrations.sil_machine import ParallelTextCorpus, ProgressStatus, Trainer, TrainStats
from phrasebeam.training.recipe.recipe_run import RecipeResult

MOST_DEVELOPMENT, LEAST_INTERVAL = 500, 20  # at most 500 sentence pairs are tuned on, and at most one of 20
FEWEST = 2 * LEAST_INTERVAL  # sentence pairs of a corpus
PARTS = "train", "dev"


class Languages(NamedTuple):
    """The languages of raw text, which the model tokenizes itself."""

    source: str
    target: str


class ModelTrainer(Trainer):
    """Trains a model on a part of a corpus, tunes it on the rest, and puts it in place when it is saved."""

    def __init__(
        self,
        corpus: ParallelTextCorpus,
        directory: str | Path,
        sides: tuple[SideWords, SideWords] = (SideWords(), SideWords()),
        languages: Languages | None = None,
        recipe: Settings = "quick",
        on_save: Callable[[], None] = lambda: None,
    ):
        """`sides`: how source and target segments become words; if `languages` is given, the model takes raw text.

        `on_save` is called once the model is in `directory`.
        """
        self.languages, self.recipe = languages, recipe
        self._corpus, self._directory, self._sides, self._on_save = corpus, Path(directory), sides, on_save
        self._stats, self._is_trained = TrainStats(), False
        self._work: Path | None = None

    @property
    def stats(self) -> TrainStats:
        """The size of the corpus, and the model's "bleu" on the pairs that it was tuned on."""
        return self._stats

    def train(
        self,
        progress: Callable[[ProgressStatus], None] | None = None,
        check_canceled: Callable[[], None] | None = None,
    ) -> None:
        """Train in a folder beside the model's directory; `check_canceled` may raise to stop before training begins.

        Raises ConfigError if the corpus has too few pairs, and the errors of phrasebeam.train.
        """
        steps = [ProgressStatus.from_step(i, 2, text) for i, text in enumerate(("Reading", "Training", "Trained"))]
        tell, check = progress or (lambda status: None), check_canceled or (lambda: None)
        self.close()
        self._directory.parent.mkdir(parents=True, exist_ok=True)
        self._work = Path(tempfile.mkdtemp(prefix=f"{self._directory.name}.", dir=self._directory.parent))
        tell(steps[0])
        files = self._written(self._work, check)
        tell(steps[1])
        by_recipe: Any = train
        raw = dict(zip(("source_language", "target_language"), self.languages)) if self.languages else {}
        result: RecipeResult = by_recipe(*files, self._work / "model", recipe=self.recipe, raw=bool(raw), **raw)
        deciding = result.stages[result.best].deciding
        self._stats.metrics.update({"bleu": deciding.scores["bleu"]} if deciding else {})
        self._is_trained = True
        tell(steps[2])

    def _written(self, folder: Path, check: Callable[[], None]) -> list[Path]:
        """The source and target files to train on, and those to tune on."""
        pairs = []
        for pair in self._pairs():
            check()
            pairs.append(pair)
        if len(pairs) < FEWEST:
            raise ConfigError(f"the corpus has {len(pairs)} pairs of segments with words, expected at least {FEWEST}")
        self._stats.train_corpus_size = len(pairs)
        interval = max(LEAST_INTERVAL, -(-len(pairs) // MOST_DEVELOPMENT))
        parts = [pair for i, pair in enumerate(pairs) if i % interval], pairs[::interval]
        files = []
        for name, some in zip(PARTS, parts):
            for number, side in enumerate(("source", "target")):
                files.append(folder / f"{name}.{side}")
                files[-1].write_text("".join(f"{pair[number]}\n" for pair in some), encoding="utf-8")
        return files

    def _pairs(self) -> Iterator[tuple[str, str]]:
        """Both sides, as lines, of each row that has words on both sides."""
        with self._corpus.get_rows() as rows:
            for row in rows:
                texts: list[Segment] = [row.source_text, row.target_text]
                if not self.languages:
                    texts[0] = row.source_segment if self._corpus.is_source_tokenized else texts[0]
                    texts[1] = row.target_segment if self._corpus.is_target_tokenized else texts[1]
                    texts = [" ".join(side.of(text).words) for side, text in zip(self._sides, texts)]
                source, target = (" ".join(str(text).split()) for text in texts)
                if source and target:
                    yield source, target

    def save(self) -> None:
        """Replace the content of the directory by the model. Raises ConfigError before `train`."""
        if not self._is_trained or self._work is None:
            raise ConfigError("nothing was trained since the last save; call train first")
        if self._directory.exists():
            self._directory.rename(self._work / "old")
        (self._work / "model").rename(self._directory)
        self.close()
        self._on_save()

    def close(self) -> None:
        if self._work is not None:
            shutil.rmtree(self._work, ignore_errors=True)
        self._work, self._is_trained = None, False
