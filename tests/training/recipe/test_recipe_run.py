"""Runs of recipes: each stage once for what it depends on, the best is written, kills change nothing."""

import pytest
import yaml

import phrasebeam
from phrasebeam.base.errors import ConfigError, FormatError
from phrasebeam.cli import main
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.model_building import word_alignments
from phrasebeam.training.recipe import chosen_search
from phrasebeam.training.recipe_texts.recipe_data import RecipeFiles, TwinSettings, without_twins
from tests import QUICK_ALIGNMENT
from tests.training.recipe.stages import BUILD, MAXFORCE, STAGES, TEXTS, TUNE, content

pytestmark = pytest.mark.needs_jit


def times(directory):
    return {path.parent.name: path.stat().st_mtime_ns for path in directory.glob("recipe/stages/*/model.yaml")}


def test_all_kinds_of_stages(here, capsys):
    command = "train --source train.de --target train.en --dev-source dev.de --dev-reference dev.en --output out"
    assert (
        main(
            [*command.split(), *["--recipe", "recipe.yaml", "--test-source", "test.de", "--test-reference", "test.en"]]
        )
        == 0
    )
    said = capsys.readouterr()
    assert "stage 8 of 8: mbr" in said.err
    result = phrasebeam.train(*TEXTS, "out", recipe="recipe.yaml", test_source="test.de", test_reference="test.en")
    scores = {name: record.deciding.scores["bleu"] for name, record in result.stages.items()}
    assert list(scores) == [*(stage.get("name", stage["kind"]) for stage in STAGES)]
    # The first of the best is written, and translates as it was scored.
    assert result.best == max(scores, key=scores.get)
    assert f"out: the model of {result.best}; " in said.out
    decoder = phrasebeam.Decoder.load("out")
    lines = (here / "test.de").read_text().splitlines()
    texts = [translation.text for translation in decoder.translate_all(lines)]
    assert (here / f"out/recipe/{result.best}.test").read_text().splitlines() == texts
    references = (here / "test.en").read_text().splitlines()
    found = phrasebeam.evaluate_texts({"": texts}, [references], phrasebeam.EvaluationOptions(tokenize="none"))
    assert result.stages[result.best].test.scores["bleu"] == pytest.approx(found.results["BLEU"][0].score)
    assert phrasebeam.check_model("out") == []
    for name in ("report.md", "report.html"):
        report = (here / "out/recipe" / name).read_text()
        assert all(f"{record.test.scores['bleu']:.2f} ±" in report for record in result.stages.values())
        assert "phrasebeam train \\\n  --source train.de" in report
        assert "sentences: 400 training" in report.lower()
        assert "stages/tune/tuning/curve.png" in report
    for text in (
        "Largest gains",
        "The dotted line marks",
        "Settings of the recipe",
        "<svg",
    ):
        assert text in report, text


def test_two_models_of_the_bitext(here):
    """Each tuned; trainers begin with the better one, and hold out a sentence with the alignments of that one."""
    settings = BUILD | {"more_alignments": [QUICK_ALIGNMENT["alignment"] | {"seed": seed} for seed in (2, 3)]}
    again = {"kind": "train-model", "name": "again", "settings": settings | {"phrases": {"agreement": 2}}}
    tuned = {"kind": "tune", "name": "tuned-again", "start": "again", "settings": TUNE}
    learned = MAXFORCE | {"name": "learned", "start": "tuned-again"}
    recipe = {"held_out": 0.34, "stages": [*STAGES[:2], again, tuned, learned]}
    raw = {"raw": True, "clean": False, "source_language": "de", "target_language": "en"}
    result = phrasebeam.train(*TEXTS, "out", recipe=recipe, **raw)
    assert list(result.stages) == ["train-model", "tune", "again", "tuned-again", "learned"]
    assert result.stages["again"].start == ""
    kept = (here / "out/recipe/stages/learned/alignment").read_bytes()
    assert kept == (here / "out/recipe/stages/again/alignment").read_bytes()
    assert kept.count(b"|||") == 2 * 400


def test_an_alignment_that_a_model_keeps_is_not_computed_again(here, monkeypatch):
    settings = QUICK_ALIGNMENT | {"more_alignments": [{"aligner": "fast_align"}]}
    again = {"kind": "train-model", "name": "again", "settings": settings}
    seen = []
    aligned = word_alignments.align
    monkeypatch.setattr(word_alignments, "align", lambda *args: seen.append(args[2].aligner) or aligned(*args))
    phrasebeam.train(*TEXTS, "out", recipe={"stages": [*STAGES[:2], again, again | {"name": "third"}]})
    assert seen == ["eflomal", "fast_align"]
    phrasebeam.train_model("train.de", "train.en", "alone", config=again["settings"])
    found = [(here / path / "alignment").read_bytes() for path in ("out/recipe/stages/third", "alone")]
    assert found[0] == found[1]


