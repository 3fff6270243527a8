"""The files that are damaged: which operations read each, and which kinds of damage suit it."""

from pathlib import Path
from typing import NamedTuple

from phrasebeam.decoder.tables.model_files import WORK_DIRECTORIES
from tests.robustness import operations as known
from tests.robustness.array_mutations import ARRAYS
from tests.robustness.byte_mutations import BYTES, Mutation
from tests.robustness.operations import Operation
from tests.robustness.text_mutations import TEXT, recompressed
from tests.robustness.yaml_mutations import YAML

MODELS = ("model", "pairs", "plain")
UNREAD = ("alignment", "README.md")  # of a model: only people have a use for it


class Target(NamedTuple):
    """A file that operations read."""

    path: str  # from the directory of the materials
    operations: list[Operation]
    mutations: list[Mutation]
    model: str | None = None  # the model directory that it is part of
    is_config: bool = False  # settings may ask for any amount of work


def all_targets(directory: Path) -> list[Target]:
    """The files of the models, then of trainings, inputs and configurations; always in the same order."""
    return [
        *(_of_model(model, path) for model in MODELS for path in _files(directory, model)),
        *(_target(path, [known.RESUMED[path.split("/")[1]]]) for path in _files(directory, "runs") if _is_work(path)),
        *(_target(path, _importing(path)) for path in _files(directory, "moses")),
        *_inputs(),
        *(_target(name, [operation])._replace(is_config=True) for name, operation in known.CONFIGS.items()),
    ]


def _inputs():
    translating = known.translations("model")
    yield from (_target(f"dev.{name}", translating) for name in ("de", "prefix", "markup", "plf", "columns"))
    yield from (_target(f"few.{name}", translating + known.trainings("plain")) for name in ("de", "en", "align"))
    yield from (_target(f"train.{side}", known.BUILDING + known.ALIGNING) for side in ("de", "en"))
    yield from (_target(f"train.{side}.gz", known.PACKED) for side in ("de", "en"))
    yield _target("train.align", known.BUILDING[:1])
    yield _target("target.classes", known.CLASSES)
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
    operations = [*known.translations(model), known.check(model)] * 3 + known.trainings(model)
    operations += {"model": known.EXPLAIN * 2 + known.JOIN * 2, "pairs": known.RAW * 3, "plain": known.EXPORT * 3}[
        model
    ]
    return _target(path, operations)._replace(model=model)


def _importing(path):
    """The import that reads a file of the Moses model."""
    if path.endswith((".arpa", "arpa.ini")):
        return known.ARPA
    if path.endswith(("alternatives.ini", "phrase-table2", "words")):
        return known.ALTERNATIVES
    return known.MOSES_PACKED if path.endswith((".gz", "packed.ini")) else known.MOSES


def _is_work(path):
    """Whether the file of a model that a training wrote is the training's own, and read by it."""
    return path.split("/")[2] in WORK_DIRECTORIES and Path(path).suffix not in (".png", ".csv")


def _target(path, operations):
    suffix = Path(path).suffix
    if suffix == ".npy":
        mutations = ARRAYS
    elif suffix == ".yaml":
        mutations = [*YAML, *YAML, *TEXT, *BYTES[:8]]
    elif suffix == ".gz":
        mutations = [*BYTES, *[recompressed] * len(BYTES)]
    elif suffix in (".bin", ".npz"):
        mutations = BYTES
    else:
        mutations = [*TEXT, *TEXT, *BYTES]
    return Target(path, operations, mutations)
