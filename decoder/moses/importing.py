"""Import of a Moses model, as its moses.ini describes it, into a model directory, with the same scores."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import yaml

from phrasebeam.base.config import parse_config, save_config
from phrasebeam.base.errors import ConfigError, FormatError, ModelError
from phrasebeam.base.files import atomic_directory, atomic_file, check_keeps_inputs, real_path
from phrasebeam.base.memory_bound import DEFAULT_MEMORY
from phrasebeam.base.progress import log, stage
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings, TextLanguages
from phrasebeam.decoder.model.description import MODEL_FORMAT, LanguageModelFile, ModelDescription
from phrasebeam.decoder.model.readme import save_model
from phrasebeam.decoder.model.replacement import check_replaceable
from phrasebeam.decoder.moses.alternatives import join_alternatives, open_alternatives
from phrasebeam.decoder.moses.ini import MosesModel, read_moses_ini
from phrasebeam.decoder.moses.reordering import read_reordering_tables
from phrasebeam.decoder.moses.sections import Setting
from phrasebeam.decoder.moses.sparse import named_features, save_sparse
from phrasebeam.decoder.moses.tables import PhraseTableReader, SparseColumns
from phrasebeam.decoder.raw_text.truecaser import Truecaser, truecaser_paths
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.tables.provenance import DataSize, Stage, check_output, file_digests, signature, version
from phrasebeam.decoder.tables.score_codes import EXACT, quantize_scores
from phrasebeam.decoder.tables.table_writer import TableSizes
from phrasebeam.lm.arpa import read_arpa
from phrasebeam.lm.language_model import LanguageModel, is_binary
from phrasebeam.lm.probing_writer import write_probing
from phrasebeam.lm.text.fixed_vocabulary import FixedVocabulary
from phrasebeam.lm.text.text_vocabulary import TextVocabulary

MOSES_LONGEST = 20  # words of a phrase
MOSES_SEARCH: dict[str, Setting] = {  # Moses' defaults
    "algorithm": "stack",
    "pop_limit": 1000,
    "stack": 200,
    "beam_threshold": 1e-5,
    "distortion_limit": -1,
    "max_phrase_length": MOSES_LONGEST,
}


class _ImportedTables(NamedTuple):
    """Data about the tables of a model, known after they are read."""

    sizes: TableSizes
    source_words: int
    target_words: int
    without_reordering: int  # pairs that the reordering tables lack, summed over these tables
    sparse_names: list[str]  # names of the features of pairs, prefixed with the names of their tables
    sparse: SparseColumns


def import_moses(
    ini: str | Path,
    output: str | Path,
    memory: int = DEFAULT_MEMORY,
    preprocessing: RawTextSettings | None = None,
    truecasers: tuple[str | Path, str | Path] | None = None,
    is_forced: bool = False,
    languages: TextLanguages | None = None,
    score_bits: int = EXACT,
) -> ModelDescription:
    """Convert the Moses model of the moses.ini `ini` to a model in the directory `output`.

    An existing model is replaced if it was imported from the same files or `is_forced`.

    `preprocessing`: how its training data were made from raw text; translate does the same. If they were truecased,
    `truecasers` are the files that Moses' train-truecaser.perl wrote for source and target. search.yaml in the model
    gets the search limits of the moses.ini. `languages`: the languages of a model of tokens; `score_bits`: bits of each
    score of a phrase pair, EXACT or 8. Raises ConfigError, FormatError or OSError; `output` is then left as it was.
    """
    output = real_path(output)
    check_output(output)
    moses = read_moses_ini(ini)
    with atomic_directory(output) as directory:
        paths = {"moses_ini": Path(ini), **_tables(moses)}
        paths |= {name.replace("lm", "language_model", 1)[:-4]: path for name, path in _language_models(moses).items()}
        paths |= _copy_truecasers(preprocessing, truecasers, directory)
        if preprocessing:
            from phrasebeam.decoder.tokenizers.registry import learn_tokenizers  # slow, see _raw_text of translate

            learn_tokenizers(preprocessing, ((), ()), directory)
        check_keeps_inputs([output], paths.values())
        data: dict[str, object] = {**file_digests(paths)}
        settings = _settings(moses, preprocessing, score_bits)
        check_replaceable(output, "import-moses", settings, data, is_forced=is_forced)
        for name, path in _language_models(moses).items():
            _import_language_model(path, directory / name, memory)
        found = _import_tables(moses, directory, memory)
        if moses.reordering_tables:
            data["pairs_without_reordering"] = found.without_reordering
        loss = quantize_scores(directory / "phrases") if score_bits != EXACT else None
        description = _describe(moses, directory, found, data, preprocessing, languages, settings)
        description = description.model_copy(update={"score_loss": loss})
        _save_search(ini, moses, description.max_source_phrase_length, directory / "search.yaml")
        has_pair_features = save_sparse(found.sparse_names, found.sparse, moses, directory)
        weights = moses.weights.model_copy(update={"pair_sparse": 1.0} if has_pair_features else {})
        save_config(weights, directory / "weights.yaml")
        return save_model(description, directory)


def _tables(moses: MosesModel) -> dict[str, Path]:
    """The paths of all tables by the names of their digests."""
    paths = {f"phrase_table{i if i > 1 else ''}": table.path for i, table in enumerate(moses.tables, 1)}
    reorderings = enumerate(moses.reordering_tables, 1)
    return paths | {f"reordering_table{i if i > 1 else ''}": path for i, (path, _) in reorderings}


def _import_tables(moses: MosesModel, directory: Path, memory: int) -> _ImportedTables:
    """Write the model's phrases, reordering and vocabularies to `directory`, which contains its language models.

    Several tables are joined. Raises FormatError, naming the line.
    """
    vocabularies, n_tables = (TextVocabulary(), TextVocabulary()), len(moses.tables)
    folders = [directory / f".table{i}" for i in range(n_tables)] if n_tables > 1 else [directory]
    readers, lacking = list[PhraseTableReader](), list[list[int]]()
    for table, folder in zip(moses.tables, folders):
        folder.mkdir(exist_ok=True)
        readers.append(PhraseTableReader(table.path, table.n_scores, *vocabularies))
        sizes = readers[-1].read(folder / "phrases", memory // 2)
        lacking.append(_read_reordering(moses, folder, vocabularies, readers[-1]))
    missing = [sum(numbers) for numbers in zip(*lacking)]
    for (path, _), n_missing in zip(moses.reordering_tables, missing):
        if n_missing == sum(reader.number for reader in readers):
            raise FormatError(path, "none of its pairs is in the phrase table; give the table of the same model")
    for side, vocabulary in zip(("source", "target"), vocabularies):
        vocabulary.save(directory / f"{side}.vocab")
    names = [f"{table.name}_{name}" for table, reader in zip(moses.tables, readers) for name in reader.sparse_names]
    sparse = readers[0].sparse
    if n_tables > 1:
        lms = [directory / name for name in _language_models(moses)]
        opened = open_alternatives(moses, readers, folders, lms, FixedVocabulary(directory / "target.vocab"))
        sizes, sparse = join_alternatives(opened, directory, memory // 2)
        for folder in folders:
            shutil.rmtree(folder)
    n_source, n_target = map(len, vocabularies)
    return _ImportedTables(sizes, n_source, n_target, sum(missing), names, sparse)


def _read_reordering(
    moses: MosesModel, folder: Path, vocabularies: tuple[TextVocabulary, TextVocabulary], reader: PhraseTableReader
) -> list[int]:
    """Read all reordering tables for the phrase table in `folder`; return how many of its pairs each of them lacks."""
    if n_repeated := len(reader.repeated):
        found = f"{n_repeated} lines repeat the phrases of another line; each is a separate translation, as in Moses"
        log.warning("%s: %s", reader.path, found)
    if not moses.reordering_tables:
        return []
    paths = folder / "phrases", vocabularies, folder / "reordering", reader.repeated
    return read_reordering_tables(moses.reordering_tables, *paths)


def _language_models(moses: MosesModel) -> dict[str, Path]:
    """The paths of the language models, by the names of their files in the model directory."""
    return {f"lm{i}.bin" if i > 1 else "lm.bin": path for i, path in enumerate(moses.language_models, 1)}


def _copy_truecasers(
    preprocessing: RawTextSettings | None, truecasers: tuple[str | Path, str | Path] | None, directory: Path
) -> dict[str, Path]:
    """Copy the truecasers, if any, to `directory`; return their paths by names of their digests. Raises ConfigError."""
    if (preprocessing is not None and preprocessing.casing == "truecase") != (truecasers is not None):
        raise ConfigError("truecasers and preprocessing with casing 'truecase' need each other; give both or neither")
    paths = dict(zip(("truecaser_source", "truecaser_target"), map(Path, truecasers or ())))
    for path, copy in zip(paths.values(), truecaser_paths(directory)):
        Truecaser.load(path)  # raises FormatError if it cannot be read
        shutil.copyfile(path, copy)
    return paths


def _import_language_model(path: Path, output: Path, memory: int) -> None:
    with stage("reading the language model"):
        if is_binary(path):
            LanguageModel.load(path)  # raises FormatError if it cannot be queried
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
    found: _ImportedTables,
    data: dict[str, object],
    preprocessing: RawTextSettings | None,
    languages: TextLanguages | None,
    settings: dict[str, object],
) -> ModelDescription:
    files = [DataSize(name=name, file=entry["file"]) for name, entry in data.items() if isinstance(entry, dict)]
    return ModelDescription(
        format=MODEL_FORMAT,
        version=version(),
        signature=signature(settings, {name: entry for name, entry in data.items() if isinstance(entry, dict)}),
        sentence_pairs=0,
        source_words=found.source_words,
        target_words=found.target_words,
        max_source_phrase_length=found.sizes.longest_source,
        max_target_phrase_length=found.sizes.longest_target,
        max_pairs_per_source_phrase=found.sizes.most_pairs,
        language_model_order=LanguageModel.load(directory / "lm.bin").order,
        language_models=[LanguageModelFile(file=name) for name in _language_models(moses)],
        reordering=moses.reordering,
        preprocessing=preprocessing,
        languages=languages,
        moses_names=[*named_features(moses, bool(found.sparse_names))],
        settings=settings,
        data=data,
        stages=[Stage(command="import-moses", version=version(), data=files)],
    )


def _settings(moses: MosesModel, preprocessing: RawTextSettings | None, score_bits: int) -> dict[str, object]:
    """The settings in model.yaml."""
    settings: dict[str, object] = {"imported_from": "moses", "left_out": sorted(moses.left_out)}
    settings |= {"unweighted": list(moses.unweighted)} if moses.unweighted else {}
    settings |= {"score_bits": score_bits} if score_bits != EXACT else {}
    return settings | ({"preprocessing": preprocessing.model_dump()} if preprocessing else {})


def _save_search(ini: str | Path, moses: MosesModel, longest: int, path: Path) -> None:
    """Write Moses' limits of the search to search.yaml at `path`; `longest`: words of the table's longest phrase."""
    limits = MOSES_SEARCH | moses.search
    # Not longer than the table's phrases, so as to leave room for a large distortion limit.
    limits["max_phrase_length"] = min(int(limits["max_phrase_length"]), longest, MOSES_LONGEST)
    search = parse_config(limits, SearchSettings, str(ini))
    with atomic_file(path) as file:
        values = search.model_dump(mode="json", include=set(limits))
        file.write(yaml.safe_dump({"search": values}, sort_keys=False).encode("utf-8"))
