"""Classes of the words of a text, as a file."""

from phrasebeam.lm.text.word_classes import read_word_classes
from phrasebeam.training.clustering.bigrams import read_bigrams
from phrasebeam.training.clustering.word_classes import write_classes


def classes_of(text, directory, n_classes):
    (directory / "text").write_text(text)
    write_classes(directory / "classes", read_bigrams([directory / "text"]), n_classes)
    return read_word_classes(directory / "classes")


def test_all_words_have_classes(tmp_path):
    classes = classes_of("a b\na c\n", tmp_path, 2)
    assert classes.keys() == {"a", "b", "c"}
    assert len(set(classes.values())) == 2


def test_a_single_word_has_one_class_and_its_count(tmp_path):
    assert classes_of("x\nx x\n\n", tmp_path, 2) == {"x": "0"}
    assert (tmp_path / "classes").read_text() == "0\tx\t3\n"


def test_more_classes_than_words_are_one_for_each(tmp_path):
    assert len(set(classes_of("a b\na c\n", tmp_path, 50).values())) == 3
