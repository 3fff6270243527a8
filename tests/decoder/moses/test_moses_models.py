"""Whole models: out to Moses' formats and in again with the same translations, and the two commands."""

import random
import re
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.config import load_config, save_config
from phrasebeam.base.errors import ConfigError, FormatError, ModelError
from phrasebeam.cli import main
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.moses.exporting import export_moses
from phrasebeam.decoder.moses.importing import import_moses
from phrasebeam.decoder.moses.score_texts import probabilities
from phrasebeam.decoder.output.rendering import render_nbest
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translate_settings import ModelSearch
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import ALL_REORDERINGS, assert_sound, random_lm, random_toy

pytestmark = pytest.mark.kernels

LINES = ["a b c x", "", "b d a a", "x", "c b", "a b d"]


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    return random_toy(tmp_path_factory.mktemp("toy"), 7, most=3).directory


@pytest.fixture(scope="module")
def exported(toy, tmp_path_factory):
    directory = tmp_path_factory.mktemp("exported")
    export_moses(toy, directory)
    return directory


@pytest.fixture
def moses(tmp_path, exported):
    return shutil.copytree(exported, tmp_path / "moses")


@pytest.mark.needs_jit
@settings(max_examples=20)
@given(st.integers(0, 2**20), st.none() | ALL_REORDERINGS, st.booleans())
def test_out_and_in_again(seed, reordering, early):
    with tempfile.TemporaryDirectory() as directory:
        out_and_in_again(Path(directory), seed, reordering, early)


def out_and_in_again(tmp_path, seed, reordering, early):
    toy = random_toy(tmp_path / "toy", seed, most=4, reordering=reordering, early=early)
    if early:
        path = toy.directory / "weights.yaml"
        path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | {"distortion": 0.0}))
    export_moses(toy.directory, tmp_path / "moses")
    description = import_moses(tmp_path / "moses" / "moses.ini", tmp_path / "again")
    if reordering:
        found, default = description.reordering.model_dump(), reordering.ln_default
        assert found.pop("ln_default") == pytest.approx(default, abs=1e-6)
        assert found.items() <= (reordering.model_dump() | {"collapse": False}).items()
    else:
        assert description.reordering is None
    search = load_config(tmp_path / "again" / "search.yaml", ModelSearch).search
    longest = description.max_source_phrase_length
    assert search == SearchSettings(max_phrase_length=longest)  # what the toy has none of is ours by default
    before, after = Decoder.load(toy.directory, search), Decoder.load(tmp_path / "again", search)
    np.testing.assert_array_equal(before.model.tables.phrases.ln_scores, after.model.tables.phrases.ln_scores)
    np.testing.assert_array_equal(before.model.tables.ln_reordering, after.model.tables.ln_reordering)
    for old, new in zip(before.translate_all(LINES), after.translate_all(LINES)):
        assert (new.text, new.phrases) == (old.text, old.phrases)
        assert new.score == pytest.approx(old.score, abs=1e-4)


def test_a_weight_for_each_direction_is_one_for_each_orientation(tmp_path):
    toy = random_toy(tmp_path / "toy", 3, reordering=Reordering(orientation="hier", kind="leftright", collapse=True))
    export_moses(toy.directory, tmp_path / "moses")
    backward, forward = (repr(weight) for weight in open_model(toy.directory).weights.reordering)
    text = (tmp_path / "moses" / "moses.ini").read_text()
    assert "num-features=4 type=hier-leftright-bidirectional-fe-allff\n" in text
    assert f"LexicalReordering0= {backward} {backward} {forward} {forward}\n" in text


@settings(max_examples=200)
@given(st.lists(st.floats(-100, 0, width=32), min_size=1, max_size=5))
def test_printed_probabilities_give_back_the_same_logarithms(ln_scores):
    ln_scores = np.array([ln_scores], np.float32)
    (row,) = probabilities(ln_scores).rows()
    again = np.log([float(text) for text in row]).astype(np.float32)
    np.testing.assert_allclose(again, ln_scores[0], rtol=1e-6, atol=1e-15)


