"""The files that are damaged: which operations read each, and which kinds of damage suit it."""

from pathlib import Path
from typing import NamedTuple

from phrasebeam.training.common.derived_model import WORK_DIRECTORIES
from tests.robustness import operations as known
from tests.robustness.array_mutations import ARRAYS
from tests.robustness.byte_mutations import BYTES, Mutation
from tests.robustness.file_mutations import FILES, FileMutation
from tests.robustness.operations import Operation
from tests.robustness.text_mutations import TEXT, recompressed
from tests.robustness.yaml_mutations import YAML

MODELS = ("model", "pairs", "plain")


class Target(NamedTuple):
    """A file that operations read."""

    path: str  # from the directory of the materials
    operations: list[Operation]
    mutations: list[Mutation]
    file_mutations: list[FileMutation]  # of what is not the content
    model: str | None = None  # the model directory that it is part of
    is_config: bool = False  # settings may ask for any amount of work


def all_targets(directory: Path) -> list[Target]:
    """All of them, in an order that is always the same."""
    targets = [_of_model(directory, model, path) for model in MODELS for path in _files(directory, model)]
    targets += [_target(path, _of_moses(path)) for path in _files(directory, "moses")]
    targets += [_target(path, known.RESUMED[path.split("/")[1]]) for path in _files(directory, "runs") if _is_work(path)]
    targets += [_target(f"dev.{name}", known.INPUTS) for name in ("de", "prefix", "markup")]
    training = [*known.INPUTS, *known.LEARNING]
    targets += [_target(f"few.{name}", training) for name in ("de", "en", "align")]
    targets += [_target(f"train.{name}", known.BUILDING) for name in ("de", "en")]
    targets += [_target("train.de", known.ALIGNING), _target("train.align", known.BUILDING[:1])]
    targets += [_target(f"train.{name}.gz", known.PACKED) for name in ("de", "en")]
    targets += [_target("target.classes", known.CLASSES)]
    targets += [_target(f"{side}.paths", known.PATHS) for side in ("source", "target")]
    targets += [_target(f"truecaser.{side}", known.TRUECASERS) for side in ("de", "en")]
    targets += [_target("raw.de", known.RAW), _target("few.tasks", known.TASKS)]
    targets += [_target(name, known.SCORES) for name in ("few.hyp", "few.en")]
    targets += [_target("rerank.weights", known.RERANKING[:1]), *[_target("few.nbest", known.RERANKING)] * 2]
    configs = [_target(name, [operation])._replace(is_config=True) for name, operation in known.CONFIGS.items()]
    return targets + configs


def _files(directory, folder):
    return sorted(str(path.relative_to(directory)) for path in (directory / folder).rglob("*") if path.is_file())


def _of_model(directory, model, path):
    operations = [*known.translations(model)] * 3 + known.trainings(model)
    operations += {"model": [*known.EXPLAIN, *known.JOIN], "pairs": known.RAW * 3, "plain": known.EXPORT * 2}[model]
    return _target(path, operations)._replace(model=model, file_mutations=FILES)


def _of_moses(path):
    if path.endswith((".arpa", "arpa.ini")):
        return known.ARPA
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
    elif suffix == ".bin":
        mutations = BYTES
    else:
        mutations = [*TEXT, *TEXT, *BYTES]
    return Target(path, operations, mutations, [])
