"""The command `translate` as people run it, in a process of its own where streams, signals and time matter."""

import random
import signal
import subprocess
import sys

import pytest

from phrasebeam.cli import main
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.output.word_confidence import ConfidenceSettings
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.translate.translator import Decoder
from tests import ROOT
from tests.decoder.models import random_toy
from tests.decoder.translate_here import translate_here

LINES = ["a b c x", "", "b d a a", "x", "  c   b ", "a b d"]
TEXT = "\n".join(LINES).encode("utf-8")  # the last line is not ended


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return random_toy(tmp_path_factory.mktemp("toy"), 7, most=3).directory


def start(model, *options, **streams):
    command = [sys.executable, "-m", "phrasebeam", "translate", "--model", str(model), *options]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command, cwd=ROOT, **pipes | streams)


def test_same_bytes_for_any_number_of_threads(model):
    decoder = Decoder.load(model, SearchSettings(stack=5))
    expected = [decoder.translate(line).text for line in LINES]
    assert expected[1] == ""
    for threads in ("1", "2"):
        assert translate_here(model, TEXT, "--threads", threads, "--stack", "5") == (0, expected, "")


def test_stacks_without_future_cost(model):
    rng, settings = random.Random(1), [SearchSettings(stack=1, future_cost=is_counted) for is_counted in (True, False)]
    lines = [" ".join(rng.choices("abcd", k=8)) for _ in range(20)]
    usual, other = ([one.text for one in Decoder.load(model, limits).translate_all(lines)] for limits in settings)
    assert usual != other
    assert translate_here(model, "\n".join(lines).encode(), "--stack=1", "--no-future-cost") == (0, other, "")


def test_all_that_can_be_shown(model, tmp_path):
    config = tmp_path / "decode.yaml"
    config.write_text("search: {stack: 7, table_limit: 2, distortion_limit: -1}\n")
    options = "--scores", "--alignment", "--segmentation", "--config", str(config), "--beam-threshold", "0.01"
    status, lines, errors = translate_here(model, TEXT, *options)
    decoder = Decoder.load(model, SearchSettings(stack=7, table_limit=2, distortion_limit=-1, beam_threshold=0.01))
    assert (status, errors, len(lines)) == (0, "", len(LINES))
    for line, source in zip(lines, LINES):
        expected = decoder.translate(source)
        text, features, score, alignment = line.split(" ||| ") if source else line.removesuffix(" ").split(" |||")
        assert [tuple(map(int, point.split("-"))) for point in alignment.split()] == expected.alignment
        assert float(score) == pytest.approx(expected.score, abs=1e-5)
        assert parse_features(features) == pytest.approx(flatten(expected.features), rel=1e-5)
        assert parse_segments(text) == [(phrase.target.split(), phrase.source_span) for phrase in expected.phrases]


def test_confidences_stand_behind_all_else(model, tmp_path):
    config = tmp_path / "decode.yaml"
    config.write_text("confidence: {scale: 2.0}\n")
    decoder = Decoder.load(model)
    for options, scale in (("--alignment",), ConfidenceSettings().scale), (("--config", str(config)), 2.0):
        status, lines, errors = translate_here(model, TEXT, "--confidence", *options)
        assert (status, errors, len(lines)) == (0, "", len(LINES))
        for line, source in zip(lines, LINES):
            request = Request(confidence=ConfidenceSettings(scale=scale))
            expected = decoder.answer(source, request).translation
            fields = line.split(" ||| ")
            assert fields[0] == expected.text or not source
            assert fields[-1].split() == [f"{value:.4f}" for value in expected.confidences] or not source


def parse_features(text):
    values, name = {}, ""
    for token in text.split():
        if token.endswith("="):
            name, column = token[:-1], 0
        else:
            values[name, column] = float(token)
            column += 1
    return values


def flatten(features):
    groups = {name: value if isinstance(value, list) else [value] for name, value in features.items()}
    return {(name, column): value for name, some in groups.items() for column, value in enumerate(some)}


def parse_segments(text):
    """[(target words, source span)] of "t1 t2 |0-1| t3 |2-2|"."""
    segments, words = [], []
    for token in text.split():
        if token.startswith("|"):
            begin, end = token.strip("|").split("-")
            segments.append((words, (int(begin), int(end) + 1)))
            words = []
        else:
            words.append(token)
    assert not words
    return segments


