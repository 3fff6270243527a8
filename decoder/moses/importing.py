"""Import of a Moses model, as its moses.ini describes it, into a model directory, with the same scores."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from phrasebeam.base.config import parse_config, save_config
from phrasebeam.base.errors import ConfigError, FormatError, ModelError
from phrasebeam.base.files import atomic_directory, atomic_file
from phrasebeam.base.memory_bound import DEFAULT_MEMORY
from phrasebeam.base.progress import stage
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings
from phrasebeam.decoder.model.description import MODEL_FORMAT, LanguageModelFile, ModelDescription, save_description
from phrasebeam.decoder.moses.ini import MosesModel, read_moses_ini
from phrasebeam.decoder.moses.reordering import read_reordering_table
from phrasebeam.decoder.moses.sections import Setting
from phrasebeam.decoder.moses.sparse import save_sparse
from phrasebeam.decoder.moses.tables import PhraseTableReader
from phrasebeam.decoder.raw_text.truecaser import Truecaser, truecaser_paths
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.tables.provenance import check_output, file_digests, signature, version
from phrasebeam.decoder.tables.table_writer import TableSizes
from phrasebeam.lm.arpa import read_arpa
from phrasebeam.lm.language_model import LanguageModel, is_binary
from phrasebeam.lm.probing_writer import write_probing
from phrasebeam.lm.text.vocabulary import Vocabulary

MOSES_LONGEST = 20  # words of a phrase
MOSES_SEARCH: dict[str, Setting] = {  # Moses' defaults
    "algorithm": "stack",
    "pop_limit": 1000,
    "stack": 200,
    "beam_threshold": 1e-5,
    "distortion_limit": -1,
    "table_limit": 20,
    "max_phrase_length": MOSES_LONGEST,
}


def import_moses(
    ini: str | Path,
    output: str | Path,
    memory: int = DEFAULT_MEMORY,
    preprocessing: RawTextSettings | None = None,
    truecasers: tuple[str | Path, str | Path] | None = None,
) -> ModelDescription:
    """Convert the Moses model of the moses.ini `ini` to a model in the directory `output`; a model there is replaced.

    `preprocessing`: how its training data were made from raw text, which translate --raw repeats; if they were
    truecased, `truecasers` are the files that Moses' train-truecaser.perl wrote for source and target. search.yaml in
    the model takes the limits of the search from the moses.ini. Raises ConfigError, FormatError or OSError, and then
    leaves `output` as it was.
    """
    output = Path(output).resolve()
    check_output(output)
    if preprocessing:
        from phrasebeam.decoder.raw_text.tokenizer import check_languages  # slow, see _raw_text of translate

        check_languages(preprocessing)
    moses = read_moses_ini(ini)
    source, target = Vocabulary(), Vocabulary()
    with atomic_directory(output) as directory:
        paths = {"moses_ini": Path(ini), "phrase_table": moses.phrase_table}
        paths |= {name.replace("lm", "language_model", 1)[:-4]: path for name, path in _language_models(moses).items()}
        if moses.reordering_table:
            paths["reordering_table"] = moses.reordering_table
        paths |= _copy_truecasers(preprocessing, truecasers, directory)
        data: dict[str, object] = {**file_digests(paths)}
        for name, path in _language_models(moses).items():
            _import_language_model(path, directory / name, memory)
        reader = PhraseTableReader(moses.phrase_table, moses.n_scores, source, target)
        sizes = reader.read(directory / "phrases", memory // 2)
        if moses.reordering_table and moses.reordering:
            data["pairs_without_reordering"] = read_reordering_table(
                moses.reordering_table,
                moses.reordering,
                directory / "phrases",
                (source, target),
                directory / "reordering",
            )
        source.save(directory / "source.vocab")
        target.save(directory / "target.vocab")
        description = _describe(moses, directory, (len(source), len(target)), sizes, data, preprocessing)
        _save_search(ini, moses, description.max_source_phrase_length, directory / "search.yaml")
        has_sparse = save_sparse(reader, moses.table_name, moses.sparse_weights, directory)
        weights = moses.weights.model_copy(update={"pair_sparse": 1.0}) if has_sparse else moses.weights
        save_config(weights, directory / "weights.yaml")
        return save_description(description, directory)


def _language_models(moses: MosesModel) -> dict[str, Path]:
    """The paths of the language models by the names that their files get in the model directory."""
    return {f"lm{i}.bin" if i > 1 else "lm.bin": path for i, path in enumerate(moses.language_models, 1)}


def _copy_truecasers(
    preprocessing: RawTextSettings | None, truecasers: tuple[str | Path, str | Path] | None, directory: Path
) -> dict[str, Path]:
    """Copy the truecasers, if any, to `directory`; their paths by the names of their digests. Raises ConfigError."""
    if (preprocessing is not None and preprocessing.casing == "truecase") != (truecasers is not None):
        raise ConfigError("truecasers and preprocessing with casing 'truecase' need each other; give both or neither")
    paths = dict(zip(("truecaser_source", "truecaser_target"), map(Path, truecasers or ())))
    for path, copy in zip(paths.values(), truecaser_paths(directory)):
        Truecaser.load(path)  # raises FormatError where it cannot be read
        shutil.copyfile(path, copy)
    return paths


def _import_language_model(path: Path, output: Path, memory: int) -> None:
    with stage("reading the language model"):
        if is_binary(path):
            LanguageModel.load(path)  # raises FormatError where it cannot be queried
            shutil.copyfile(path, output)
            return
        try:
            with TemporaryDirectory(prefix=".lm.", dir=output.parent) as scratch:
                write_probing(read_arpa(path, Path(scratch)), output, memory)
        except ModelError as error:
            raise FormatError(path, str(error)) from None


def _describe(
    moses: MosesModel,
    directory: Path,
    n_words: tuple[int, int],
    sizes: TableSizes,
    data: dict[str, object],
    preprocessing: RawTextSettings | None,
) -> ModelDescription:
    settings: dict[str, object] = {"imported_from": "moses", "left_out": sorted(moses.left_out)}
    if preprocessing:
        settings["preprocessing"] = preprocessing.model_dump()
    return ModelDescription(
        format=MODEL_FORMAT,
        version=version(),
        signature=signature(settings, {name: entry for name, entry in data.items() if isinstance(entry, dict)}),
        sentence_pairs=0,
        source_words=n_words[0],
        target_words=n_words[1],
        max_source_phrase_length=sizes.longest_source,
        max_target_phrase_length=sizes.longest_target,
        max_pairs_per_source_phrase=sizes.most_pairs,
        language_model_order=LanguageModel.load(directory / "lm.bin").order,
        language_models=[LanguageModelFile(file=name) for name in _language_models(moses)],
        reordering=moses.reordering,
        preprocessing=preprocessing,
        settings=settings,
        data=data,
    )


def _save_search(ini: str | Path, moses: MosesModel, longest: int, path: Path) -> None:
    """Write Moses' limits of the search to search.yaml at `path`; `longest`: words of the table's longest phrase."""
    limits = MOSES_SEARCH | moses.search
    # No longer than the table's phrases, so that they leave a large distortion limit what room there is.
    limits["max_phrase_length"] = min(int(limits["max_phrase_length"]), longest, MOSES_LONGEST)
    search = parse_config(limits, SearchSettings, str(ini))
    with atomic_file(path) as file:
        values = search.model_dump(mode="json", include=set(limits))
        file.write(yaml.safe_dump({"search": values}, sort_keys=False).encode("utf-8"))
