"""Sparse features in both searches against brute force over all derivations."""

import random
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phrasebeam.base.config import load_config, save_config
from phrasebeam.base.errors import ConfigError, FormatError, ModelError
from phrasebeam.cli import main
from phrasebeam.decoder.features.histories import NO_HISTORY, new_histories
from phrasebeam.decoder.features.sparse_history import BEFORE, LAST, RULE, SOURCE_CLASSES
from phrasebeam.decoder.features.weights import Weights
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder
from phrasebeam.decoder.input.raw_text_settings import RawTextSettings
from phrasebeam.decoder.input.sentence_input import Input
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.raw_text.preprocessing import RawText
from phrasebeam.decoder.search.search_settings import SearchSettings
from phrasebeam.decoder.sparse.levels import Level, WordEdges, WordLists
from phrasebeam.decoder.sparse.sparse_files import FORMAT, save_templates
from phrasebeam.decoder.sparse.sparse_weights import (
    add_weights,
    fill_weights,
    joined,
    new_sparse_weights,
    no_features,
    rows_of,
    save_sparse_weights,
    sparse_weights_of,
    summed,
    used,
    with_values,
)
from phrasebeam.decoder.sparse.template_kernels import NO_WORD
from phrasebeam.decoder.sparse.templates import Templates
from phrasebeam.decoder.tables import word_counts
from phrasebeam.decoder.translate.pipeline import LineSettings, translate_lines
from phrasebeam.decoder.translate.translator import Decoder
from tests.decoder.models import REORDERINGS, SOURCE, TARGET, last_workspace, random_toy, toy_name
from tests.decoder.search.test_search import UNLIMITED, flat
from tests.inner_kernels import find_slots, intern_history
from tests.naive.phrase_templates import PHRASE_GROUPS, most_frequent, one_word_counts
from tests.naive.search import derivations, features
from tests.naive.sparse import groups_of, key_of, names, text_of

pytestmark = pytest.mark.kernels
ALGORITHMS = st.sampled_from(["stack", "cube"])
LEVELS = [
    Level(kind="word", budget=5),
    Level(kind="classes", budget=3, source="source.classes", target="target.paths"),
    Level(kind="classes", budget=2, prefix=1, source="source.classes", target="target.paths"),
    Level(kind="type", budget=1),
    Level(kind="tags", budget=2, content=["N", "V"]),
    Level(kind="tags", budget=1, prefix=1, target="target.paths"),
    Level(kind="characters", budget=2, suffix=1),
    Level(kind="classes", budget=1, prefix=2, source="source.classes", source_only=True),
]
WITHOUT_TAGS = LEVELS[:4]


FEW = 2  # words are frequent in small models


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_counts, "MOST_FREQUENT", FEW)
        yield tmp_path_factory.mktemp("sparse")


def word_lists():
    """None of the words, some, or all, as none is listed; of every list."""
    source, target = (st.none() | st.lists(st.sampled_from([*side, "x"])) for side in (SOURCE, TARGET))
    return st.builds(WordLists, inserted=target, deleted=source, pair_source=source, pair_target=target)


@st.composite
def templates_of(draw):
    few, many = st.integers(1, 3), st.integers(1, 8)
    edges = draw(st.none() | st.builds(WordEdges, budget=many, most_words=few, with_length=st.booleans()))
    levels = draw(st.lists(st.sampled_from(LEVELS), min_size=1, max_size=3, unique_by=lambda level: level.name))
    return Templates(
        levels=levels,
        word_edges=edges,
        rule_id=draw(st.booleans()),
        rule_bigram=draw(st.booleans()),
        rule_history=draw(st.booleans()),
        **{group: draw(st.booleans()) for group in PHRASE_GROUPS},
        word_lists=draw(word_lists()),
        rule_reordering=draw(st.booleans()),
        class_reordering=draw(st.booleans()) and any(level.kind in ("classes", "tags") for level in levels),
    )


def with_tags(words, seed):
    """The sentence with random tags, which models without features of tags ignore."""
    return Input(words, tags=tuple(random.Random(seed).choices(["N", "NA", "VA", "ART", "$."], k=len(words))))


def random_sentence(seed, least, most):
    """A random sentence with tags."""
    rng = random.Random(seed)
    return with_tags(rng.choices([*SOURCE, "x"], k=rng.randint(least, most)), seed)


