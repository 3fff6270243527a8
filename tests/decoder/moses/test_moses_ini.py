"""moses.ini files, and everything in them that is refused by name."""

import numpy as np
import pytest
from hypothesis import given

from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.decoder.features.reordering_type import Reordering
from phrasebeam.decoder.moses.ini import MosesTable, read_moses_ini
from phrasebeam.decoder.moses.reordering import read_type, write_type
from tests.decoder.models import ALL_REORDERINGS

NEW = """\
# a comment
[input-factors]
0
[mapping]
0 T 0
[distortion-limit]
4 # words
[threads]
2
[report-segmentation]
[search-algorithm]
1
[feature]
UnknownWordPenalty
WordPenalty
PhrasePenalty
PhraseDictionaryMemory name=TM num-features=2 path=table table-limit=5 input-factor=0 output-factor=0
LexicalReordering name=LR type=phrase-mslr-bidirectional-fe-allff num-features=8 path=lr
Distortion
KENLM factor=0 path=lm.arpa order=3 lazyken=0
[weight]
UnknownWordPenalty0= 1
WordPenalty0= -0.5
TM= 0.1 0.2
LR= 1 2 3 4 5 6 7 8
Distortion0= 0.3
[stack]
50
[weight]
KENLM0= 0.4
"""


DEFAULTS = "default-scores=1,1,1,1,1,1,1,1"


@pytest.fixture
def ini(tmp_path):
    for name in ("table.gz", "lr.gz", "lm.arpa", "old.minphr", "old.minlexr"):
        (tmp_path / name).write_text("")

    def write(text):
        (tmp_path / "moses.ini").write_text(text, encoding="utf-8")
        return tmp_path / "moses.ini"

    return write


def test_the_new_format(ini, tmp_path):
    model = read_moses_ini(ini(NEW))
    assert model.tables == (MosesTable("TM", tmp_path / "table.gz", 2, 5),)
    assert model.language_models == (tmp_path / "lm.arpa",)
    assert model.reordering_tables == ((tmp_path / "lr.gz", Reordering(orientation="phrase", kind="mslr")),)
    assert model.weights.model_dump() == {
        "translation": [0.1, 0.2],
        "reordering": [1, 2, 3, 4, 5, 6, 7, 8],
        "language_model": [0.4],
        "distortion": 0.3,
        "word_penalty": -0.5,
        "phrase_penalty": 1.0,  # not said
        "unknown_word_penalty": 1.0,
    }
    assert model.search == {"algorithm": "cube", "stack": 50, "distortion_limit": 4, "table_limit": 5}
    assert model.left_out == ("threads", "report-segmentation")


@pytest.mark.parametrize("arguments", ["num-features=2", "num-input-features=2 real-word-count=0"])
def test_scores_of_lattices(ini, arguments):
    text = NEW.replace("Distortion\n", f"Distortion\nInputFeature {arguments}\n") + "InputFeature0= 0.5 0.25\n"
    model = read_moses_ini(ini(text + "[inputtype]\n2\n"))
    assert model.weights.input_score == [0.5, 0.25]
    assert [(one.name, one.first, one.size) for one in model.names if one.feature == "input_score"] == [
        ("InputFeature0", 0, 2)
    ]
    assert "inputtype" in model.left_out


@pytest.mark.parametrize("space", [" ", "\t", "\x0b", "\x0c", "\xa0", "\u3000"])
def test_lines_of_space_of_any_kind(ini, space):
    assert read_moses_ini(ini(NEW.replace("\n", f"\n{space}\n"))) == read_moses_ini(ini(NEW))


def test_a_feature_that_is_absent_weighs_nothing(ini):
    lines = [line for line in NEW.splitlines() if not line.startswith(("LexicalReordering", "LR=", "Distortion"))]
    model = read_moses_ini(ini("\n".join(lines)))
    assert (model.reordering, model.reordering_tables, model.weights.reordering) == (None, (), [])
    assert model.weights.distortion == 0


def test_reordering_models_of_old_and_with_scores_for_unknown_pairs(ini):
    text = NEW.replace("LR= 1 2 3 4 5 6 7 8", "LR= 1 2 3")
    old = read_moses_ini(ini(text.replace("phrase-mslr-bidirectional-fe-allff", "msd-unidirectional-f"))).reordering
    assert old == Reordering(kind="msd", direction="backward", condition="f")
    type_ = "hier-msd-forward-fe default-scores=1,0.5,0"
    found = read_moses_ini(ini(text.replace("phrase-mslr-bidirectional-fe-allff", type_))).reordering
    assert (found.orientation, found.direction) == ("hier", "forward")
    assert found.ln_default == pytest.approx([0, np.log(0.5), -100])


