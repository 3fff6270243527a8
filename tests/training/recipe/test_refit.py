"""A model that is built again from more sentence pairs keeps what was learned for it."""

from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.model_building.config import TrainModelConfig
from phrasebeam.training.recipe.recipe_data import RecipeFiles
from phrasebeam.training.recipe.refit import RefitStage
from phrasebeam.training.recipe.stage import StageWork
from phrasebeam.training.recipe.stages import BuildStage
from tests.training.maxforce.maxforce_toy import learn, make_data


def test_sparse_features_are_kept(tmp_path):
    make_data(tmp_path)
    learn(tmp_path, tmp_path / "learned")
    texts = [tmp_path / "more.source", tmp_path / "more.target"]
    links = tmp_path / "more.alignment"
    for path, line in zip((*texts, links), ("q k", "Q m", "0-0 1-1")):
        path.write_text((tmp_path / f"train{path.suffix}").read_text() + f"{line}\n")
    more = BitextFiles(texts[0], [texts[1]], links)
    settings = TrainModelConfig(phrases={"max_length": 2}, language_model={"order": 2}, threads=1)
    build = BuildStage(kind="train-model", settings=settings)
    output = tmp_path / "again"
    files = RecipeFiles(more, held_out_of=more)
    work = StageWork(tmp_path / "learned", output, files, lambda: more, None, 1, [build], tmp_path.joinpath)
    RefitStage(kind="refit").run(work)
    before, after = Decoder.load(tmp_path / "learned"), Decoder.load(output)
    assert after.model.templates == before.model.templates and after.weights == before.weights
    n_weights = [one.tables.sparse.weights.n_used[0] for one in (before, after)]
    assert n_weights[0] == n_weights[1] > 0
    assert before.translate("a k").text == after.translate("a k").text
    assert after.translate("q").text == "Q" and before.translate("q").text == "q"
