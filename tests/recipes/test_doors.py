"""Recipes of ARCHITECTURE.md: commands, stages of recipes, endpoints."""

import yaml


def test_a_command(copy, data):
    copy.write(
        "phrasebeam/api/count_pairs.py",
        '"""count_pairs: the size of a phrase table."""\n\n'
        "from phrasebeam.api.arguments import Model\n"
        "from phrasebeam.base.options import described\n"
        "from phrasebeam.decoder.model.opened_model import open_model\n\n\n"
        "@described()\n"
        "def count_pairs(model: Model) -> int:\n"
        '    """Count the phrase pairs of a model."""\n'
        "    return int(open_model(model).tables.phrases.joint_counts.size)\n",
    )
    line = "from .api.cluster import cluster as cluster\n"
    copy.list("phrasebeam/__init__.pyi", line, line + "from .api.count_pairs import count_pairs as count_pairs\n")
    copy.list("phrasebeam/cli.py", '"check-model"', '"check-model", "count-pairs"')
    assert int(copy.run("count-pairs", "--model", data / "model")) > 0
    assert "Model directory" in copy.run("count-pairs", "--help")


def test_a_stage_of_a_recipe(copy, data, tmp_path):
    """One without a section of settings, which changes a weight."""
    copy.write(
        "training/recipe/penalty_stage.py",
        '''"""A stage that chooses the word penalty."""

from typing import Literal

from phrasebeam.decoder.model.opened_model import open_model
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.common.derived_model import Making
from phrasebeam.training.recipe.stage import RecipeStage, scores_of, translated, write_changed


class PenaltyStage(RecipeStage):
    """The word penalty that is best on the development data."""

    kind: Literal["word-penalty"]
    tried: list[float]

    def decodings(self, sentences):
        return len(self.tried) * sentences["development"]

    def run(self, work):
        model, scores = open_model(work.model), {}
        for penalty in self.tried:
            weights = model.weights.model_copy(update={"word_penalty": penalty})
            decoder = Decoder(model, weights=weights)
            found = scores_of(translated(decoder, work.tuning, work.threads), work.tuning)
            scores[penalty] = found.quality("bleu"), weights
        best = max(scores, key=lambda penalty: scores[penalty][0])
        write_changed(work.model, work.output, Making("word-penalty", {"word_penalty": best}), scores[best][1])
''',
    )
    recipe = "training/recipe/recipe.py"
    line = "from phrasebeam.training.recipe_texts.recipe_data import TwinSettings\n"
    copy.replace(recipe, line, "from phrasebeam.training.recipe.penalty_stage import PenaltyStage\n" + line)
    copy.replace(recipe, "    BuildStage\n    | TuneStage", "    PenaltyStage\n    | BuildStage\n    | TuneStage")
    build = {"language_model": {"order": 2}, "phrases": {"max_length": 2}}
    stages = [{"kind": "train-model", "settings": build}, {"kind": "word-penalty", "tried": [9.0, -9.0]}]
    given = tmp_path / "recipe.yaml"
    given.write_text(yaml.safe_dump({"held_out": 0, "twins": {"left_out_of": "nothing"}, "stages": stages}))
    files = {"source": "train.source", "target": "train.target", "alignment": "train.alignment"}
    files |= {"dev-source": "dev.source", "dev-reference": "dev.target"}
    options = [part for name, file in files.items() for part in (f"--{name}", data / file)]
    table = copy.run("train", *options, "--recipe", given, "--threads", 1, "--output", tmp_path / "out")
    assert "word-penalty" in table
    made = tmp_path / "out" / "recipe" / "stages" / "word-penalty"
    assert yaml.safe_load((made / "weights.yaml").read_text())["word_penalty"] in (9.0, -9.0)
    copy.run("check-model", made)


def test_an_endpoint(copy, data):
    copy.write(
        "server/routes/unknown.py",
        '''"""GET /v1/unknown: which words a model does not know."""

from fastapi import APIRouter

from phrasebeam.server.serving.service import Serving

router = APIRouter(tags=["models"])


@router.get("/v1/unknown")
async def unknown(text: str, service: Serving) -> list[str]:
    """The words of a text that the model has never seen."""
    words, vocabulary = text.split(), service.models.get(None).decoder.model.source
    return [word for word, one in zip(words, vocabulary.ids(words).tolist()) if one < 0]
''',
    )
    app = "server/app.py"
    copy.replace(app, "    translate,\n)\n", "    translate,\n    unknown,\n)\n")
    copy.replace(app, "        moses_rpc,\n", "        moses_rpc,\n        unknown,\n")
    script = (
        "import pathlib, sys; from fastapi.testclient import TestClient; from phrasebeam.server.app import create_app\n"
        "app = create_app({'toy': pathlib.Path(sys.argv[1])})\n"
        "with TestClient(app, base_url='http://localhost') as client: print(client.get('/v1/unknown?text=a+zz').text)"
    )
    assert copy.python("-c", script, str(data / "model")) == '["zz"]\n'