@given(ALL_REORDERINGS)
def test_types_are_read_as_they_are_written(model):
    assert read_type(write_type(model), None) == model.model_copy(update={"ln_default": []})


@pytest.mark.parametrize(
    ("section", "distortion", "early"),
    [
        ("[early-distortion-cost]", 0.0, 0.3),
        ("[early-distortion-cost]\n1", 0.0, 0.3),
        ("[early-distortion-cost]\ntrue", 0.0, 0.3),
        ("[early-distortion-cost]\n0", 0.3, None),
        ("", 0.3, None),
    ],
)
def test_early_distortion(ini, section, distortion, early):
    model = read_moses_ini(ini(NEW.replace("[threads]\n2", section)))
    assert (model.weights.distortion, model.weights.early_distortion) == (distortion, early)
    assert "early-distortion-cost" not in model.left_out


def test_files_are_found_from_here_and_by_their_whole_path(ini, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "elsewhere").write_text("")
    monkeypatch.chdir(tmp_path / "here")
    ((found, _),) = read_moses_ini(ini(NEW.replace("path=lr", "path=elsewhere"))).reordering_tables
    assert found.resolve() == tmp_path / "here" / "elsewhere"
    ((found, _),) = read_moses_ini(ini(NEW.replace("path=lr", f"path={tmp_path}/lr"))).reordering_tables
    assert found == tmp_path / "lr.gz"