def add_templates(toy, templates, seed):
    """Write templates, word classes and scales to the toy's directory; the maps by side and level, and the scales."""
    rng = random.Random(seed)
    source = {word: rng.choice(["00", "01", "1"]) for word in SOURCE}
    target = {word: rng.choice(["00", "01", "1"]) for word in [*TARGET[1:], "x"]}
    (toy.directory / "source.classes").write_text("".join(f"{w} {c}\n" for w, c in source.items()))
    (toy.directory / "target.paths").write_text("".join(f"{c}\t{w}\t1\n" for w, c in target.items()))
    save_templates(toy.directory, templates)
    maps = {"source": [source] * len(templates.levels), "target": [target] * len(templates.levels)}
    maps |= add_points(toy, rng)
    weights = load_config(toy.directory / "weights.yaml", type(Decoder.load(toy.directory).model.weights))
    scales = {name: rng.uniform(-1, 1) for name in groups_of(templates) if rng.random() < 0.9}
    save_config(weights.model_copy(update=scales), toy.directory / "weights.yaml")
    return maps, scales


def add_points(toy, rng):
    """Give the toy's pairs random counts and alignments; these by pair, and the most frequent words of both sides."""
    pairs = [(tuple(source.split()), tuple(one[0].split())) for source, found in toy.table.items() for one in found]
    counts = [rng.choice([0, 1, 1, 2, 7]) for _ in pairs]
    np.save(toy.directory / "phrases" / "joint_counts.npy", np.array(counts, np.int32))
    points, share = {}, rng.random()
    for source, target in pairs:
        every = product(range(len(source)), range(len(target)))
        points[source, target] = [point for point in every if rng.random() < share]
    flat_points = np.array([point for some in points.values() for point in some], np.uint8).reshape(-1, 2)
    np.save(toy.directory / "phrases" / "alignment_points.npy", flat_points)
    offsets = np.cumsum([0, *map(len, points.values())]).astype(np.int64)
    np.save(toy.directory / "phrases" / "alignment_offsets.npy", offsets)
    sides = one_word_counts((*pair, count) for pair, count in zip(pairs, counts))
    return {"points": points, "frequent": [most_frequent(side, FEW) for side in sides]}


def all_vectors(toy, templates, maps, scales, given, seed, chosen=None):
    """Vectors and weights of all derivations, with the groups' values, names by key; sparse weights go to files.

    Of the `chosen` derivations, where these are given.
    """
    rng, found = random.Random(seed), []
    for derivation in chosen or derivations(toy.table, given.words, toy.longest, 2):
        plain = [(span, option[0]) for span, option in derivation]
        dense = features(derivation, 4, toy.reordering, toy.lm, toy.order, toy.early)
        every = names(templates, maps, given.words, given.tags, plain)
        found.append((dense, [name for name in every if name[0] in scales]))
    keys = {name: key_of(name) for name in dict.fromkeys(name for _, some in found for name in some)}
    values = {name: rng.uniform(-1, 1) if rng.random() < 0.7 else 0.0 for name in keys}
    table = new_sparse_weights(len(keys))
    add_weights(table, np.array(list(keys.values()), np.uint64), np.array(list(values.values())))
    save_sparse_weights(table, toy.directory / "sparse")
    vectors = [
        np.concatenate([dense, [sum(values[n] for n in some if n[0] == group) for group in scales]])
        for dense, some in found
    ]
    return (
        np.array(vectors),
        np.concatenate([toy.weights, list(scales.values())]),
        {key: text_of(n) for n, key in keys.items()},
    )


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 2**20),
    reordering=REORDERINGS,
    templates=templates_of(),
    algorithm=st.sampled_from(["stack", "cube"]),
)
def test_lists_are_the_full_enumeration(directory, seed, reordering, templates, algorithm):
    name = f"{toy_name(seed, reordering)}-{hash(templates.model_dump_json())}"
    toy = random_toy(directory / name, seed, reordering=reordering, early=seed % 3 == 0)
    maps, scales = add_templates(toy, templates, seed)
    sentence = random_sentence(seed, 1, 4)
    vectors, weights, texts = all_vectors(toy, templates, maps, scales, sentence, seed)
    scores = np.sort(vectors @ weights)[::-1][:50]
    decoder = Decoder.load(
        toy.directory, SearchSettings(**UNLIMITED, algorithm=algorithm, pop_limit=0, distortion_limit=2)
    )
    found = decoder.answer(sentence, Request(n=50, sparse="names")).nbest
    np.testing.assert_allclose([one.score for one in found], scores, atol=2e-4)
    for one in found:
        assert np.abs(vectors - flat(one.features)).max(axis=1).min() < 2e-4
        assert flat(one.features) @ weights == pytest.approx(one.score, abs=2e-4)
        assert {key: one.sparse_names[key] for key in one.sparse} == {key: texts[key] for key in one.sparse}
        assert sum(one.sparse[key] for key in one.sparse if one.sparse_names[key].startswith("rule_id_")) == (
            len(one.phrases) if "rule_id" in scales else 0
        )


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 2**20), reordering=REORDERINGS, templates=templates_of())
def test_forced_decoding_has_the_scores_of_the_search(directory, seed, reordering, templates):
    """The best of all derivations of a text is found, and any state's score is that of its derivation's features."""
    name = f"forced-{toy_name(seed, reordering)}-{hash(templates.model_dump_json())}"
    toy = random_toy(directory / name, seed, 3, reordering)
    maps, scales = add_templates(toy, templates, seed)
    sentence = random_sentence(seed, 1, 5)
    by_text = {}
    for derivation in derivations(toy.table, sentence.words, toy.longest, 2):
        by_text.setdefault(" ".join(word for _, option in derivation for word in option[0]), []).append(derivation)
    text = max(sorted(by_text), key=lambda text: len(by_text[text]))
    vectors, weights, _ = all_vectors(toy, templates, maps, scales, sentence, seed, by_text[text])
    decoder = ForcedDecoder.load(toy.directory, SearchSettings(table_limit=0, distortion_limit=2))
    with decoder.prepare(sentence, text.split()) as search:
        gold = search.score(search.lattice()[1])
        for node in gold.best_node[gold.best_node >= 0].tolist():
            assert gold.features(node) @ weights == pytest.approx(gold.score(node), abs=1e-6)
        assert gold.score(gold.best_node[len(sentence.words)]) == pytest.approx((vectors @ weights).max(), abs=2e-4)


