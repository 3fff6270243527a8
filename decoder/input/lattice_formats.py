"""Text formats of lattices and confusion networks: Moses' Python lattice format (PLF), and columns.

PLF has one line for each sentence. It lists, for each node, the arcs that leave it: word, scores, number of nodes that
it advances.

    ((('einen',1.0,1),),(('wettbewerbs',0.4,2),('wettbewerb',0.6,1),),(('*EPS*',1.0,1),),)

The format of columns has one line for each column, `word score word score ...`, and a blank line after each sentence.
In both formats *EPS* is the empty word, and scores are probabilities, one or more for each word.
"""

import re
from collections.abc import Iterable, Iterator
from os import PathLike

from phrasebeam.base.errors import ConfigError, FormatError, excerpt
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.input.word_lattice import EMPTY, MOST_NODES, Arc, WordLattice
from phrasebeam.lm.text.corpus import split

NUMBER = r"[-+]?(?:[0-9]{1,40}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][-+]?[0-9]{1,3})?"
WORD = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
ARC = re.compile(rf"\s*\(\s*({WORD})\s*((?:,\s*{NUMBER}\s*)+),\s*([0-9]{{1,9}})\s*,?\s*\)")
ESCAPED = re.compile(r"\\(.)")
MARK = re.compile(r"\s*([(),]|$)")


def read_plf(line: str) -> Input:
    """The lattice in a line of PLF; a blank line is a sentence without words. Raises ConfigError."""
    if not line.strip():
        return Input.from_lattice([])
    nodes: list[list[Arc]] = []
    position = _expect(line, 0, "(")
    while _mark(line, position) == "(":
        arcs, position = _arcs(line, _expect(line, position, "("))
        nodes.append(arcs)
        if len(nodes) > MOST_NODES:
            raise ConfigError(f"more than {MOST_NODES} nodes; split the sentence")
        if _mark(line, position) != ",":
            break
        position = _expect(line, position, ",")
    _expect(line, _expect(line, position, ")"), "")
    return Input.of_lattice(WordLattice(tuple(map(tuple, nodes))))


def _arcs(line: str, position: int) -> tuple[list[Arc], int]:
    """The arcs of a node, whose parenthesis opens before `position`, and the position after it."""
    arcs = []
    while _mark(line, position) == "(":
        arc = ARC.match(line, position)
        if arc is None:
            raise ConfigError(f"{_where(line, position)}: expected an arc ('word', score, length)")
        scores = tuple(float(score) for score in arc[2].split(",")[1:])
        arcs.append(Arc(ESCAPED.sub(r"\1", arc[1][1:-1]) or EMPTY, scores, int(arc[3])))
        position = arc.end()
        if _mark(line, position) != ",":
            break
        position = _expect(line, position, ",")
    return arcs, _expect(line, position, ")")


def _mark(line: str, position: int) -> str | None:
    """The parenthesis or comma that comes next, "" at the end of the line, None before anything else."""
    mark = MARK.match(line, position)
    return mark and mark[1]


def _expect(line: str, position: int, expected: str) -> int:
    """The position after the mark that must come next. Raises ConfigError if another one comes."""
    mark = MARK.match(line, position)
    if mark is None or mark[1] != expected:
        raise ConfigError(f"{_where(line, position)}: expected {expected or 'the end of the line'}")
    return mark.end()


def _where(line: str, position: int) -> str:
    return f"{excerpt(line[position:].lstrip())} at character {position + 1}"


def read_columns(lines: list[str], n_scores: int = 1) -> Input:
    """The confusion network of lines `word score word score ...`, each with `n_scores` scores. Raises ConfigError."""
    columns = []
    for number, line in enumerate(lines):
        fields = split(line)
        if len(fields) % (1 + n_scores):
            scores = "a score" if n_scores == 1 else f"{n_scores} scores"
            raise ConfigError(f"column {number}, {excerpt(line)}: expected {scores} behind each word")
        groups = [fields[i : i + 1 + n_scores] for i in range(0, len(fields), 1 + n_scores)]
        columns.append([(word, tuple(_score(text, number) for text in scores)) for word, *scores in groups])
    return Input.from_confusion_network(columns)


def _score(text: str, number: int) -> float:
    if not re.fullmatch(NUMBER, text):
        raise ConfigError(f"column {number}: {excerpt(text)} is not a score, expected a probability")
    return float(text)


def read_all_plf(lines: Iterable[str], path: str | PathLike[str]) -> Iterator[Input]:
    """Yield the lattices in `lines` of the file `path`, by read_plf. Raises FormatError, naming file and line."""
    for number, line in enumerate(lines, 1):
        try:
            yield read_plf(line)
        except ConfigError as error:
            raise FormatError(path, str(error), number) from None


def read_all_columns(lines: Iterable[str], path: str | PathLike[str], n_scores: int) -> Iterator[Input]:
    """Yield the confusion networks in `lines` of the file `path`, by read_columns; the last may lack its blank line.

    Raises FormatError, naming the file and the line at which the sentence ends.
    """
    columns, number = list[str](), 0
    for number, line in enumerate(lines, 1):
        if line.strip():
            columns.append(line)
            if len(columns) > MOST_NODES:
                message = f"a sentence of more than {MOST_NODES} columns, expected a blank line behind each sentence"
                raise FormatError(path, message, number)
        else:
            yield _network(columns, path, number, n_scores)
            columns = []
    if columns:
        yield _network(columns, path, number, n_scores)


def _network(columns: list[str], path: str | PathLike[str], number: int, n_scores: int) -> Input:
    try:
        return read_columns(columns, n_scores)
    except ConfigError as error:
        raise FormatError(path, f"the sentence that ends here: {error}", number) from None
