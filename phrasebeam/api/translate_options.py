"""Arguments of translate: which of them need or exclude each other, and the settings that they stand for."""

import math
from collections.abc import Mapping
from pathlib import Path

from phrasebeam.api.arguments import check_range
from phrasebeam.base.config import MOST_THREADS
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import check_keeps_inputs
from phrasebeam.decoder.model.digests import model_paths
from phrasebeam.decoder.output.mbr import MbrSettings
from phrasebeam.decoder.translate.translate_settings import Flags, TranslateSettings, overridden, translate_settings

MOST_DERIVATIONS = 100_000  # of a sentence, which are in memory, some kB each


def check_arguments(given: Flags) -> None:
    """Raise ConfigError where arguments need or exclude each other, or are out of range."""
    check_range("threads", given["threads"], 1, MOST_THREADS)
    nbest, has_output = given["nbest"], given["nbest_output"] is not None
    if nbest is not None:
        check_range("nbest", nbest, 1, MOST_DERIVATIONS)
    training = [given[name] is None for name in ("leave_one_out", "reference", "word_alignment")]
    learns, is_training = is_adapted(given), not all(training)
    needs = {
        "--nbest and --nbest-output need each other, --distinct needs both; give them together": (
            (nbest is None) == has_output or (given["distinct"] and nbest is None)
        ),
        "--moses-names needs --nbest or --scores; give one": (
            given["moses_names"] and nbest is None and not given["scores"]
        ),
        "--lattice-format and --lattice-beam need --lattice-output; give it as well": (
            given["lattice_output"] is None
            and (given["lattice_format"] is not None or given["lattice_beam"] is not None)
        ),
        f"--input-weight {given['input_weight']}: expected a finite number": (
            not math.isfinite(given["input_weight"] or 0.0)
        ),
        "--partial-word needs --prefix; give it as well": given["partial_word"] and given["prefix"] is None,
        "--leave-one-out, --reference and --word-alignment need each other; give all three": len({*training}) > 1,
    }
    _refuse(needs)
    read = ("input", "prefix", "reference", "word_alignment", "config", "adapt", "adapt_journal")
    files = [given[name] for name in read if not isinstance(given[name], Mapping)]
    outputs = [given[name] for name in ("output", "nbest_output", "lattice_output")]
    check_keeps_inputs(outputs, [*files, *model_paths(Path(given["model"]))])
    excluded = {
        "--adapt translates one line after the other; leave out --threads": (
            given["adapt"] is not None and given["threads"] > 1
        ),
        "--adapt and --adapt-journal learn in this process; leave out --engine": (
            learns and given["engine"] != "local"
        ),
        "--leave-one-out is of training data; leave out --adapt and --adapt-journal": learns and is_training,
    }
    _refuse(excluded)
    if given["raw"]:
        _check_raw(given)


def _refuse(conflicts: dict[str, bool]) -> None:
    """Raise ConfigError with the first message whose condition holds."""
    for message, is_wrong in conflicts.items():
        if is_wrong:
            raise ConfigError(message)


def _check_raw(given: Flags) -> None:
    """Raise ConfigError where options of tokens are given beside --raw."""
    shows_tokens = given["alignment"] or given["segmentation"] or given["scores"]
    _refuse(
        {
            "--alignment, --segmentation and --scores are of tokens; leave out --raw, or leave out them": shows_tokens,
            "--prefix reads tokenized lines; leave out --raw, or leave out --prefix": given["prefix"] is not None,
            "--leave-one-out needs tokens; leave out --raw, or leave out --leave-one-out": (
                given["leave_one_out"] is not None
            ),
        }
    )


def is_adapted(given: Flags) -> bool:
    """Whether confirmed translations are learned from."""
    return given["adapt"] is not None or given["adapt_journal"] is not None


def translate_settings_of(given: Flags) -> TranslateSettings:
    """The settings of the model, what the configuration says in their place, and arguments in place of both."""
    search = {name: given[name] for name in ("algorithm", "pop_limit", "stack", "beam_threshold")}
    search |= {name: given[name] for name in ("distortion_limit", "table_limit")}
    search |= {"future_cost": False if given["no_future_cost"] else None}
    reading = {"format": given["input_format"], "markup": given["markup"], "oov": given["oov"]}
    settings = translate_settings(Path(given["model"]), given["config"])
    settings = overridden(settings, {"memory": given["memory"]}, "options")
    sections = {
        "search": overridden(settings.search, search, "search options"),
        "input": overridden(settings.input, reading, "options of the input"),
        "mbr": _mbr(settings.mbr, given["mbr"], given["mbr_size"], given["mbr_scale"]),
    }
    return settings.model_copy(update=sections)


def _mbr(section: MbrSettings | None, is_on: bool | None, size: int | None, scale: float | None) -> MbrSettings | None:
    if is_on is False or (section is None and not is_on):
        if size is not None or scale is not None:
            raise ConfigError(
                "--mbr-size and --mbr-scale need --mbr, or the section 'mbr' in --config or the model; give one"
            )
        return None
    return overridden(section or MbrSettings(), {"size": size, "scale": scale}, "options of --mbr")
