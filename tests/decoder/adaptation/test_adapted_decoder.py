"""A decoder that learns: terms are right in the next sentence, undone as if never said, the same after reopening."""

import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from phrasebeam.api.trainers.train_model import train_model
from phrasebeam.base.errors import ConfigError, FormatError, ModelError
from phrasebeam.decoder.adaptation.adaptation_settings import AdaptationSettings
from phrasebeam.decoder.adaptation.journal import ChangedJournalError
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.translate.adapted_decoder import AdaptedDecoder
from phrasebeam.decoder.translate.pipeline import translate_lines
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.demo.demo_corpus import write_pairs

LINES = ["der zwinger schläft .", "die frau sieht den zwinger .", "der mann hat einen hund .", "x y der zwinger", ""]
INDICES = [
    "source_offsets",
    "target_offsets",
    "pair_offsets",
    "alignment_offsets",
    "source_words",
    "target_words",
    "slots",
]
pytestmark = pytest.mark.needs_jit


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    directory = tmp_path_factory.mktemp("adapted")
    source, target = write_pairs(directory / "train", 1000, 2, 0.0)
    train_model(source, target, directory / "model")
    return directory / "model"


def everything(decoder):
    """Texts, scores and features of the n-best lists of all lines."""
    return [[(one.text, one.score, one.features) for one in decoder.nbest(line, 20)] for line in LINES]


def test_a_corrected_term_is_right_in_the_next_sentence(model):
    decoder = AdaptedDecoder.load(model)
    assert "zwinger" in decoder.translate(LINES[0]).text.split()
    segment = decoder.confirm(LINES[0], "the kennel sleeps .")
    assert segment.number == 1 and (1, 1) in segment.alignment
    for line in LINES[:2]:
        assert "kennel" in decoder.translate(line).text.split()
    assert "zwinger" not in decoder.translate(LINES[1]).text.split()
    decoder.confirm("das spiel gefällt dem drehflansch .", "the swivel flange likes the game .")
    assert "swivel flange" in decoder.translate("der drehflansch schläft .").text


def test_a_sentence_like_a_confirmed_one_keeps_its_translation(model):
    long = "der mann mit dem hund und die frau mit dem kind sehen den zwinger ."
    said = "behold : man and dog , woman and child , at the kennel of old !"
    decoder = AdaptedDecoder.load(model)
    assert decoder.match(long) is None and decoder.answer(long).match is None
    segment = decoder.confirm(long, said)
    answer = decoder.answer(long)
    assert (answer.translation.text, answer.match.similarity, answer.match.segment) == (said, 1, segment)
    assert [one.text for one in decoder.translate_all([long, long], threads=2)] == [said, said]
    assert decoder.complete(long, "the man").text.startswith("the man")
    near = long.replace("zwinger", "garten")
    match = decoder.answer(near).match
    assert (match.segment, match.similarity) == (segment, 1 - 1 / 15)
    assert AdaptedDecoder.load(model, adaptation=AdaptationSettings(similarity=0.95)).match(near) is None
    decoder.undo(1)
    assert decoder.match(long) is None
    for n in (5, 30):  # too long for a term, too long for pieces
        longer = " ".join([long] * n)
        decoder.confirm(longer, " ".join([said] * n))
        answer = decoder.answer(longer)
        assert answer.match.similarity == 1 and "kennel" in answer.translation.text