REPEATED = """\
casa ||| house ||| 0.7 0.75 ||| 0-0
casa ||| house ||| 0.1 0.05 ||| 0-0
casa ||| this ||| 0.1 0.1 ||| 0-0
essa casa ||| this house ||| 0.7 0.5 ||| 0-0 1-1
"""
REPEATED_INI = """\
[mapping]
0 T 0
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=T num-features=2 path=table
LexicalReordering name=R type=wbe-msd-bidirectional-fe-allff path=reordering
Distortion
KENLM name=LM0 path=lm.arpa
[weight]
UnknownWordPenalty0= 1
WordPenalty0= -1
PhrasePenalty0= 0.2
T= 0.25 0.5
R= 0.1 0.2 0.3 0.4 0.5 0.6
Distortion0= 0.3
LM0= 0.5
"""


def test_phrase_pairs_that_are_repeated_are_options_each(tmp_path, caplog):
    random_lm(tmp_path, random.Random(1), 2)
    (tmp_path / "table").write_text(REPEATED)
    (tmp_path / "reordering").write_text("casa ||| house ||| 0.5 0.25 0.25 0.5 0.25 0.25\n")
    (tmp_path / "moses.ini").write_text(REPEATED_INI)
    import_moses(tmp_path / "moses.ini", tmp_path / "model")
    assert "table: 1 lines repeat the phrases of another line; each is a separate translation" in caplog.text
    assert_sound(tmp_path / "model")
    first, second = (one for one in Decoder.load(tmp_path / "model").nbest("casa", 10) if one.text == "house")
    better, worse = np.log([0.7, 0.75]), np.log([0.1, 0.05])
    assert first.features["translation"] == pytest.approx(better, abs=1e-6)
    assert second.features["translation"] == pytest.approx(worse, abs=1e-6)
    assert second.features["reordering"] == first.features["reordering"] != [0.0] * 6
    assert first.score - second.score == pytest.approx((better - worse) @ [0.25, 0.5], abs=1e-6)
    export_moses(tmp_path / "model", tmp_path / "moses")
    import_moses(tmp_path / "moses" / "moses.ini", tmp_path / "again")
    lists = [Decoder.load(tmp_path / name).nbest("essa casa", 20) for name in ("model", "again")]
    assert [(one.text, pytest.approx(one.score, abs=1e-4)) for one in lists[0]] == [(o.text, o.score) for o in lists[1]]


def test_an_import_is_repeatable_and_an_export_too(tmp_path, toy, moses):
    for name, memory in (("first", 2**26), ("second", 2**34)):
        import_moses(moses / "moses.ini", tmp_path / name, memory)
        export_moses(toy, tmp_path / f"out-{name}")
    for first, second in (("first", "second"), ("out-first", "out-second")):
        assert contents(tmp_path / first) == contents(tmp_path / second)


