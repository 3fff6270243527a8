"""No command changes files that are not its own: neither what it was not asked to write, nor what only looks so."""

import shutil

import pytest

from phrasebeam.base.errors import SmtError
from phrasebeam.cli import main
from phrasebeam.decoder.tables.model_files import WORK_DIRECTORIES
from phrasebeam.training.common.checkpoint import SignedSection, begin
from phrasebeam.training.common.shared_file import SMALL, share
from tests.decoder.models import random_toy

TEXTS = "--source text --target text --dev-source text --dev-reference text"
DATA = f"{TEXTS} --alignment links"
COMMANDS = {  # each with --output out
    "train-model": "train-model --source text --target text",
    "import-moses": "import-moses text",
    "export-moses": "export-moses --model toy",
    "join-features": "join-features --model toy --features toy2",
    "tune": "tune --model toy --source text --reference text",
    "train-maxforce": f"train-maxforce --model toy {DATA}",
    "train-ranking": f"train-ranking --model toy {DATA}",
    "train-expected-bleu": f"train-expected-bleu --model toy {DATA}",
    "train": f"train {TEXTS}",
    "demo": "demo --sentences 50",
}
DIRECTORIES = {  # files of somebody else
    "other": {"notes": "mine", "weights.yaml": "mine", "lm.bin": "mine"},
    "model": {"model.yaml": "name: my model\n", "phrases/slots.npy": "mine", "README.md": "mine"},
    "unfinished": {".film.download.unfinished": "mine"},
    **{name: {f"{name}/notes": "mine", "weights.yaml": "mine", "alignment": "mine"} for name in WORK_DIRECTORIES},
    "work": {"tuning/work.yaml": "mine", "recipe/run.yaml": "stages: mine\n", "alignment": "mine"},
}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    directory = tmp_path_factory.mktemp("models")
    for name in ("toy", "toy2"):
        (directory / name).mkdir()
        random_toy(directory / name, 1)
    return directory


def write(directory, files):
    for name, content in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(content)


def contents(directory):
    return {
        path.relative_to(directory).as_posix(): path.read_bytes() for path in directory.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize("force", ["", " --force"])
@pytest.mark.parametrize("files", DIRECTORIES.values(), ids=DIRECTORIES)
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_directory_of_others_is_refused(models, tmp_path, monkeypatch, capsys, command, files, force):
    monkeypatch.chdir(tmp_path)
    for name in ("toy", "toy2"):
        (tmp_path / name).symlink_to(models / name)
    write(tmp_path, {"text": "a b\n", "links": "0-0\n"})
    write(tmp_path / "out", files)
    before = contents(tmp_path), contents(models)
    assert main(f"{command} --output out{force}".split()) == 2
    error = capsys.readouterr().err
    assert error.startswith("phrasebeam: ") and error.endswith("choose another directory\n"), error
    assert (contents(tmp_path), contents(models)) == before


@pytest.mark.parametrize("content", [b"my notes, no final newline", b"my notes\n", bytes(range(256)), b"\0"])
def test_a_journal_is_no_other_file(models, tmp_path, capsys, content):
    write(tmp_path, {"text": "a b\n", "confirmed": "s t\n"})
    (tmp_path / "notes").write_bytes(content)
    given = f"translate --model {models / 'toy'} --input {tmp_path / 'text'} --adapt-journal {tmp_path / 'notes'}"
    for more in ("", f" --adapt {tmp_path / 'confirmed'}"):
        assert main((given + more).split()) == 2
        assert "this is no journal" in capsys.readouterr().err
        assert (tmp_path / "notes").read_bytes() == content


@pytest.mark.parametrize("name", ["journal", "confirmed", "toy/model.yaml", "toy/weights.yaml", "toy/lm.bin"])
@pytest.mark.parametrize("option", ["output", "nbest-output --nbest 2", "lattice-output"])
def test_no_output_of_translate_is_a_file_that_it_reads(models, tmp_path, monkeypatch, capsys, name, option):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(models / "toy", tmp_path / "toy")
    write(tmp_path, {"text": "a b\n", "confirmed": "s t\n", "journal": ""})
    option, _, more = option.partition(" ")
    given = f"translate --model toy --input text --adapt confirmed --adapt-journal journal {more}".split()
    before = contents(tmp_path)
    assert main([*given, f"--{option}", name]) == 2
    assert "is an input" in capsys.readouterr().err
    assert contents(tmp_path) == before


@pytest.mark.parametrize("command", ["train-model --source out/text --target out/text", "export-moses --model out/toy"])
def test_a_directory_that_is_replaced_has_no_input(models, tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    is_export = command.startswith("export")
    assert not is_export or main(["export-moses", "--model", str(models / "toy"), "--output", "out"]) == 0
    if not is_export:
        shutil.copytree(models / "toy2", tmp_path / "out")
    shutil.copytree(models / "toy", tmp_path / "out" / "toy")
    write(tmp_path / "out", {"text": "a b\n"})
    before = contents(tmp_path)
    assert main([*command.split(), "--output", "out", "--force"]) == 2
    assert "is an input" in capsys.readouterr().err and contents(tmp_path) == before


def test_an_export_with_other_files_is_replaced_only_by_force(models, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    again = ["export-moses", "--model", str(models / "toy"), "--output", "out"]
    assert main(again) == main(again) == 0
    write(tmp_path / "out", {"notes": "mine"})
    assert main(again) == 2 and "has notes, which is not part of the export" in capsys.readouterr().err
    assert (tmp_path / "out" / "notes").read_text() == "mine"
    assert main([*again, "--force"]) == 0 and not (tmp_path / "out" / "notes").exists()


@pytest.mark.parametrize(
    "files", [{"dense.npy": "mine"}, {"run.yaml": "mine"}, {"run.yaml": "signature: a\nmine: 1\n"}]
)
def test_a_training_begins_in_no_directory_of_others(tmp_path, files):
    write(tmp_path, files)
    with pytest.raises(SmtError):
        begin(tmp_path / "run.yaml", SignedSection(signature="mine"))
    assert contents(tmp_path) == {name: content.encode() for name, content in files.items()}


def test_large_files_beside_a_model_are_copied(tmp_path):
    (tmp_path / "notes").write_bytes(bytes(SMALL + 1))
    before = (tmp_path / "notes").stat()
    share(tmp_path / "notes", tmp_path / "copy", is_own=False)
    after = (tmp_path / "notes").stat()
    assert (after.st_mode, after.st_nlink) == (before.st_mode, 1)
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "notes").read_bytes()
