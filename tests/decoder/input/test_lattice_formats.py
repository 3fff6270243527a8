"""Lattices and confusion networks as text: what is read, and what is refused in one line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phrasebeam.base.errors import ConfigError, FormatError, SmtError
from phrasebeam.decoder.input.lattice_formats import read_all_columns, read_all_plf, read_columns, read_plf
from phrasebeam.decoder.input.sentence_input import Input, Term
from phrasebeam.decoder.input.word_lattice import MOST_NODES, UNREACHABLE

NODES = st.lists(
    st.lists(st.tuples(st.text(st.characters(codec="utf-8")), st.floats(0, 1)), min_size=1, max_size=3), max_size=5
)


def test_plf_is_read_as_moses_reads_it():
    line = "((('einen',1.0,1),),(('wettbewerbs',0.5,2),('bedingter',0.25,1),),(('preis',1.0,1),('*EPS*', 1e-1, 1)))"
    assert read_plf(line) == Input.from_lattice(
        [
            [("einen", 1.0, 1)],
            [("wettbewerbs", 0.5, 2), ("bedingter", 0.25, 1)],
            [("preis", 1.0, 1), ("*EPS*", 0.1, 1)],
        ]
    )


@given(NODES)
def test_what_python_prints_is_read(columns):
    nodes = tuple(tuple((word, score, 1) for word, score in column) for column in columns)
    is_word = not any(
        c.isspace() or not c.isprintable() or c == "\\" for column in columns for word, _ in column for c in word
    )
    if is_word:
        assert read_plf(repr(nodes)) == Input.from_lattice(nodes)


def test_escapes_quotes_and_several_scores():
    found = read_plf(r"""((('it\'s', 0.5, .25, 1), ("a'b\\", 1, 0, 1),),)""").lattice
    assert [(arc.word, arc.probabilities) for arc in found.nodes[0]] == [("it's", (0.5, 0.25)), ("a'b\\", (1.0, 0.0))]


@pytest.mark.parametrize("line", ["", "  ", "()", " ( ) "])
def test_sentences_without_words(line):
    assert read_plf(line).words == ()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("x", "'x' at character 1: expected ("),
        ("(", "'' at character 2: expected )"),
        ("((('a',1,1),)", "'' at character 14: expected )"),
        ("((('a',1,1),),) b", "'b' at character 16: expected the end of the line"),
        ("((('a',1),),)", "\"('a',1),),)\" at character 3: expected an arc ('word', score, length)"),
        ("(((a,1,1),),)", "'(a,1,1),),)' at character 3: expected an arc"),
        ("((('a',1,2),),)", "the arc 'a' of node 0 leads 2 nodes onwards, expected 1 to 1"),
        ("((('a',1,0),),)", "leads 0 nodes onwards"),
        ("((('a',1.5,1),),)", "the arc 'a' of node 0 has the probability 1.5, expected 0 to 1"),
        ("((('a',-1e-9,1),),)", "has the probability -1e-09, expected 0 to 1"),
        ("((('a b',1,1),),)", "has white space in its word"),
        ("((('a',1,1),('b',1,1,1),),)", "some arcs have more scores than others"),
        ("((),)", "node 0 has no arcs"),
        ("(" * 100_000, "expected an arc"),
        ("(" + "(('a',1,1),)," * (MOST_NODES + 1) + ")", "more than 1000 nodes; split the sentence"),
    ],
)
def test_malformed_plf_is_refused(line, message):
    with pytest.raises(ConfigError) as error:
        read_plf(line)
    assert message in str(error.value)
    assert len(str(error.value)) < 250


@given(st.text(st.sampled_from("((('a',1,1),),)\\\" .\n"), max_size=40))
def test_any_line_is_read_or_refused(line):
    for read in (read_plf, lambda text: read_columns(text.split("\n"))):
        try:
            read(line)
        except SmtError as error:
            assert "\n" not in str(error)


def test_columns_are_read():
    lines = ["a 0.5 *EPS* 0.5", "b 1", "", "", "c 0.1 d 0.9"]
    found = list(read_all_columns(lines, "here", 1))
    first = Input.from_confusion_network([[("a", 0.5), ("*EPS*", 0.5)], [("b", 1.0)]])
    assert found == [first, Input.from_confusion_network([]), Input.from_confusion_network([[("c", 0.1), ("d", 0.9)]])]
    assert found[2].words == ("d",)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a 1", "b"], "here:2: the sentence that ends here: column 1, 'b': expected a score behind each word"),
        (["a x", ""], "here:2: the sentence that ends here: column 0: 'x' is not a score, expected a probability"),
        (["a nan"], "'nan' is not a score"),
        (["a 2"], "the arc 'a' of node 0 has the probability 2.0, expected 0 to 1"),
        (["a 1"] * (MOST_NODES + 1), "here:1001: a sentence of more than 1000 columns, expected a blank line"),
    ],
)
def test_malformed_columns_name_their_line(lines, message):
    with pytest.raises(FormatError) as error:
        list(read_all_columns(lines, "here", 1))
    assert message in str(error.value)


def test_columns_of_several_scores():
    assert read_columns(["a 0.5 0.25 b 1 0"], 2) == Input.from_confusion_network(
        [[("a", (0.5, 0.25)), ("b", (1.0, 0.0))]]
    )


def test_malformed_plf_names_its_line():
    with pytest.raises(FormatError, match=r"^here:2: 'x' at character 1"):
        list(read_all_plf(["()", "x"], "here"))


def test_distances_are_shortest_paths():
    lattice = Input.from_lattice([[("a", 1.0, 2), ("b", 1.0, 1)], [("c", 1.0, 2)], [("d", 1.0, 1)]]).lattice
    far = UNREACHABLE
    assert lattice.distances.tolist() == [[0, 1, 1, 2], [far, 0, far, 1], [far, far, 0, 1], [far, far, far, 0]]
    assert read_plf("((('a',1,1),),)").lattice.distances.size == 0


def test_lattices_have_no_instructions():
    lattice = read_plf("((('a',1,1),),)").lattice
    with pytest.raises(ConfigError, match="cannot have terms; leave that out"):
        Input(["a"], terms=(Term(0, 1, ("b",)),), lattice=lattice)
    with pytest.raises(ConfigError, match=r"make it by Input.from_lattice"):
        Input(["b"], lattice=lattice)
