"""Figures as files: in each format, by the style of all, the same bytes at any time; what cannot be drawn is said."""

import pytest
from matplotlib.colors import to_hex

from phrasebeam.base.errors import ConfigError
from phrasebeam.base.figures import PALETTE, check_figure_file, write_figure

BEGINNINGS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.mark.parametrize("name", BEGINNINGS)
def test_files_do_not_depend_on_the_time(tmp_path, name):
    colors = []

    def draw(figure):
        lines = [line for i in range(3) for line in figure.gca().plot([0, i])]
        colors.append([to_hex(line.get_color()).upper() for line in lines])

    for path in (tmp_path / f"a.{name}", tmp_path / f"b.{name}"):
        check_figure_file(path)
        write_figure(path, 3, 2, draw)
        assert path.read_bytes().startswith(BEGINNINGS[name])
    assert (tmp_path / f"a.{name}").read_bytes() == (tmp_path / f"b.{name}").read_bytes()
    assert colors[0] == list(PALETTE[:3])
    assert not any(date in path.read_bytes() for date in (b"CreationDate", b"<dc:date>"))


def test_a_format_that_is_none(tmp_path):
    with pytest.raises(ConfigError, match=r"a\.words: not a file format for plots"):
        check_figure_file(tmp_path / "a.words")
