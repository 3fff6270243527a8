"""Tables in pipes: a line for each row, however wide."""

from phrasebeam.console.tables import print_table, text_table


def test_rows_are_neither_wrapped_nor_cut(capsys):
    wide = "w" * 500
    print_table([["name", "value"], [wide, "1"]])
    assert capsys.readouterr().out.splitlines() == [f"{'name':<500}  value", f"{wide}  1"]


def test_another_plain_text(capsys):
    print_table([["name"], ["a"]], "just a")
    assert capsys.readouterr().out == "just a\n"


def test_an_underlined_header():
    assert text_table([["a", "long"], ["wide", "b"]], underlined=True).splitlines() == [
        "a     long",
        "----  ----",
        "wide  b",
    ]