def contents(directory):
    return {path.relative_to(directory): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_scores_in_8_bits(tmp_path, toy, moses):
    """So few different scores are all kept."""
    found = import_moses(moses / "moses.ini", tmp_path / "coded", score_bits=8)
    assert found.settings["score_bits"] == 8
    assert max(found.score_loss.largest) < 1e-3
    assert_sound(tmp_path / "coded")
    before, after = Decoder.load(toy), Decoder.load(tmp_path / "coded")
    assert not after.model.tables.phrases.ln_scores.size
    for old, new in zip(before.translate_all(LINES), after.translate_all(LINES)):
        assert (new.text, new.phrases) == (old.text, old.phrases)
    with pytest.raises(ConfigError, match="score_bits was 8, is not given"):
        import_moses(moses / "moses.ini", tmp_path / "coded")


def test_limits_of_the_search_go_out_and_come_in(tmp_path, toy):
    model = shutil.copytree(toy, tmp_path / "model")
    save_config(
        ModelSearch(search=SearchSettings(algorithm="cube", pop_limit=70, stack=60, table_limit=5)),
        model / "search.yaml",
    )
    export_moses(model, tmp_path / "moses")
    import_moses(tmp_path / "moses" / "moses.ini", tmp_path / "again")
    found = load_config(tmp_path / "again" / "search.yaml", ModelSearch).search
    longest = open_model(toy).description.max_source_phrase_length
    assert found == SearchSettings(algorithm="cube", pop_limit=70, stack=60, table_limit=5, max_phrase_length=longest)
    save_config(
        ModelSearch(search=SearchSettings(pop_limit=0)), model / "search.yaml"
    )  # which Moses would take for no pops
    with pytest.raises(ConfigError, match="an export of another model, or edited: '1' is now '0'; give --force"):
        export_moses(model, tmp_path / "moses")
    export_moses(model, tmp_path / "moses", is_forced=True)
    assert "[cube-pruning-pop-limit]\n1000000000\n" in (tmp_path / "moses" / "moses.ini").read_text()


def test_limits_of_the_search_are_moses_own(tmp_path, moses):
    ini = moses / "moses.ini"
    lines = ini.read_text().replace(" table-limit=20", "").split("\n")
    sections = (
        "[search-algorithm]",
        "[cube-pruning-pop-limit]",
        "[distortion-limit]",
        "[stack]",
        "[beam-threshold]",
        "[max-phrase-length]",
    )
    ini.write_text("\n".join(line for i, line in enumerate(lines) if not {line, lines[i - 1]} & set(sections)))
    description = import_moses(ini, tmp_path / "model")
    assert yaml.safe_load((tmp_path / "model" / "search.yaml").read_text())["search"] == {
        "algorithm": "stack",
        "pop_limit": 1000,
        "stack": 200,
        "beam_threshold": 1e-5,
        "distortion_limit": -1,
        "table_limit": 20,
        "max_phrase_length": description.max_source_phrase_length,
    }


def test_an_arpa_file_gives_the_same_language_model(tmp_path, toy, moses):
    shutil.copy(toy / "lm.arpa", moses)
    ini = moses / "moses.ini"
    ini.write_text(ini.read_text().replace("path=lm.bin", "path=lm.arpa"))
    import_moses(ini, tmp_path / "model")
    assert (tmp_path / "model" / "lm.bin").read_bytes() == (toy / "lm.bin").read_bytes()


def test_the_model_says_where_it_comes_from(tmp_path, moses):
    description = import_moses(moses / "moses.ini", tmp_path / "model")
    assert description == open_model(tmp_path / "model").description
    assert description.settings == {"imported_from": "moses", "left_out": []}
    assert set(description.data) == {
        *("moses_ini", "phrase_table", "reordering_table", "language_model", "pairs_without_reordering")
    }
    ini = moses / "moses.ini"
    ini.write_text(ini.read_text() + "# changed\n")
    assert import_moses(ini, tmp_path / "other").signature != description.signature


def test_nothing_is_left_of_an_import_that_fails(tmp_path, moses):
    (moses / "reordering-table.gz").write_text("a ||| b ||| c\n")
    with pytest.raises(FormatError, match=r"reordering-table\.gz:1: "):
        import_moses(moses / "moses.ini", tmp_path / "model")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["moses"]


def test_other_directories_are_not_replaced(tmp_path, toy, moses):
    with pytest.raises(ConfigError, match="exists and is not a model"):
        import_moses(moses / "moses.ini", moses)
    with pytest.raises(ConfigError, match="exists and is not an export"):
        export_moses(toy, toy)
    export_moses(toy, moses)  # the same again


def test_words_that_moses_cannot_have(tmp_path, toy):
    model = shutil.copytree(toy, tmp_path / "model")
    words = (model / "target.vocab").read_text().split()
    (model / "target.vocab").write_text("\n".join(["a|b", *words[1:]]) + "\n")
    with pytest.raises(ModelError, match=r"target.vocab:1: the word 'a\|b' has a \|"):
        export_moses(model, tmp_path / "moses")


@pytest.mark.parametrize(
    ("weights", "complaint"),
    [({"early_distortion": 0.1}, "distortion 0.3 together with early_distortion, but Moses has only one of the two")],
)
def test_features_that_moses_cannot_have(tmp_path, toy, weights, complaint):
    model = shutil.copytree(toy, tmp_path / "model")
    written = yaml.safe_load((model / "weights.yaml").read_text())
    (model / "weights.yaml").write_text(yaml.safe_dump(written | {"distortion": 0.3} | weights))
    with pytest.raises(ModelError, match=f"weights.yaml: {complaint}"):
        export_moses(model, tmp_path / "moses")


def test_a_search_that_moses_cannot_have(tmp_path, toy):
    model = shutil.copytree(toy, tmp_path / "model")
    (model / "search.yaml").write_text("search: {future_cost: false}\n")
    with pytest.raises(ModelError, match=r"search.yaml: future_cost is false, and Moses always counts it"):
        export_moses(model, tmp_path / "moses")


@pytest.mark.parametrize("word", [-1, 10**6])
def test_a_damaged_table_is_not_exported(tmp_path, toy, word):
    model = shutil.copytree(toy, tmp_path / "model")
    path = model / "phrases" / "target_words.npy"
    np.save(path, np.full_like(np.load(path), word))
    with pytest.raises(ModelError, match=rf"target_words.npy: {word} at 0, expected 0 to"):
        export_moses(model, tmp_path / "moses")
    assert not (tmp_path / "moses").exists()


@pytest.mark.parametrize("score", [100.0, 3e38])
def test_scores_that_moses_cannot_read_are_not_exported(tmp_path, toy, score):
    model = shutil.copytree(toy, tmp_path / "model")
    path = model / "phrases" / "ln_scores.npy"
    np.save(path, np.full_like(np.load(path), score))
    description = (model / "model.yaml").read_text()  # of an imported model, whose scores can be any
    (model / "model.yaml").write_text(description.replace("sentence_pairs: 4", "sentence_pairs: 0"))
    with pytest.raises(
        ModelError, match=rf"a score of {re.escape(format(score, 'g'))} in the phrase table .* expected at most 88"
    ):
        export_moses(model, tmp_path / "moses")
    assert not (tmp_path / "moses").exists()


def test_a_damaged_language_model_is_named(tmp_path, moses):
    (moses / "lm.bin").write_bytes(b"garbage")
    with pytest.raises(FormatError, match=r"lm.bin: not a language model"):
        import_moses(moses / "moses.ini", tmp_path / "model")


def test_the_commands(tmp_path, toy, capsys):
    moses, model = tmp_path / "moses", tmp_path / "model"
    assert main(["export-moses", "--model", str(toy), "--output", str(moses)]) == 0
    (moses / "moses.ini").write_text((moses / "moses.ini").read_text() + "[threads]\n4\n")
    assert main(["import-moses", str(moses / "moses.ini"), "--output", str(model)]) == 0
    assert_sound(model)
    assert "not imported, because it is not part of the model: [threads]" in capsys.readouterr().err
    expected = [translation.text for translation in Decoder.load(toy).translate_all(LINES)]
    assert [translation.text for translation in Decoder.load(model).translate_all(LINES)] == expected
    assert main(["import-moses", str(tmp_path / "nowhere.ini"), "--output", str(model)]) == 2
    assert capsys.readouterr().err.endswith("nowhere.ini: No such file or directory\n")
    assert Path(model).is_dir()


@pytest.mark.parametrize("name", ["", "moses.ini"])
@pytest.mark.parametrize("command", ["translate", "check-model", "export-moses", "tune", "explain"])
def test_a_hint_where_a_moses_model_is_given(moses, tmp_path, capsys, command, name):
    text = tmp_path / "text"
    text.write_text("a\n")
    texts = ["--source", str(text), "--reference", str(text), "--output", str(tmp_path / "out")]
    more = {"tune": texts, "export-moses": texts[4:6]}.get(command, [])
    model = [str(moses / name)] if command == "check-model" else ["--model", str(moses / name)]
    assert main([command, *model, *more]) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert f"{moses / name}: a Moses model; run phrasebeam import-moses {moses}/moses.ini --output DIR" in line


def test_a_folder_in_place_of_a_moses_ini(moses, toy, tmp_path, capsys):
    assert main(["import-moses", str(moses), "--output", str(tmp_path / "model")]) == 2
    assert capsys.readouterr().err.endswith(f"{moses}: a folder; give the moses.ini of a Moses model\n")
    assert main(["import-moses", str(toy), "--output", str(tmp_path / "model")]) == 2
    assert "a model of phrasebeam, which need not be imported; give" in capsys.readouterr().err


def test_notes_of_an_import(moses, tmp_path, capsys):
    ini = moses / "moses.ini"
    lines = [line for line in ini.read_text().splitlines() if not line.startswith("LM0=")]
    ini.write_text("\n".join([*lines, "[mbr]", "[mbr-size]", "100", "[drop-unknown]", "0", "[threads]", "4", ""]))
    assert main(["import-moses", str(ini), "--output", str(tmp_path / "model")]) == 0
    left_out, unweighted = capsys.readouterr().err.splitlines()[-2:]
    assert "[mbr] (translate --mbr), [mbr-size] (translate --mbr-size), [threads] (translate --threads)" in left_out
    assert "drop-unknown" not in left_out
    assert unweighted == "[weight] has no weights for LM0: 1 is used for each, as in Moses; is the file complete?"
    assert open_model(tmp_path / "model").weights.language_model == [1.0]


def test_moses_names_of_the_command(moses, tmp_path, capsys, monkeypatch):
    ini = moses / "moses.ini"
    ini.write_text(ini.read_text().replace("TranslationModel0", "TM"))
    import_moses(ini, tmp_path / "model")
    arguments = ["translate", "--model", str(tmp_path / "model"), "--moses-names"]
    assert main(arguments) == 2
    assert "--moses-names needs --nbest or --scores; give one" in capsys.readouterr().err
    (tmp_path / "input").write_text("a b c\n")
    for more in (["--scores"], ["--nbest", "2", "--nbest-output", "-"]):
        with open(tmp_path / "input", encoding="utf-8") as file:
            monkeypatch.setattr("sys.stdin", file)
            assert main([*arguments, *more]) == 0
        for line in capsys.readouterr().out.splitlines():
            assert "LexicalReordering0= " in line
            assert " TM= " in line
            assert "translation=" not in line


def test_weights_of_lattices_go_out_and_come_in(tmp_path, toy):
    model = shutil.copytree(toy, tmp_path / "model")
    (model / "weights.yaml").write_text((model / "weights.yaml").read_text() + "input_score: [0.75, 0.5]\n")
    export_moses(model, tmp_path / "moses")
    ini = tmp_path / "moses" / "moses.ini"
    assert "\nInputFeature num-features=2 num-input-features=2\n" in ini.read_text()
    import_moses(ini, tmp_path / "again")
    assert open_model(tmp_path / "again").weights.input_score == [0.75, 0.5]
    decoders = [Decoder.load(path) for path in (model, tmp_path / "again")]
    lattice = Input.from_lattice([[("a", (1.0, 1.0), 1)], [("b", (0.5, 0.1), 1), ("c", (0.25, 1.0), 1)]])
    before, after = (decoder.translate(lattice) for decoder in decoders)
    assert after.score == pytest.approx(before.score, rel=1e-5)
    assert "InputFeature0= " in render_nbest(0, [after], False, False, decoders[1].model.moses_names)