@pytest.mark.parametrize(
    ("old", "new", "line", "complaint"),
    [
        ("Distortion\n", "OpSequenceModel0 path=x\n", 19, "OpSequenceModel0: the decoder does not have this feature"),
        (
            "Distortion\n",
            "OpSequenceModel path=x\n",
            19,
            "train-model makes one of a bitext (operations in its --config)",
        ),
        ("Distortion\n", "PhrasePairFeature\n", 19, "remove its line and its weights, and tune again"),
        ("Distortion\n", "Distortion\nDistortion\n", 20, "a second Distortion (Distortion0 is one); the decoder takes"),
        (
            "Distortion\n",
            "WordTranslationFeature source-context=1\n",
            19,
            "source-context=1; the decoder has only pairs of",
        ),
        (
            "Distortion\n",
            "WordTranslationFeature simple=0\n",
            19,
            "simple=0; the decoder has only pairs of aligned words",
        ),
        ("Distortion\n", "WordTranslationFeature source-path=lr\n", 19, "source-path and target-path need each other"),
        (
            "Distortion\n",
            "Distortion\nSourceWordDeletionFeature path=x\n",
            20,
            "SourceWordDeletionFeature: no file x in ",
        ),
        ("Distortion\n", "PhraseLengthFeature name=TM\n", 19, "TM is the name of two features; give each its own"),
        (
            "Distortion\n",
            "Distortion\nPhraseDictionaryMemory name=T2 path=table\n",
            20,
            "T2: in no path of [mapping]; expected '0 T",
        ),
        (
            "PhraseDictionaryMemory",
            "PhraseDictionaryCompact",
            17,
            "the text table that processPhraseTableMin made it of",
        ),
        ("PhraseDictionaryMemory", "ProbingPT", 17, "ProbingPT: a binary table, which only Moses reads; give the text"),
        ("PhraseDictionaryMemory", "PhraseDictionaryOnDisk", 17, "that CreateOnDiskPt made it of: PhraseDictionaryMem"),
        ("path=table", "path=old.minphr", 17, "old.minphr is a binary table, which only Moses reads; give the text"),
        (
            "path=table",
            "path=old",
            17,
            "old.minphr is a binary table, which only Moses reads; give the text table that",
        ),
        ("path=lr", "path=old", 18, "old.minlexr is a binary table, which only Moses reads; give the text table that"),
        (
            "[threads]\n2",
            "[consensus-decoding]",
            8,
            "the decoder minimizes risk only over n-best lists; remove it, and",
        ),
        ("KENLM factor", "IRSTLM factor", 20, "write KENLM with path= the model as ARPA"),
        ("type=phrase-mslr", "type=lattice-mslr", 18, "type=lattice-mslr-bidirectional-fe-allff: the decoder does not"),
        ("type=phrase-mslr", "type=phrase-msd-mslr", 18, "mslr is the second of msd, mslr, monotonicity, leftright;"),
        ("phrase-mslr-bidirectional-fe", "phrase-bidirectional-fe", 18, "none of msd, mslr, monotonicity, leftright;"),
        ("bidirectional-fe-allff", "bidirectional", 18, "none of fe, f; expected a type such as wbe-msd-bidirect"),
        ("bidirectional-fe", "backward-fe", 25, "8 weights of LR, expected 4"),
        ("fe-allff", "fe-collapseff", 25, "8 weights of LR, expected 2"),
        ("fe-allff", "fe default-scores=1,1", 18, "default-scores=1,1, expected 8 numbers not below 0"),
        ("fe-allff", "fe default-scores=1,1,1,1,1,1,1,x", 18, "expected 8 numbers not below 0, set off by commas"),
        ("fe-allff", "fe-collapseff default-scores=1,1,1,1,1,1,1,1", 18, "with collapseff, which Moses cannot add up"),
        (" type=phrase-mslr-bidirectional-fe-allff", "", 18, "LexicalReordering without type="),
        ("lazyken=0", "oov-feature=1", 20, "KENLM: the decoder does not know 'oov-feature'; remove it"),
        ("lazyken=0", "order=4", 20, "'order=4', expected every key once"),
        ("lazyken=0", "lazy", 20, "'lazy', expected every key once, as KEY=VALUE"),
        ("factor=0 path=lm", "factor=1 path=lm", 20, "factor=1; the decoder knows only factor 0"),
        ("output-factor=0", "output-factor=0,1", 17, "output-factor=0,1; the decoder knows only factor 0"),
        ("[input-factors]\n0", "[input-factors]\n0\n1", 4, "[input-factors] 1: the decoder knows only factor 0"),
        ("0 T 0\n", "0 T 0\n0 G 0\n", 6, "[mapping] 0 G 0: expected PATH T TABLE, such as '0 T 0'"),
        ("0 T 0\n", "0 T 1\n", 5, "[mapping] 0 T 1: expected PATH T TABLE, such as '0 T 0'"),
        ("0 T 0\n", "T x 0\n", 5, "[mapping] T x 0: expected PATH T TABLE, such as '0 T 0'"),
        ("0 T 0\n", "0\n", 5, "[mapping] 0: expected PATH T TABLE, such as '0 T 0'"),
        ("0 T 0\n", "0 T 0\n0 T 0\n", 6, "[mapping] 0 T 0: expected one table to each path"),
        ("path=lm.arpa", "path=lm.bin", 20, "KENLM: no file lm.bin in "),
        ("path=lm.arpa ", "", 20, "KENLM without path="),
        ("num-features=2", "num-features=two", 17, "num-features=two, expected a whole number from 1"),
        ("num-features=2", "num-features=" + "9" * 5000, 17, "9, expected a whole number from 1"),
        ("4 # words", "9" * 5000, 7, "9: expected a whole number"),
        ("TM= 0.1 0.2", "TM= 0.1", 24, "1 weights of TM, expected 2"),
        ("LR= 1", "LR= ", 25, "7 weights of LR, expected 8"),
        ("KENLM0= 0.4", "KENLM0= many", 30, "expected numbers after KENLM0="),
        ("KENLM0= 0.4", "KENLM0=0.4", 30, "'KENLM0=0.4', expected 'NAME= WEIGHT ...'"),
        ("KENLM0= 0.4", "TM= 1 1", 30, "weights of TM a second time"),
        ("KENLM0= 0.4", "LM1= 1", 30, "LM1: no such feature; remove the line (features: "),
        ("KENLM0= 0.4", "LR_x-y= 1", 30, "LR_x-y: sparse weights of what has none"),
        ("[threads]\n2", "[stak]\n2", 8, "[stak]: unknown section; did you mean [stack]?"),
        ("[threads]\n2", "[weight-file]\nx", 9, "[weight-file]: no file x"),
        (
            "[threads]\n2",
            "[input-scores]\n2",
            8,
            "[input-scores]: arcs have one score per weight of InputFeature",
        ),
        ("[threads]\n2", "[spe-src]\nx", 8, "[spe-src]: the decoder cannot search so; remove it"),
        (
            "Distortion\n",
            "InputFeature real-word-count=1\n",
            19,
            "InputFeature: real-word-count=; the decoder does",
        ),
        ("Distortion\n", "InputFeature num-features=2 num-input-features=1\n", 19, "num-input-features= differ"),
        ("[threads]\n2", "[weight-l]\n1", 8, "[weight-l]: a section from before 2013; convert the file by Moses'"),
        (
            "[threads]\n2",
            "[decoding-graph-backoff]\n1",
            8,
            "[decoding-graph-backoff]: all paths are tried for every phrase",
        ),
        (
            "Distortion\n",
            "LexicalReordering name=R2 type=hier-mslr-fe path=lr\nDistortion\n",
            19,
            "R2: another type than LR, or co",
        ),
        (
            "Distortion\n",
            f"Distortion\nLexicalReordering name=R2 path=lr type=phrase-mslr-bidirectional-fe {DEFAULTS}\n",
            20,
            "R2: default-scores= of a second model",
        ),
        ("[threads]", "[threads", 8, "'[threads', expected ] after"),
        ("# a comment", "a comment", 1, "'a comment' before the first [section]"),
        ("4 # words", "four", 7, "[distortion-limit] four: expected a whole number"),
        ("[threads]\n2", "[beam-threshold]\nnarrow", 9, "[beam-threshold] narrow: expected a number"),
        ("[threads]\n2", "[search-algorithm]\n4", 9, "[search-algorithm] 4: expected 0 (stack decoding) or"),
        ("[threads]\n2", "[cube-pruning-pop-limit]\n0", 9, "[cube-pruning-pop-limit] 0: expected 1 or more; with less"),
    ],
)
def test_what_is_refused(ini, old, new, line, complaint):
    assert old in NEW
    with pytest.raises(FormatError) as caught:
        read_moses_ini(ini(NEW.replace(old, new, 1)))
    assert complaint in str(caught.value)
    assert caught.value.line == line
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("KENLM0= 0.4", "KENLM0= nan", "language_model.0: Input should be a finite number, found nan"),
        ("TM= 0.1 0.2", "TM= 0.1 inf", "translation.1: Input should be a finite number, found inf"),
        ("Distortion0= 0.3", "Distortion0= -inf", "distortion: Input should be a finite number, found -inf"),
    ],
)
def test_weights_that_are_not_finite(ini, old, new, complaint):
    assert old in NEW
    with pytest.raises(ConfigError, match=f"moses.ini: {complaint}"):
        read_moses_ini(ini(NEW.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no [section]; give a moses.ini"),
        ("[stack]\n5\n", "no feature PhraseDictionaryMemory; expected one"),
        ("[feature]\nPhraseDictionaryMemory path=table\n", "no feature KENLM; expected one"),
    ],
)
def test_what_is_missing(ini, text, complaint):
    with pytest.raises(FormatError) as caught:
        read_moses_ini(ini(text))
    assert complaint in str(caught.value)