def test_more_agreement_than_alignments_is_refused_before_any_work(here):
    again = {"kind": "train-model", "name": "again", "settings": {"phrases": {"agreement": 2}}}
    with pytest.raises(ConfigError, match="agreement: 2, and there are 1 word alignments; expected no more, or give"):
        phrasebeam.train(*TEXTS, "out", recipe={"stages": [*STAGES[:2], again]})
    assert not (here / "out").exists()


def test_a_recipe_that_is_not_there(here):
    with pytest.raises(
        ConfigError, match=r"^bst: neither a file nor a recipe; expected a file, or one of best, normalize, quick, s"
    ):
        phrasebeam.train(*TEXTS, "out", recipe="bst")


def test_other_seeds(here):
    recipe = {"stages": [*STAGES[:2], MAXFORCE]}
    results = [phrasebeam.train(*TEXTS, f"out-{seed}", recipe=recipe, seed=seed) for seed in (1, 2)]
    assert [*results[0].stages] == [*results[1].stages]
    for stage, name in (("train-model", "alignment"), ("tune", "weights.yaml"), ("train-maxforce", "weights.yaml")):
        one, other = ((here / f"out-{seed}/recipe/stages" / stage / name).read_bytes() for seed in (1, 2))
        assert one != other, stage
    assert "--recipe RECIPE.yaml \\\n  --seed 2" in (here / "out-2/recipe/report.md").read_text()


def test_only_what_follows_from_a_change_is_done_again(here):
    recipe = {"held_out": 0.34, "stages": [*STAGES[:2], MAXFORCE]}
    phrasebeam.train(*TEXTS, "out", recipe=recipe)
    before, first = times(here / "out"), content(here / "out")
    phrasebeam.train(*TEXTS, "out", recipe=recipe, threads=1)
    assert times(here / "out") == before
    assert content(here / "out") == first
    other = {
        "held_out": 0.34,
        "stages": [*STAGES[:2], MAXFORCE | {"settings": MAXFORCE["settings"] | {"seeds": [2]}}],
    }
    phrasebeam.train(*TEXTS, "out", recipe=other)
    after = times(here / "out")
    assert [name for name in before if after[name] != before[name]] == ["train-maxforce"]
    (here / "dev.en").write_text((here / "dev.en").read_text().replace("dog", "cat"))
    phrasebeam.train(*TEXTS, "out", recipe=other)
    changed = {name for name, when in times(here / "out").items() if when != after[name]}
    assert changed == {"tune", "train-maxforce"}


def test_a_stage_that_does_not_help_is_dropped(here):
    worse = {"kind": "mbr", "sizes": [50], "scales": [0.0]}  # all translations count alike
    result = phrasebeam.train(*TEXTS, "out", recipe={"stages": [*STAGES[:2], worse]})
    assert result.best != "mbr"
    assert not result.stages["mbr"].is_kept
    assert "| dropped |" in (here / "out/recipe/report.md").read_text()
    assert phrasebeam.Decoder.load("out").request.mbr is None
    before = times(here / "out")
    kept = phrasebeam.train(*TEXTS, "out", recipe={"stages": [*STAGES[:2], worse | {"may_lose": 100.0}]})
    assert kept.best == "mbr" and kept.stages["mbr"].is_kept
    assert times(here / "out") == before  # the models are the same
    assert phrasebeam.Decoder.load("out").request.mbr is not None


