"""Segments with all kinds of markup in them, and decoders that reorder, drop and repeat words."""

from hypothesis import strategies as st

from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.decoder.output.translation import Phrase
from tests.decoder.marked_text.given import translation_of, word_by_word

MARKUP = [
    *("%s", "%d", "%(name)s", "%1$s", "%2$d", "%%", "%5.2f", "{}", "{0}", "{name}", "{{name}}", "${HOME}", "$1", "%@"),
    *("&amp;", "&nbsp;", "&#39;", "&quot;", "&lt;b&gt;", "&lt;/b&gt;", "\\n", "\\t", "\\'", "\\u00e9", "\\"),
    *(":func:`x`", ":ref:`see this <x>`", "``a b``", "`Link <http://x.y>`_", "`x`", "*so*", "**so it is**", "*args"),
    *("http://a.b/c?d=1", "a@b.c", "/etc/x", "--all", "f()", "my_name", "_File", "&Open", "[here](a.html)", "|v|"),
    *("<b>", "</b>", "<i class='x'>", "</i>", "<br/>", "<br>", "<x>", "<!-- c -->", "<p>", "</p>", "< 3 >", "<a"),
]
WORDS = ["der", "Hund", "schläft", "50%", "(", ")", ",", ".", "'", "*", "-", "<", ">", "&", "{", "}", "%", "_", "`"]
SPACES = [" ", " ", " ", "", "\n", "\n\n", "\t", "\u00a0", "  "]
PARTS = st.sampled_from(MARKUP) | st.sampled_from(WORDS[:3]) | st.sampled_from(WORDS)
SEGMENTS = st.lists(st.tuples(PARTS, st.sampled_from(SPACES)), max_size=12).map(
    lambda parts: "".join(part + space for part, space in parts)
) | st.text("ab %s{}<>/&;\\n\n`*_:", max_size=25)
ELEMENTS = [
    "<g id='1'>der ",
    "</g>",
    "<x id='2'/>",
    "<ph id='3'>&lt;br&gt;</ph>",
    "<bpt id='4'>[</bpt>",
    "<ept id='4'>]</ept>",
]
XML_TEXT = ["%s", "{name}", "&lt;b&gt;", "&lt;/b&gt;", "*", "&amp;", "Hund ", " "]


@st.composite
def inner_xml(draw):
    """What may be in an element of XLIFF: well-formed."""
    parts, opened = [], 0
    for part in draw(st.lists(st.sampled_from([*ELEMENTS, *XML_TEXT]), max_size=12)):
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
            places = [(j, i, given.words[i]) for j, i in enumerate(order)]
            yield translation_of([Phrase(word, word, (i, i + 1), (j, j + 1), ((i, j),), True) for j, i, word in places])

    return translate_all


def as_they_are(inputs):
    """Each sentence as its own translation."""
    return (word_by_word(given.words) for given in inputs)


def backwards(inputs):
    """Each sentence with its words in reverse order."""
    return (word_by_word(given.words, range(len(given.words))[::-1]) for given in inputs)


PO = """# Translators: nobody
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

#. for menus
#: a.c:1
#, c-format
msgid "Hello %s\\n"
msgstr ""

msgid "Done"
msgstr "Fertig"

#, fuzzy
#| msgid "Old"
msgid "Unsure"
msgstr "Unsicher"

#, c-format
msgid "%d dog"
msgid_plural "%d dogs"
msgstr[0] "%d Hund"
msgstr[1] "%d Hunde"

msgctxt "menu"
msgid "%d big file"
msgid_plural "%d big files"
msgstr[0] ""
msgstr[1] ""

msgid "one\\n two"
msgstr ""

msgid "https://a.b"
msgstr ""

#~ msgid "old"
#~ msgstr "alt"
"""
TMX = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en-US" datatype="html"/><body>
<tu><tuv xml:lang="en-US"><seg>Hello <bpt i="1">&lt;b&gt;</bpt>you<ept i="1">&lt;/b&gt;</ept>
  and <hi>you</hi></seg></tuv><tuv xml:lang="de"><seg>Hallo du und du</seg></tuv></tu>
<tu><tuv xml:lang="en-US"><seg>Hello</seg></tuv><tuv xml:lang="fr"><seg>Bonjour</seg></tuv></tu>
<tu><tuv xml:lang="en-US"><seg>Hello</seg></tuv><tuv xml:lang="de"><seg/></tuv></tu>
<tu><prop type="x">y</prop><tuv xml:lang="en-US"><seg>Bye</seg></tuv><tuv xml:lang="de"><seg>Tschüs</seg></tuv></tu>
</body></tmx>
"""
XLIFF_1 = """<?xml version="1.0" encoding="utf-8"?>
<!-- by nobody -->
<xliff xmlns="urn:oasis:names:tc:xliff:document:1.2" xmlns:k="x:y" version="1.2">
  <file original="a" source-language="en-US" target-language="de" datatype="html">
    <header><note>kept</note></header>
    <body>
      <trans-unit id="1" k:a="1">
        <source>Hello <g id="1">big <x id="2"/> world</g> &amp; {name}</source>
        <note>n</note>
      </trans-unit>
      <trans-unit id="2" approved="yes">
        <source>Done <g id="1">it</g></source>
        <target state="final">Fertig <g id="1">damit</g></target>
      </trans-unit>
      <trans-unit id="3" translate="no"><source>Locked</source></trans-unit>
      <trans-unit id="4"><source><![CDATA[<b>Bold</b> text]]></source><target xml:lang="de"/></trans-unit>
      <group><trans-unit id="5">
        <source>Unsure</source><target state="needs-translation">Unsicher</target>
      </trans-unit></group>
      <trans-unit id="6"><source>Copy</source><target state="new">Copy</target></trans-unit>
      <trans-unit id="7">
        <source>One two. Three four.</source>
        <seg-source><mrk mtype="seg" mid="1">One two.</mrk> <mrk mtype="seg" mid="2">Three four.</mrk></seg-source>
      </trans-unit>
    </body>
  </file>
</xliff>
<!-- end -->
"""
XLIFF_2 = """<?xml version="1.0"?>
<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" trgLang="de">
  <file id="f">
    <unit id="1">
      <segment id="s1">
        <source>Hello <pc id="1">big</pc> <ph id="2"/> world</source>
      </segment>
      <segment state="initial"><source>Bye</source><target>Bye</target></segment>
      <segment><source>Yes <ph id="1"/> sir</source><target>Ja <ph id="1"/> Herr</target></segment>
      <segment state="initial"><source>No</source><target>Nein</target></segment>
    </unit>
  </file>
</xliff>
"""
CHARACTERS = Tokenization(
    lambda text: " ".join(text.replace(" ", "_")), lambda text: text.replace(" ", "").replace("_", " "), " ".join
)