@pytest.mark.parametrize("threads", ["1", "2"])
def test_each_line_is_answered_at_once(model, threads):
    with start(model, "--threads", threads) as process:
        for line in (b"a b\n", b"\n", b"a x\n"):
            process.stdin.write(line)
            process.stdin.flush()
            answer = process.stdout.readline()  # would wait for ever
            assert answer.split() == [] if line == b"\n" else sorted(answer.split())
        process.stdin.close()
        assert (process.stdout.read(), process.stderr.read(), process.wait(60)) == (b"", b"", 0)


def test_bytes_that_are_not_utf8(model):
    status, lines, errors = translate_here(model, b"a\nx\na \xff b\nx\n", "--threads", "2")
    assert (status, len(lines), lines[1]) == (2, 2, "x")
    assert errors.count("\n") == 1
    assert errors.startswith("phrasebeam: standard input:3: byte 0xff at column 3 is not UTF-8")


@pytest.mark.parametrize("is_open", [True, False])
def test_a_reader_that_goes_is_no_error(model, is_open):
    with start(model) as process:
        process.stdin.write(b"a b\n")
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(b"x\n" * 1000)
        process.stdin.flush()
        if not is_open:
            process.stdin.close()
        assert (process.wait(60), process.stderr.read()) == (0, b"")


def test_interrupted(model):
    with start(model) as process:
        process.stdin.write(b"a b\n")
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr.read() == b"phrasebeam: interrupted; not all of the output was written\n"


def test_words_may_hold_any_white_space_but_ascii(model):
    odd = "x\u00a0y\u3000z \u2028 \x85"
    status, lines, _ = translate_here(model, odd.encode("utf-8"), "--distortion-limit", "0")
    assert (status, lines) == (0, [odd])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "Missing option '--model'"),
        (("--model", "nowhere"), "nowhere: no such model directory; make one with"),
        (("--stak", "3"), "No such option: --stak"),
        (("--stack", "many"), "'--stack'"),
        (("--stack", "-1"), "stack: Input should be greater than or equal to 0, found -1"),
        (("--beam-threshold", "1"), "beam_threshold: Input should be less than 1, found 1"),
        (("--beam-threshold", "nan"), "beam_threshold"),
        (("--table-limit", "-2"), "table_limit: Input should be greater than or equal to 0, found -2"),
        (("--distortion-limit", "60"), "distortion_limit + max_phrase_length is 67, at most 64; lower one of them"),
        (("--threads", "0"), "threads is 0, expected a whole number from 1 to 1024"),
        (("--config", "nowhere.yaml"), "nowhere.yaml: No such file or directory"),
        (("--config", "key.yaml"), "key.yaml: search.stakc: unknown key; did you mean stack?"),
        (("--config", "weight.yaml"), "weight.yaml: weights.distorsion: unknown key; did you mean distortion?"),
        (("--config", "number.yaml"), "weights: translation has 1 weights, the model has 4 such scores"),
        (("--config", "text.yaml"), "text.yaml: "),
        (("--config", "broken.yaml"), "broken.yaml:1: not YAML: "),
        (("--config", "bytes.yaml"), "bytes.yaml: not YAML: "),
        (("--config", "."), "Is a directory"),
    ],
)
def test_mistakes(model, tmp_path, monkeypatch, capsys, arguments, complaint):
    monkeypatch.chdir(tmp_path)
    texts = {
        "key": "search: {stakc: 3}",
        "weight": "weights: {distorsion: 3}",
        "number": "weights: {translation: [1]}",
        "text": "a b c",
        "broken": "search: [",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    (tmp_path / "bytes.yaml").write_bytes(b"search: \xff")
    given = ("--model", str(model)) if arguments and "--model" not in arguments else ()
    assert main(["translate", *given, *arguments]) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert complaint in errors
    assert errors.count("\n") == 1


def test_help_names_the_options(capsys):
    assert main(["translate", "--help"]) == 0
    shown = capsys.readouterr().out
    assert all(option in shown for option in ("--model", "--threads", "--stack", "--config"))