@pytest.mark.parametrize("line", ["a b c d a", "a|N b|V c|N d|N a|V"])
@pytest.mark.parametrize("group", ["rule_bigram", "rule_history", "class_reordering"])
def test_states_are_told_apart_only_by_what_features_depend_on(directory, group, line):
    toy = random_toy(directory / f"states {group} {len(line)}", 4, most=8)
    maps, _ = add_templates(toy, Templates(levels=LEVELS if "|" in line else WITHOUT_TAGS, **{group: True}), 4)
    decoder = Decoder.load(toy.directory, SearchSettings(**UNLIMITED), Weights(**{group: 1.0}))
    decoder.translate(line)
    histories = last_workspace(decoder).histories
    n = int(histories.size[0])
    columns = histories.columns[:, 1:]  # behind the options' states
    seen = {"rule_bigram": columns[:, RULE], "class_reordering": columns[:, SOURCE_CLASSES]}
    for name, values in seen.items():
        assert np.any(values[1:n] != 0) == (name == group)
    assert np.any(columns[:n, [LAST, BEFORE]] != NO_WORD) == (group == "rule_history")
    if group == "class_reordering":  # of phrases of up to `longest` words of the sentence
        known = line[2::4] if "|" in line else [maps["source"][0][word] for word in line.split()]
        classes = {tuple(known[begin:end]) for begin in range(5) for end in range(begin + 1, 6)}
        assert 1 < len({*columns[1:n, SOURCE_CLASSES].tolist()}) <= len(classes)


def interned(histories, *row):
    histories.row[:] = row
    return int(intern_history(histories, np.int64(len(row))))


def test_histories_for_which_there_is_no_room():
    histories = new_histories(4, 2)
    histories.size[0] = 1  # START_HISTORY
    assert [interned(histories, state, 0) for state in (5, 6, 7, 8, 6)] == [1, 2, 3, NO_HISTORY, 2]