def test_several_models(ini):
    second = (
        "LexicalReordering name=R2 type=phrase-mslr-bidirectional-fe path=lr\nKENLM name=L2 path=lm.arpa\nDistortion\n"
    )
    text = NEW.replace("Distortion\n", second) + "R2= 8 7 6 5 4 3 2 1\nL2= 0.7\n"
    model = read_moses_ini(ini(text))
    assert model.weights.language_model == [0.7, 0.4]
    assert [(one.name, one.feature, one.first, one.size) for one in model.names] == [
        ("LR", "reordering", 0, 8),
        ("R2", "reordering", 8, 8),
        ("L2", "language_model", 0, 1),
        ("Distortion0", "distortion", 0, 1),
        ("KENLM0", "language_model", 1, 1),
        ("WordPenalty0", "word_penalty", 0, 1),
        ("PhrasePenalty0", "phrase_penalty", 0, 1),
        ("TM", "translation", 0, 2),
    ]


def test_the_limits_of_several_tables(ini):
    text = NEW.replace(" table-limit=5", "").replace("0 T 0\n", "0 T 0\n1 T 1\n")
    second = "Distortion\nPhraseDictionaryMemory name=T2 num-features=3 path=table.gz\n"
    text = text.replace("Distortion\n", second) + "T2= 8 7 6\n"
    model = read_moses_ini(ini(text + "[ttable-limit]\n10\n7\n"))
    assert [(one.name, one.n_scores, one.limit) for one in model.tables] == [("TM", 2, 10), ("T2", 3, 7)]
    assert model.weights.translation[2:] == [8, 7, 6]
    assert [(one.first, one.size) for one in model.names if one.feature == "translation"] == [(0, 2), (2, 3)]
    assert model.search["table_limit"] == 17
    assert read_moses_ini(ini(text)).search["table_limit"] == 40


@pytest.mark.parametrize(
    ("section", "lines"),
    [("ttable-file", "0 0 0 5 table.gz"), ("weight-t", "0.2\n0.3"), ("lmodel-file", "8 0 3 lm.arpa")],
)
def test_the_format_of_before_2013_is_refused_in_a_line_that_says_how_to_convert_it(ini, section, lines):
    with pytest.raises(FormatError, match=r"before 2013; convert .*/convert-moses-ini-to-v2.perl") as caught:
        read_moses_ini(ini(f"[stack]\n5\n[{section}]\n{lines}\n"))
    assert caught.value.line == 3
