"""Classes of both sides of sentence pairs, as files."""

from phrasebeam.lm.text.word_classes import read_word_classes
from phrasebeam.training.clustering.class_file import write_classes_of_pairs

PAIRS = [(["a", "b"], ["x"]), (["a", "<s>", "c"], ["x", "x"]), ([], ["<unk>"])]


def test_each_side_has_its_classes_and_counts(tmp_path):
    paths = tmp_path / "source", tmp_path / "target"
    write_classes_of_pairs(PAIRS, paths, 2)
    source, target = map(read_word_classes, paths)
    assert source.keys() == {"a", "b", "c"}
    assert len(set(source.values())) == 2
    assert paths[1].read_text() == "0\tx\t3\n"
    assert target == {"x": "0"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source", "target"]


def test_more_classes_than_words_are_one_for_each(tmp_path):
    paths = tmp_path / "source", tmp_path / "target"
    write_classes_of_pairs(PAIRS, paths, 50)
    assert len(set(read_word_classes(paths[0]).values())) == 3