def test_the_best_search_is_carried(here):
    searches = [{"distortion_limit": 0}, {"distortion_limit": 5, "early_distortion": True}, {"table_limit": 1}]
    stage = {"kind": "choose", "searches": searches, "tuned": 2, "settings": TUNE}
    recipe = {"held_out": 0.34, "stages": [*STAGES[:2], stage, MAXFORCE | {"start": "choose"}]}
    phrasebeam.train(*TEXTS, "out", recipe=recipe)
    stages = here / "out/recipe/stages"
    tried = yaml.safe_load((stages / "choose.tried/tried.yaml").read_text())
    names = ["distortion_limit 0", "distortion_limit 5, early_distortion True", "table_limit 1"]
    assert list(tried["untuned"]) == names
    assert {*tried["tuned"]} == {*sorted(names, key=lambda name: -tried["untuned"][name])[:2]}
    best = names.index(max(tried["tuned"], key=tried["tuned"].get))
    chosen = phrasebeam.Decoder.load(stages / "choose")
    read = yaml.safe_load((stages / "choose/search.yaml").read_text())["search"]
    assert all(read[name] == value for name, value in searches[best].items() if name != "early_distortion")
    assert (chosen.weights.early_distortion is not None) == (best == 1)
    # Trainers after it search as far.
    began = yaml.safe_load((stages / "train-maxforce/maxforce/work.yaml").read_text())["settings"]
    for name in ("distortion_limit", "table_limit"):
        assert began["search"][name] == read[name] == began["development_search"][name]


def test_equal_searches_are_tried_once(here, monkeypatch):
    """Early distortion has no weight before it is tuned."""
    decoders = []
    monkeypatch.setattr(
        chosen_search, "Decoder", lambda *given: decoders.append(phrasebeam.Decoder(*given)) or decoders[-1]
    )
    searches = [{"distortion_limit": 2}, {"distortion_limit": 2, "early_distortion": True}, {"distortion_limit": 1}]
    stage = {"kind": "choose", "searches": searches, "tuned": 1, "settings": TUNE}
    phrasebeam.train(*TEXTS, "out", recipe={"held_out": 0.34, "stages": [STAGES[0], stage]})
    tried = yaml.safe_load((here / "out/recipe/stages/choose.tried/tried.yaml").read_text())["untuned"]
    assert tried["distortion_limit 2"] == tried["distortion_limit 2, early_distortion True"]
    assert [decoder.search_settings.distortion_limit for decoder in decoders] == [2, 1]


def test_a_search_that_cannot_be_is_one_line(here):
    stage = {"kind": "choose", "searches": [{"distortion_limit": 60}]}
    with pytest.raises(ConfigError, match="distortion_limit \\+ max_phrase_length is 67, at most"):
        phrasebeam.train(*TEXTS, "out", recipe={"stages": [*STAGES[:2], stage]})
    assert not (here / "out").exists()


def test_least_risk_is_what_the_model_does(here):
    result = phrasebeam.train(*TEXTS, "out", recipe={"held_out": 0, "stages": [STAGES[0], STAGES[-1]]})
    carried = phrasebeam.Decoder.load(here / "out/recipe/stages/mbr").request.mbr
    assert carried.size == 10
    assert carried.scale in (0.5, 1.0)
    assert (phrasebeam.Decoder.load("out").request.mbr is None) == (result.best != "mbr")


def test_sentences_in_both_are_told(here, capsys):
    shared = (here / "train.de").read_text().splitlines()[:3] + (here / "dev.de").read_text().splitlines()[3:]
    (here / "dev.de").write_text("\n".join(shared) + "\n")
    result = phrasebeam.train(*TEXTS, "out", recipe={"stages": STAGES[:1]})
    assert result.seen["development"] >= 3
    assert "are in the training data, too" in (here / "out/recipe/report.md").read_text()


def test_sentences_in_both_are_left_out(here):
    lines = (here / "train.de").read_text().splitlines()
    new = [line for line in (here / "dev.de").read_text().splitlines() if line not in lines]
    (here / "dev.de").write_text("".join(f"{line}\n" for line in [*lines[:3], *new]))
    (here / "dev.en").write_text("".join(f"the dog {i} sleeps .\n" for i in range(len(new) + 3)))
    test = {"test_source": "dev.de", "test_reference": "dev.en"}
    result = phrasebeam.train(*TEXTS, "out", recipe={"held_out": 0, "stages": STAGES[:1]}, leave_out_seen=True, **test)
    assert result.seen == {"development": 3, "test": 3}
    assert (result.sentences["development"], result.sentences["test"]) == (len(new), len(new))
    assert (here / "out/recipe/data/test.unseen/source").read_text().splitlines() == new
    assert (here / "out/recipe/data/development.unseen/reference.1").read_text().split()[2] == "3"
    assert "3 test sentences are in the training data, and left out" in (here / "out/recipe/report.md").read_text()
    for name in ("dev.de", "dev.en"):
        (here / name).write_text("\n".join(lines[:20] + new[:9]) + "\n")
    with pytest.raises(ConfigError, match=r"dev\.de: 9 of 29 development sentences are not in .*, expected 10 or more"):
        phrasebeam.train(*TEXTS, "other", recipe={"stages": STAGES[:1]}, leave_out_seen=True)
    assert not (here / "other").exists()


