"""Pieces of text that programs stumble over, for lines and for fields of lines; strategies of hypothesis for lines."""

from hypothesis import strategies as st

NUMBERS = [
    *(
        "nan",
        "NaN",
        "inf",
        "-inf",
        "1e400",
        "-1e400",
        "1e308",
        "-1e308",
        "1e-400",
        "-1",
        "0",
        "-0",
        "00",
        "1_000",
        "+1",
    ),
    *("0x10", "1.", ".5", "1e", "٣", "²", "2147483647", "2147483648", "-2147483649", "9223372036854775807"),
    *("9223372036854775808", "18446744073709551616", "9" * 5000, "-" + "9" * 5000, "0." + "1" * 5000, "1,5"),
]
SEPARATORS = [
    *("|||", "||", "|", " ||| ||| ", "|||0", "\t", "\t\t", "  ", " ", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"),
    *(
        "\x1f",
        "\x85",
        "\xa0",
        "\u2028",
        "\u2029",
        "\u3000",
        "\u200b",
        "\ufeff",
        "=",
        "= ",
        ":",
        "-",
        ",",
        "_",
        "#",
        "\\",
    ),
]
MARKUP = [
    *(
        "<x>",
        "</x>",
        "<x",
        ">",
        "<",
        "&",
        "&amp;",
        "&lt;",
        "&#0;",
        "&#x110000;",
        "<wall/>",
        "<wall>",
        "</wall>",
        "<zone>",
    ),
    *(
        "</zone>",
        "<zone/>",
        "<zone",
        '<x translation="y">a</x>',
        '<x translation="">a</x>',
        '<x translation="y||z" prob="1||2">a</x>',
    ),
    *(
        '<x translation="y" prob="nan">a</x>',
        '<x translation="y" prob="-1">a</x>',
        '<x translation="y" prob="1e400">a</x>',
    ),
    *("<x translation=y>a</x>", '<x translation="y"/>', '<x translation="y>a</x>', "<<x>>", "<x y=z w=>", "<!-- a -->"),
    *('<x translation="a b c ||| d">ein</x>', "<zone> a <wall/> b </zone>", '<x translation="%s">a</x>' % ("y " * 300)),
]
CHARACTERS = [
    *(
        "\0",
        "\x01",
        "\x07",
        "\x08",
        "\x1a",
        "\x1b[31m",
        "\x7f",
        "\u202e",
        "\u200f",
        "שלום",
        "مرحبا",
        "e\u0301" * 50,
        "\u0301",
    ),
    *(
        "Z" + "\u0300" * 500,
        "\U0001f468\u200d\U0001f469",
        "\U0010ffff",
        "\ufffd",
        "\ufffe",
        "ﷺ",
        "İ",
        "ß",
        "ŉ",
        "ǆ",
        "日本語",
    ),
]
WORDS = [
    *(
        "<s>",
        "</s>",
        "<unk>",
        "<UNK>",
        "UNK",
        "%s",
        "%d",
        "{}",
        "{0}",
        "$HOME",
        "`id`",
        "@-@",
        "&apos;",
        "&bar;",
        "&#124;",
    ),
    *(
        "../../etc/passwd",
        "/dev/zero",
        "'",
        '"',
        "''",
        "0-0",
        "0-",
        "-0",
        "0-0-0",
        "-1-0",
        "0-99999999",
        "99999999-0",
        "0:1",
    ),
    *(
        "translation=",
        "\\data\\",
        "\\end\\",
        "\\1-grams:",
        "ngram 1=5",
        "ngram 9=1",
        "[feature]",
        "[weight]",
        "true",
        "null",
    ),
]
# And how often each is repeated.
REPEATED = [
    *(("a", 100_000), ("a ", 10_000), ("ein ", 300), ("|||", 1000), (" ||| ", 1000), ("<x>", 1000), ("</zone> ", 500)),
    *(("(", 5000), ("9", 5000), ("\u0301", 10_000), ("0-0 ", 1000), ("a ", 1000)),
]
MOST_WORDS = 1000  # of a line of `nasty_lines`; more take seconds to translate
LONG = [piece * times for piece, times in REPEATED]
PIECES = [*NUMBERS, *SEPARATORS, *MARKUP, *CHARACTERS, *WORDS]
BROKEN_UTF8 = [
    *(
        b"\xff",
        b"\xfe\xff",
        b"\x80",
        b"\xc3",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xed\xb0\x80",
        b"\xf4\x90\x80\x80",
        b"\xe2\x82",
    ),
    *("é".encode("latin-1"), "ein".encode("utf-16"), b"\x1f\x8b", b"\x1f\x8b\x08\x00", b"BZh9", b"PK\x03\x04"),
]

_pieces = st.sampled_from(PIECES) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_texts = st.lists(_pieces, max_size=8).map(" ".join) | st.lists(_pieces, max_size=8).map("".join)
_bytes = (
    _texts.map(str.encode)
    | st.builds(lambda text, broken: text.encode() + broken, _texts, st.sampled_from(BROKEN_UTF8))
    | st.binary(max_size=50)
).map(lambda line: line.replace(b"\n", b""))
_repeated = [(piece.encode(), times) for piece, times in REPEATED if times <= MOST_WORDS or " " not in piece]
# Lines without their ends: bytes of which most are UTF-8, and how often they are repeated.
nasty_lines = st.tuples(_bytes, st.just(1)) | st.sampled_from(_repeated)
