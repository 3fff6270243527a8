"""Segments with all kinds of markup in them, and decoders that reorder, drop and repeat words."""

from hypothesis import strategies as st

from phrasebeam.decoder.output.translation import Phrase
from tests.decoder.marked_text.given import translation_of, word_by_word

MARKUP = [
    *("%s", "%d", "%(name)s", "%1$s", "%2$d", "%%", "%5.2f", "{}", "{0}", "{name}", "{{name}}", "${HOME}", "$1", "%@"),
    *("&amp;", "&nbsp;", "&#39;", "&quot;", "&lt;b&gt;", "&lt;/b&gt;", "\\n", "\\t", "\\'", "\\u00e9", "\\"),
    *(":func:`x`", ":ref:`see this <x>`", "``a b``", "`Link <http://x.y>`_", "`x`", "*so*", "**so it is**", "*args"),
    *("http://a.b/c?d=%20", "a@b.c", "/etc/x", "--all", "f()", "my_name", "_File", "&Open", "[here](a.html)", "|v|"),
    *("<b>", "</b>", "<i class='x'>", "</i>", "<br/>", "<br>", "<x>", "<!-- c -->", "<p>", "</p>", "< 3 >", "<a"),
]
WORDS = ["der", "Hund", "schläft", "50%", "(", ")", ",", ".", "'", "*", "-", "<", ">", "&", "{", "}", "%", "_", "`"]
SPACES = [" ", " ", " ", "", "\n", "\n\n", "\t", "\u00a0", "  "]
PARTS = st.sampled_from(MARKUP) | st.sampled_from(WORDS[:3]) | st.sampled_from(WORDS)
SEGMENTS = st.lists(st.tuples(PARTS, st.sampled_from(SPACES)), max_size=12).map(
    lambda parts: "".join(part + space for part, space in parts)
) | st.text("ab %s{}<>/&;\\n\n`*_:", max_size=25)
ELEMENTS = ["<g id='1'>der ", "</g>", "<x id='2'/>", "<ph id='3'>&lt;br&gt;</ph>", "<bpt id='4'>[</bpt>", "<ept id='4'>]</ept>"]


@st.composite
def inner_xml(draw):
    """What may be in an element of XLIFF: well-formed."""
    parts, opened = [], 0
    for part in draw(st.lists(st.sampled_from([*ELEMENTS, "%s", "{name}", "&lt;b&gt;", "&amp;", "Hund ", " "]), max_size=12)):
        opened += {ELEMENTS[0]: 1, ELEMENTS[1]: -1}.get(part, 0)
        if opened < 0:
            opened = 0
        else:
            parts.append(part)
    return "".join([*parts, "</g>" * opened])


@st.composite
def decoders(draw):
    """A function that translates sentences word by word, in any order, some words never, others twice."""
    seed = draw(st.randoms(use_true_random=False))
    dropped, repeated = draw(st.sampled_from([(0.0, 0.0), (0.0, 0.0), (0.3, 0.2)]))

    def translate_all(inputs):
        for given in inputs:
            order = list(range(len(given.words)))
            seed.shuffle(order)
            order = [i for i in order if seed.random() >= dropped]
            order += [i for i in order if seed.random() < repeated]
            yield translation_of(
                [Phrase(given.words[i], given.words[i], (i, i + 1), (j, j + 1), ((i, j),), True) for j, i in enumerate(order)]
            )

    return translate_all


def as_they_are(inputs):
    """Each sentence as its own translation."""
    return (word_by_word(given.words) for given in inputs)


def backwards(inputs):
    """Each sentence with its words in reverse order."""
    return (word_by_word(given.words, range(len(given.words))[::-1]) for given in inputs)