def test_histories_whose_hashes_have_the_same_slot():
    histories = new_histories(64, 3)
    histories.size[0] = 1  # START_HISTORY
    rows = list(product(range(5), range(3), (-1, 0, 1 << 60)))
    ids = [interned(histories, *row) for row in rows + rows]  # each is new once
    assert ids == [*range(1, len(rows) + 1)] * 2


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:overflow")
@pytest.mark.parametrize("algorithm", ["stack", "cube"])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e308])
@pytest.mark.parametrize("group", ["rule_bigram", "rule_reordering", "rule_id"])
def test_weights_that_are_not_finite_are_refused(directory, group, value, algorithm):
    toy = random_toy(directory / f"weights {group}", 4, most=8)
    levels = [level for level in LEVELS if level.kind != "tags"]
    add_templates(toy, Templates(levels=levels, **{group: True}), 4)
    limits = SearchSettings(algorithm=algorithm, stack=3, pop_limit=3)
    decoder = Decoder.load(toy.directory, limits, Weights(**{group: 1.0}))
    answer = decoder.answer("a b c d a", Request(n=20, sparse="keys"))
    keys = np.array(sorted({key for one in answer.nbest for key in one.sparse}), np.uint64)
    sparse = with_values(decoder.tables.sparse.weights, keys, np.full(keys.size, value))
    decoder.reweigh(Weights(**{group: 1.0}), sparse)
    with pytest.raises(ModelError, match=r"^weights .* (not finite|expected smaller ones)"):
        decoder.answer("a b c d a", Request(n=20))


def test_class_reordering_without_classes_is_refused(directory, capsys):
    toy = random_toy(directory / "no classes", 3)
    save_templates(toy.directory, Templates(rule_reordering=True))
    templates = toy.directory / "templates.yaml"
    templates.write_text(templates.read_text().replace("class_reordering: false", "class_reordering: true"))
    assert main(["translate", "--model", str(toy.directory)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "class_reordering needs classes of source words; add a level of kind classes" in line


def test_sentences_without_tags_are_refused_by_models_with_features_of_tags(directory):
    toy = random_toy(directory / "tags", 3)
    add_templates(toy, Templates(levels=[Level(kind="tags", budget=1)], class_reordering=True), 3)
    decoder = Decoder.load(toy.directory)
    with pytest.raises(ConfigError, match="'a b' has no tags, and the model has features of tags; give Input some"):
        decoder.translate(Input(["a", "b"]))
    with pytest.raises(ConfigError, match=r"the token 'b', expected word\|TAG"):
        decoder.translate("a|N b")
    assert decoder.translate(Input([])).text == ""
    raw_text = RawText(RawTextSettings(source_language="de", target_language="en", casing="keep"))
    with pytest.raises(FormatError, match=r"features of tags; give tokens word\|TAG, and say so"):
        next(translate_lines(decoder, ["a b"], settings=LineSettings(raw_text)))
    with pytest.raises(ConfigError, match="content is for tags; give it to a level of kind tags"):
        Level(kind="type", budget=1, content=["N"])


def test_keys_are_of_names_alone():
    """Weights on disk are found by these numbers: if they change, so must FORMAT in sparse_files.py."""
    rule, other = (("das", "haus"), ("the", "house")), (("ein",), ())
    known = [("rule_id", rule), ("rule_bigram", rule, other), ("rule_history", rule, "word=a", "word=b")]
    known += [("all_edges", ((0, "word=das"), (2, None), (5, "type=mark")), 2)]
    known += [("rule_reordering", rule, "next", True), ("rule_reordering", rule, "previous", False)]
    known += [
        ("class_reordering", None, ("classes=1",), True),
        ("class_reordering", ("classes=1",), ("classes=0",), False),
    ]
    keys = [15721781228362795039, 13544610692800697467, 11676312142535762259, 4902720219909543935]
    keys += [8826297054042865007, 11711306108422566579, 677421159418608917, 7986932128082645367]
    assert (FORMAT, [key_of(name) for name in known]) == ("phrasebeam sparse features 2", keys)


def test_features_with_other_keys_are_refused(directory, capsys):
    toy = random_toy(directory / "other keys", 3)
    add_templates(toy, Templates(rule_id=True), 3)
    path, arguments = toy.directory / "templates.yaml", ["translate", "--model", str(toy.directory)]
    text = path.read_text()
    for format, found in (("", "no format"), ("format: x 3\n", "the format of sparse features is 'x 3'")):
        path.write_text(text.replace(f"format: {FORMAT}\n", format))
        assert main(arguments) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert f"{path}: {found}, expected '{FORMAT}'; learn the features again with train-maxforce" in line
    path.unlink()
    weights = load_config(toy.directory / "weights.yaml", Weights).model_copy(update={"rule_id": None})
    Decoder.load(toy.directory, weights=weights)


@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**20), templates=templates_of(), distinct=st.booleans())
def test_tables_are_the_lists(directory, seed, templates, distinct):
    toy = random_toy(directory / f"table-{seed}-{hash(templates.model_dump_json())}", seed)
    maps, scales = add_templates(toy, templates, seed)
    sentence = random_sentence(seed, 0, 4)
    if sentence.words:
        all_vectors(toy, templates, maps, scales, sentence, seed)
    decoder = Decoder.load(toy.directory)
    found = decoder.answer(sentence, Request(n=20, distinct=distinct, sparse="keys")).nbest
    (table,) = decoder.nbest_tables([sentence], 20, distinct, sparse=True)
    assert table.texts == [one.text for one in found]
    assert table.score.tolist() == [one.score for one in found]
    assert table.features.tolist() == [flat(one.features).tolist() for one in found]
    phrases, target = decoder.model.tables.phrases, decoder.model.target
    for one, begin, end in zip(found, table.first[:-1], table.first[1:], strict=True):
        if sentence.words:
            assert len(one.phrases) == end - begin
        for phrase, pair in zip(one.phrases, table.pairs[begin:end].tolist()):
            ids = phrases.target_words[slice(*phrases.target_offsets[pair : pair + 2])] if pair >= 0 else []
            assert (pair < 0) == phrase.is_copied
            assert pair < 0 or phrase.target == " ".join(target.word(i) for i in ids.tolist())
    weights = dict(zip(*(array.tolist() for array in used(decoder.model.tables.sparse.weights))))
    for one, values, row in zip(found, table.sparse.vectors(), table.features):
        assert values.keys() == one.sparse.keys()
        share = sum(weights.get(key, 0.0) * value for key, value in values.items())
        assert row[: toy.weights.size] @ toy.weights + share == pytest.approx(one.score, abs=2e-4)
    (plain,) = decoder.nbest_tables([sentence], 20, distinct)
    assert plain.texts == table.texts
    assert not any(plain.sparse.vectors())


