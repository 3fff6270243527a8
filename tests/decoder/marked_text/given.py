"""HTML with all that may be wrong with it, and translations that put its words into any order."""

from itertools import pairwise

from hypothesis import strategies as st

from phrasebeam.decoder.output.translation import Phrase, Translation

TAGS = [
    "<b>",
    "</b>",
    "<i class=x>",
    "</i>",
    "<A HREF='a>b'>",
    "</a >",
    "<br>",
    '<img alt="<b>"/>',
    "<wbr>",
    "<!-- c -->",
]
BLOCKS = [
    "<p>",
    "</p>",
    "<li>",
    "<div translate=no>",
    "</div>",
    "<script>a</b>",
    "</script>",
    "<svg/>",
    "<?php ?>",
    "<!x>",
]
WORDS = [
    "der",
    "hund",
    "schläft",
    ".",
    "a&amp;b",
    "&lt;",
    "&nbsp;",
    "<",
    "&",
    ">",
    " ",
    " ",
    "\n ",
    "\u00a0",
    "<a",
    "<!--",
]
SENTENCES = st.lists(st.sampled_from([*TAGS, *WORDS[:6], " ", " ", " "]), max_size=20).map("".join)
DOCUMENTS = st.lists(st.sampled_from(TAGS + BLOCKS + WORDS), max_size=25).map("".join) | st.text(
    "<>/ab='\" !-&;\n", max_size=40
)


@st.composite
def translations(draw, words):
    """A translation of these words: phrases in any order, words linked at random, or not at all."""
    borders = sorted({0, len(words), *draw(st.lists(st.integers(0, len(words)), max_size=6))})
    spans = draw(st.permutations(list(pairwise(borders))))
    phrases, position = [], 0
    for begin, end in spans:
        n_target = draw(st.integers(0, 3))
        pairs = [(i, position + j) for i in range(begin, end) for j in range(n_target)]
        points = draw(st.lists(st.sampled_from(pairs), max_size=4, unique=True)) if pairs else []
        target = tuple(f"t{position + j}" for j in range(n_target))
        span = position, position + n_target
        phrases.append(Phrase(" ".join(words[begin:end]), " ".join(target), (begin, end), span, tuple(points), False))
        position += n_target
    return translation_of(phrases)


def translation_of(phrases):
    """A translation of these phrases, its target words with spaces between them."""
    text = " ".join(phrase.target for phrase in phrases if phrase.target)
    return Translation(text, 0.0, dict, lambda: tuple(phrases))


def word_by_word(words, order=None):
    """The translation of words by themselves, in an order of theirs."""
    order = range(len(words)) if order is None else order
    places = [(j, i, words[i]) for j, i in enumerate(order)]
    return translation_of([Phrase(word, word, (i, i + 1), (j, j + 1), ((i, j),), True) for j, i, word in places])
