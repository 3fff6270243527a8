"""The files that are damaged: which operations read each, and which kinds of damage suit it."""

from pathlib import Path
from typing import NamedTuple

from phrasebeam.decoder.tables.model_files import WORK_DIRECTORIES
from tests.robustness import operations as known
from tests.robustness.archive_mutations import ARCHIVES
from tests.robustness.array_mutations import ARRAYS, ORDERS
from tests.robustness.byte_mutations import BYTES, Mutation
from tests.robustness.lm_mutations import CONTRADICTORY, LM_TABLES
from tests.robustness.operations import Operation
from tests.robustness.text_mutations import TEXT, recompressed
from tests.robustness.yaml_mutations import YAML

# The files of each model that are damaged: those of one with operations differ from the others in these alone.
MODELS = {"model": "model", "pairs": "pairs", "plain": "plain", "operations": "operations/operations"}
UNREAD = ("alignment", "README.md")  # of a model: only people have a use for it
# Arrays that others lead to, so that their order alone cannot change.
ORDERED = ("phrases/slots.npy", "phrases/source_words.npy", "operations/keys.npy", "sparse/keys.npy")
OF_STAGES = (
    "model.yaml",
    "weights.yaml",
    "target.vocab",
    "target_types.npy",
)  # that show how a recipe's models are read


class Target(NamedTuple):
    """A file that operations read."""

    path: str  # from the directory of the materials
    operations: list[Operation]
    mutations: list[Mutation]
    model: str | None = None  # the model directory that it is part of
    is_config: bool = False  # settings may ask for any amount of work

    @property
    def is_ours(self) -> bool:
        """Whether it lies in a directory that phrasebeam wrote, of a model or of a training."""
        return self.model is not None or self.path.startswith("runs/")


def contradicts(path: str, mutation: Mutation) -> bool:
    """Whether a file of a model that is so changed contradicts itself or other files."""
    return mutation in CONTRADICTORY or (mutation in ORDERS and path.endswith(ORDERED))


def all_targets(directory: Path) -> list[Target]:
    """The files of the models, then of trainings, inputs and configurations; always in the same order."""
    return [
        *(_of_model(model, path) for model, folder in MODELS.items() for path in _files(directory, folder)),
        *(_target(path, _on_training(path)) for path in _files(directory, "runs") if _is_read(path)),
        *(_target(path, _importing(path)) for path in _files(directory, "moses")),
        *_inputs(),
        *(_target(name, [operation])._replace(is_config=True) for name, operation in known.CONFIGS.items()),
    ]


def _inputs():
    translating = known.translations("model") + known.TUNE_LATTICES
    learning = [*known.translations("plain"), *known.trainings("plain"), *known.BUILDING, *known.WHOLE_RECIPE]
    building = known.BUILDING + known.ALIGNING + known.WHOLE_RECIPE
    for name in ("dev.de", "dev.prefix", "dev.markup", "dev.plf", "dev.plf.en", "dev.columns"):
        yield _target(name, known.reading(name, translating))
    for name in ("few.de", "few.en", "few.align", "other.de", "other.en"):
        yield _target(name, known.reading(name, learning))
    yield from (_target(name, known.reading(name, building)) for name in ("train.de", "train.en", "train.align"))
    yield from (_target(f"train.{side}.gz", known.PACKED) for side in ("de", "en"))
    yield _target("target.classes", known.CLASSES)
    yield from (_target(name, known.reading(name, known.ADAPTING)) for name in ("few.de", "few.en"))
    yield from [_target("journal", known.JOURNAL)] * 2
    yield from (_target(f"{side}.paths", known.PATHS) for side in ("source", "target"))
    yield from (_target(f"truecaser.{side}", known.TRUECASERS) for side in ("de", "en"))
    yield _target("raw.de", known.RAW)
    yield _target("few.tasks", known.TASKS)
    yield from (_target(name, known.SCORES) for name in ("few.hyp", "few.en"))
    yield _target("rerank.weights", known.RERANKING[:1])
    yield from [_target("few.nbest", known.RERANKING)] * 2


def _files(directory, folder):
    files = [path for path in (directory / folder).rglob("*") if path.is_file() and path.name not in UNREAD]
    return sorted(str(path.relative_to(directory)) for path in files)


def _of_model(model, path):
    translations = known.translations(model)
    if model == "operations":
        translations = [one for one in translations if one.name not in known.OF_LATTICES]
    operations = [*translations, known.check(model)] * 3 + known.trainings(model)
    more = {"model": known.EXPLAIN + known.JOIN, "pairs": known.RAW, "plain": known.EXPORT + known.ADAPTING}
    operations += more.get(model, []) * 3
    return _target(path, operations)._replace(model=model)


def _importing(path):
    """The import that reads a file of the Moses model."""
    if path.endswith((".arpa", "arpa.ini")):
        return known.ARPA
    if path.endswith(("alternatives.ini", "phrase-table2", "reordering-table2", "words")):
        return known.ALTERNATIVES
    return known.MOSES_PACKED if path.endswith((".gz", "packed.ini")) else known.MOSES


def _on_training(path):
    """What reads a file of a training: the training that goes on, and its report, which alone reads curves."""
    training = path.split("/")[1]
    going_on = [] if path.endswith(".csv") else [known.RESUMED[training]]
    return going_on + known.REPORTS[training]


def _is_read(path):
    """Whether the file of a model that a training wrote is the training's own, and read by it or by its report."""
    _, training, folder, *rest = path.split("/")
    if training == "recipe" and rest[:1] == ["stages"] and len(rest) > 2:
        return rest[-1] in OF_STAGES
    return folder in WORK_DIRECTORIES and Path(path).suffix not in (".png", ".md", ".html")


def _target(path, operations):
    suffix = Path(path).suffix
    if suffix == ".npy":
        mutations = ARRAYS
    elif suffix == ".yaml":
        mutations = [*YAML, *YAML, *TEXT, *BYTES[:8]]
    elif suffix == ".gz":
        mutations = [*BYTES, *[recompressed] * len(BYTES)]
    elif suffix == ".bin":
        mutations = [*BYTES, *LM_TABLES, *LM_TABLES]
    elif suffix == ".npz":
        mutations = ARCHIVES
    else:
        mutations = [*TEXT, *TEXT, *BYTES]
    return Target(path, operations, mutations)