def test_text_for_language_models(here):
    """A change of the text is a change of the model."""
    (here / "more text.en").write_text("the dog sleeps .\n" * 5)
    recipe = {"stages": [*STAGES[:2]]}
    phrasebeam.train(*TEXTS, "out", recipe=recipe, lm_text="more text.en")
    assert (here / "out/lm2.bin").exists()
    assert "--lm-text 'more text.en'" in (here / "out/recipe/report.md").read_text()
    before = times(here / "out")
    phrasebeam.train(*TEXTS, "out", recipe=recipe, lm_text="more text.en")
    assert times(here / "out") == before
    (here / "more text.en").write_text("the cat sleeps .\n" * 5)
    phrasebeam.train(*TEXTS, "out", recipe=recipe, lm_text="more text.en")
    assert all(times(here / "out")[name] != before[name] for name in before)
    with pytest.raises(OSError, match="nowhere"):
        phrasebeam.train(*TEXTS, "other", recipe=recipe, lm_text="nowhere")
    assert not (here / "other").exists()


def test_what_becomes_of_twins_depends_on_how_many_they_are(here):
    """Without further ado, all twins are not learned from; where most pairs are, repetitions are nowhere."""
    data = BitextFiles(here / "dev.de", [here / "dev.en"])
    for copies in (1, 2):
        files = RecipeFiles(BitextFiles(here / "train.de", [here / "train.en"]), data)
        for path in files.training.parallel:
            path.write_text(path.read_text() * copies)
        read = without_twins(files, TwinSettings(), here / f"{copies}")
        lines = read.files.training.source.read_text().splitlines()
        assert len(lines) == (400 if copies == 1 else 800 - int(read.note.split()[0]))
        assert (read.left_out is None) == (copies == 2)
        assert ("left out of the model" in read.note) == (copies == 2)


@pytest.mark.parametrize("left_out_of", ["learning", "model", "nothing"])
def test_twins_are_told_and_left_out(here, left_out_of):
    """The first pair comes twice more, once with a word replaced."""
    source, target = ((here / name).read_text().splitlines() for name in TEXTS[:2])
    n_words = len(source[0].split())
    source += [source[0], " ".join(["<S_0>", *source[0].split()[1:]])]
    target += [target[0], target[0]]
    for name, lines in zip(TEXTS, (source, target)):
        (here / name).write_text("\n".join(lines) + "\n")
    assert n_words > 4
    n_same = len(source) - len({*zip(source, target)})
    recipe = {"held_out": 0.34, "twins": {"left_out_of": left_out_of}, "stages": [*STAGES[:2], MAXFORCE]}
    result = phrasebeam.train(*TEXTS, "out", recipe=recipe)
    left_out = here / "out/recipe/data/twins"
    assert left_out.exists() == (left_out_of == "learning")
    n_pairs = yaml.safe_load((here / "out/recipe/stages/tune/model.yaml").read_text())["sentence_pairs"]
    if left_out_of == "nothing":
        assert (result.twins, n_pairs) == ("", 402)
        return
    n_repeats = int(result.twins.split()[0])
    assert n_repeats >= 2
    assert f"{n_repeats} of 402 training pairs repeat others ({n_same} word for word): " in result.twins
    assert result.twins in (here / "out/recipe/report.md").read_text()
    assert n_pairs == (402 - n_repeats if left_out_of == "model" else 402)
    if left_out_of == "learning":
        assert {"1", "401", "402"} <= {*left_out.read_text().split()}


def test_what_is_left_out_is_not_learned_from(here):
    """A stage that learns from a pair which is left out is made again where that changes, and that before is not."""
    recipe = {"held_out": 0.34, "stages": [*STAGES[:2], MAXFORCE]}
    phrasebeam.train(*TEXTS, "out", recipe=recipe)
    before, lines = times(here / "out"), {*map(int, (here / "out/recipe/data/twins").read_text().split())}
    assert 0 < len(lines) < 40
    phrasebeam.train(*TEXTS, "out", recipe=recipe | {"twins": {"share": 1.0}})
    after = times(here / "out")
    assert [name for name in before if after[name] != before[name]] == ["train-maxforce"]