@given(st.lists(st.integers(1, 20), max_size=12), st.lists(st.integers(1, 20)))
def test_slots_of_many_keys(before, asked):
    keys = np.array(sorted({*before}), np.uint64)
    weights, wanted = sparse_weights_of(keys, keys.astype(np.float64)), np.array(asked, np.uint64)
    slots = np.empty(wanted.size, np.int64)
    find_slots(weights, wanted, wanted.size, slots)
    assert [float(weights.values[slot]) if slot >= 0 else None for slot in slots.tolist()] == [
        float(key) if key in before else None for key in asked
    ]


@given(st.dictionaries(st.integers(1, 9), st.floats(-2, 2)), st.dictionaries(st.integers(1, 12), st.floats(-2, 2)))
def test_weights_can_be_replaced(before, changed):
    table = new_sparse_weights(len(before))
    add_weights(table, np.array(list(before), np.uint64), np.array(list(before.values())))
    found = with_values(table, np.array(list(changed), np.uint64), np.array(list(changed.values())))
    keys, values = np.arange(1, 14, dtype=np.uint64), np.empty(13)
    fill_weights(found, keys, values)
    assert values.tolist() == [(before | changed).get(key, 0.0) for key in range(1, 14)]
    assert dict(zip(*(array.tolist() for array in used(table)))) == before


@given(st.lists(st.lists(st.tuples(st.sampled_from([0, 1, 2**64 - 1]), st.sampled_from([0.5, -1.0, 2.0])), max_size=5)))
def test_sparse_rows(rows):
    flat_rows = [pair for row in rows for pair in row]
    first = np.append(0, np.cumsum([len(row) for row in rows])).astype(np.int64)
    keys, values = np.array([k for k, _ in flat_rows], np.uint64), np.array([v for _, v in flat_rows], np.float32)
    expected = [{key: sum(v for k, v in row if k == key) for key in sorted({k for k, _ in row})} for row in rows]
    found = summed(first, keys, values)
    assert [list(vector.items()) for vector in found.vectors()] == [list(vector.items()) for vector in expected]
    assert rows_of(expected).vectors() == expected
    chosen = np.arange(len(rows))[::-2]
    taken = found.take(chosen)
    assert taken.vectors() == [expected[i] for i in chosen]
    assert joined([taken, no_features(1), found]).vectors() == [*taken.vectors(), {}, *expected]