@pytest.mark.parametrize("name", INDICES)
def test_a_damaged_table_is_refused(model, tmp_path, name):
    shutil.copytree(model, tmp_path / "model")
    path = tmp_path / "model" / "phrases" / f"{name}.npy"
    array = np.load(path)
    array.reshape(-1)[array.size // 2] = np.iinfo(array.dtype).max
    path.chmod(0o644)
    np.save(path, array)
    with pytest.raises(ModelError, match=f"phrases/{name}.npy: .* at .* expected"):
        AdaptedDecoder(open_model(tmp_path / "model", is_verified=False))


def test_without_segments_it_translates_as_the_model_does(model):
    for share in (0.0, 0.1):
        plain, decoder = (
            Decoder.load(model),
            AdaptedDecoder.load(model, None, None, None, AdaptationSettings(interpolation=share)),
        )
        for line in LINES:
            assert decoder.translate(line).text == plain.translate(line).text


def test_all_features_of_new_pairs_add_up_to_the_score(model):
    decoder = AdaptedDecoder.load(model)
    decoder.confirm(LINES[0], "the kennel sleeps soundly .")
    weights = decoder.dense_weights
    for one in decoder.nbest(LINES[1], 50):
        values = one.features
        total = float(weights.translation @ values["translation"] + weights.reordering @ values["reordering"])
        total += float(weights.language_model @ values["language_model"]) + weights.distortion * values["distortion"]
        total += weights.word_penalty * values["word_penalty"] + weights.phrase_penalty * values["phrase_penalty"]
        total += weights.unknown_word_penalty * values["unknown_word_penalty"]
        assert one.score == pytest.approx(total)
        assert sorted(i for phrase in one.phrases for i in range(*phrase.source_span)) == list(range(6))


def test_undo_leaves_nothing(model):
    decoder = AdaptedDecoder.load(model)
    decoder.confirm(LINES[0], "the kennel sleeps .")
    before = everything(decoder)
    number = decoder.confirm(LINES[2], "the chap owns a pooch .").number
    assert everything(decoder) != before
    assert decoder.undo(number).number == number
    assert everything(decoder) == before and [one.number for one in decoder.segments] == [1]
    with pytest.raises(ConfigError, match="no segment 2"):
        decoder.undo(number)


def test_reopened_it_is_the_same_to_the_bit(model, tmp_path):
    decoder = AdaptedDecoder.load(model, journal=tmp_path / "journal")
    for line, other in ((LINES[0], "the kennel sleeps ."), (LINES[2], "the chap owns a pooch ."), (LINES[1], "a b c")):
        decoder.confirm(line, other)
    decoder.undo(2)
    decoder.confirm(LINES[2], "the man has one dog .", key="mine")
    assert decoder.confirm(LINES[2], "something else", key="mine").number == 4  # learned once
    expected, segments = everything(decoder), decoder.segments
    decoder.close()
    again = AdaptedDecoder.load(model, journal=tmp_path / "journal")
    assert again.segments == segments
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(everything, [again] * 4)) == [expected] * 4
    assert again.export(tmp_path / "export") == 3
    assert (tmp_path / "export").read_text(encoding="utf-8").count("kennel") == 1
    again.close()


def test_after_another_program_has_changed_the_journal_it_knows_what_is_there(model, tmp_path):
    path, new = tmp_path / "journal", AdaptedDecoder.load(model)
    decoder, nothing = AdaptedDecoder.load(model, journal=path), everything(new)
    decoder.confirm(LINES[0], "the kennel sleeps .", key="one")
    first, backup = everything(decoder), path.read_bytes()
    decoder.confirm(LINES[2], "the chap owns a pooch .", key="two")
    path.write_bytes(backup)
    with pytest.raises(ChangedJournalError):
        decoder.confirm(LINES[2], "the chap owns a pooch .", key="two")  # known by its key, and no longer there
    assert everything(decoder) == first and [one.key for one in decoder.segments] == ["one"]
    path.unlink()
    with pytest.raises(ChangedJournalError):
        decoder.undo(1)
    assert everything(decoder) == nothing and decoder.segments == ()
    path.write_bytes(b"notes")
    for _ in range(2):
        with pytest.raises(FormatError):
            decoder.confirm(LINES[0], "the kennel sleeps .")
    assert path.read_bytes() == b"notes"
    path.write_bytes(backup)
    decoder.memory.follow_journal()
    assert everything(decoder) == first
    assert decoder.confirm(LINES[2], "the chap owns a pooch .", key="two").number == 2
    decoder.close()


def test_threads_learn_side_by_side(model):
    decoder = AdaptedDecoder.load(model)
    with ThreadPoolExecutor(4) as pool:
        learned = pool.map(lambda i: decoder.confirm(LINES[i % 2], f"the kennel sleeps new{i} .").number, range(20))
        translated = pool.map(lambda i: decoder.translate(LINES[i % 3]).text, range(40))
        assert sorted(learned) == list(range(1, 21)) and all(translated)


def test_forced_decoding_knows_what_was_confirmed(model):
    decoder = AdaptedDecoder.load(model)
    assert ForcedDecoder(decoder).force(LINES[0], "the kennel sleeps .").status != "reachable"
    decoder.confirm(LINES[0], "the kennel sleeps .")
    assert ForcedDecoder(decoder).force(LINES[0], "the kennel sleeps .").status == "reachable"


def test_lines_are_learned_one_after_the_other(model, tmp_path):
    (tmp_path / "confirmed").write_text("the kennel sleeps .\n\nthe woman sees the kennel .\n")
    lines = [LINES[0], LINES[1], LINES[1]]
    decoder = AdaptedDecoder.load(model)
    found = [output.translation for output in translate_lines(decoder, lines, confirmed=tmp_path / "confirmed")]
    assert "zwinger" in found[0] and "kennel" in found[1]
    assert [one.translation[-2] for one in decoder.segments] == ["sleeps", "kennel"]  # an empty line teaches nothing


def test_what_it_cannot_do_is_told(model):
    decoder = AdaptedDecoder.load(model)
    for source, translation in (("", "x"), ("x", ""), ("x " * 2000, "y")):
        with pytest.raises(ConfigError, match="words, expected 1 to 1000"):
            decoder.confirm(source, translation)
    with pytest.raises(ConfigError, match="lattices"):
        decoder.translate(Input.from_lattice([[("der", 1.0, 1)]]))
