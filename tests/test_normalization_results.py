"""The tables of accuracy of normalizers, of rows of results."""

from benchmarks.normalization import comparison, variants_compared


def row(variant, name, block, accuracy):
    return {"variant": variant, "set": name, "words": "1000", "block": str(block), "accuracy": str(accuracy)}


ROWS = [
    row("recipe", "swedish-gaw", 0, 80.0),
    row("recipe", "swedish-gaw", 1, 82.0),
    row("recipe", "spanish-ps", 0, 88.0),
    row("other", "swedish-gaw", 1, 81.5),
]


def test_means_stand_beside_published_ones():
    _, spanish, swedish, mean = comparison(ROWS, "recipe")
    assert swedish == ["swedish-gaw", "1000", "74.54", "72.09", "78.51", "81.00", "2", "+2.49"]
    assert spanish[-3:] == ["88.00", "1", "+2.11"]
    assert mean == ["all", "", "", "", "", "", "", "+2.30"]


def test_variants_are_compared_where_both_have_the_block():
    assert variants_compared(ROWS, "other", "recipe") == [
        ["set", "words", "other", "recipe", "blocks", "difference"],
        ["swedish-gaw", "1000", "81.50", "82.00", "1", "+0.50"],
        ["all", "", "", "", "", "+0.50"],
    ]
