"""Settings of model building: the files in configs/, and what is refused."""

import pytest
import yaml
from pydantic import ValidationError

from phrasebeam.base.config import config_with_options, format_size, load_config, parse_config, parse_size, save_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.training.model_building.config import TrainModelConfig
from tests import ROOT

CONFIGS = ROOT / "configs"


def test_default_file_spells_out_every_default():
    written = yaml.safe_load((CONFIGS / "default.yaml").read_text(encoding="utf-8"))
    assert written == TrainModelConfig().model_dump(mode="json")
    assert load_config(CONFIGS / "default.yaml", TrainModelConfig).model_dump() == TrainModelConfig().model_dump()


def test_demo_file_loads():
    assert load_config(CONFIGS / "demo.yaml", TrainModelConfig).language_model.order == 3


def test_saved_settings_load_again(tmp_path):
    config = parse_config({"reordering": {"kind": "mslr"}, "memory": "600000K"}, TrainModelConfig, "test")
    save_config(config, tmp_path / "saved.yaml")
    again = load_config(tmp_path / "saved.yaml", TrainModelConfig)
    assert again.model_dump() == config.model_dump()
    assert again.starting_weights == config.starting_weights


@pytest.mark.parametrize(
    "text, n_bytes",
    [("2G", 2**31), ("512M", 2**29), ("1.5K", 1536), ("2 GiB", 2**31), ("77", 77), ("1T", 2**40)],
)
def test_sizes(text, n_bytes):
    assert parse_size(text) == n_bytes
    assert parse_size(format_size(n_bytes)) == n_bytes


def test_starting_weights_fit_the_reordering_model():
    for kind, orientation, n in (("msd", "word", 6), ("mslr", "hier", 8), ("msd", "none", 0)):
        data = {"reordering": {"kind": kind, "orientation": orientation}}
        config = parse_config(data, TrainModelConfig, "test")
        assert config.starting_weights.reordering == [0.3] * n
        assert parse_config({**data, "weights": {"reordering": [1.0] * n}}, TrainModelConfig, "test")


@pytest.mark.parametrize(
    "data, message",
    [
        ({"alignment": {"samplrs": 2}}, "alignment.samplrs: unknown key; did you mean samplers?"),
        ({"alignment": {"iterations": {"imb4": 2}}}, "alignment.iterations.imb4: unknown key; did you mean ibm4?"),
        ({"alignment": {"aligner": "giza"}}, "alignment.aligner: .*'eflomal'.*found 'giza'"),
        ({"language_model": {"order": 9}}, "language_model.order: .*8, found 9"),
        ({"memory": "much"}, "memory: should be a size such as 512M or 2G, found 'much'"),
        ({"memory": "1K"}, "memory: should be at least 384M, which the program itself needs, found '1K'"),
        ({"weights": {"reordering": [1.0]}}, "weights.reordering has 1 weights, .*needs 6"),
        ({"weights": {"translation": [1.0]}}, "weights.translation has 1 weights"),
        ({"threads": 0}, "threads: .*1, found 0"),
    ],
)
def test_refuses(data, message):
    with pytest.raises(ConfigError, match=f"^test: .*{message}"):
        parse_config(data, TrainModelConfig, "test")


def test_settings_never_change():
    with pytest.raises(ValidationError):
        TrainModelConfig().threads = 3


def test_command_line_overrides_the_file(tmp_path):
    path = tmp_path / "some.yaml"
    path.write_text("threads: 7\nreordering: {kind: mslr}\n", encoding="utf-8")
    config = config_with_options(path, TrainModelConfig, {"memory": "1G"})
    assert (config.threads, config.memory, len(config.starting_weights.reordering)) == (7, 2**30, 8)
    assert config_with_options(path, TrainModelConfig, {"threads": 3}).threads == 3
    assert config_with_options(None, TrainModelConfig, {"threads": None}) == TrainModelConfig()