def test_raw_text(here):
    for name in ("train", "dev"):
        for side in ("de", "en"):
            text = (here / f"{name}.{side}").read_text().replace(" .", ".").title()
            (here / f"{name}.{side}").write_text(text)
    languages = {"source_language": "de", "target_language": "en"}
    first = STAGES[0] | {"word_classes": 10, "class_order": 4}
    result = phrasebeam.train(*TEXTS, "out", recipe={"stages": [first, *STAGES[1:6]]}, raw=True, **languages)
    assert (here / "out/lm2.classes").exists()
    assert len(result.stages) == 6
    raw = phrasebeam.RawText.load("out")
    assert raw.after(phrasebeam.Decoder.load("out").translate(raw.before("Der Hund Schläft."))).endswith(".")


def test_scores_of_raw_text_are_those_of_the_published_kind(here, capsys):
    for name in ("train", "dev"):
        for side in ("de", "en"):
            (here / f"{name}.{side}").write_text((here / f"{name}.{side}").read_text().replace(" .", ".").title())
    data = ["--source", "train.de", "--target", "train.en", "--dev-source", "dev.de", "--dev-reference", "dev.en"]
    raw = ["--raw", "--source-language", "de", "--target-language", "nds", "--target-tokenizer", "neutral"]
    (here / "recipe.yaml").write_text(yaml.safe_dump({"held_out": 0, "stages": STAGES[:1]}))
    assert main(["train", *data, *raw, "--recipe", "recipe.yaml", "--output", "out"]) == 0
    printed, report = capsys.readouterr(), (here / "out/recipe/report.md").read_text()
    assert main(["translate", "--model", "out", "--input", "dev.de", "--output", "dev.out"]) == 0
    found = phrasebeam.evaluate("dev.out", "dev.en", metric=["bleu", "chrf++"])
    bleu, chrf = (found.results[name][0].score for name in ("BLEU", "chrF2++"))
    assert f"| {bleu:.2f} ± " in report
    assert f"| {chrf:.2f} ± " in report
    assert "tok:13a" in printed.out
    assert "Scores are computed on raw text, as in publications: BLEU|nrefs:1" in report
    made = report.partition("```sh\n")[2].partition("\n```")[0].replace(" \\\n ", "").split()
    assert made[:2] == ["phrasebeam", "train"]
    assert all(one in made for one in [*data, *raw, "recipe.yaml"])
    assert main([*made[1:-2], "--output", "again"] if made[-2] == "--output" else made[1:]) == 0
    assert "target side, train.en: 0 of 396 lines (0.0 %) are not restored from tokens" in printed.err


@pytest.mark.parametrize(
    ("change", "error", "complaint"),
    [
        ({"dev_reference": "nowhere"}, OSError, "nowhere"),
        ({"dev_reference": "train.en"}, FormatError, "train.en: 400 lines, but dev.de has 30"),
        ({"alignment": "dev.de"}, FormatError, "dev.de: 30 lines, but train.de has 400"),
        ({"test_source": "test.de"}, ConfigError, "--test-reference is missing"),
        ({"recipe": "nothing"}, ConfigError, "nothing: neither a file nor a recipe"),
        ({"recipe": {"stages": []}}, ConfigError, "stages: List should have at least 1 item"),
        ({"source_language": "de"}, ConfigError, "give --raw"),
        ({"raw": True, "source_language": "de"}, ConfigError, "raw text needs both languages"),
        ({"raw": True, "source_language": "de", "target_language": "f!"}, ConfigError, "should be a language code"),
        (
            {"raw": True, "source_language": "de", "target_language": "en", "alignment": "train.de"},
            ConfigError,
            "a word alignment counts tokens, and raw text has none yet",
        ),
    ],
)
def test_mistakes_are_found_before_any_work(here, change, error, complaint):
    names = dict(zip(("source", "target", "dev_source", "dev_reference"), TEXTS))
    given = names | {"recipe": {"stages": STAGES[:1]}} | change
    with pytest.raises(error, match=complaint):
        phrasebeam.train(output="out", **given)
    assert not (here / "out/recipe/stages").exists()


def test_a_model_of_others_is_not_replaced(here):
    phrasebeam.train_model("train.de", "train.en", "out")
    with pytest.raises(ConfigError, match="a model that was not made by a recipe; give --force to replace it"):
        phrasebeam.train(*TEXTS, "out", recipe={"stages": STAGES[:1]})
    phrasebeam.train(*TEXTS, "out", recipe={"stages": STAGES[:1]}, force=True)
    assert phrasebeam.check_model("out") == []
