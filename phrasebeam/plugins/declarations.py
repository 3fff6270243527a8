"""Declarations of plugins: the decorators, and the plugin files, which are run when a declaration is first needed."""

import importlib.util
import os
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from phrasebeam.base.errors import ConfigError

FILES = "PHRASEBEAM_PLUGINS"  # environment variable: files separated by os.pathsep; child processes inherit it
NAME = re.compile(r"[a-z][a-z0-9_]*")
MODULE = "phrasebeam_plugin_"  # prefix of the names of modules made from plugin files

Declared = TypeVar("Declared", bound=Callable[..., Any])
Item = TypeVar("Item")


class PairFeature(NamedTuple):
    """A dense feature of phrase pairs."""

    name: str
    description: str  # one line for users
    needs_counts: bool  # whether it reads counts of phrase pairs, which imported tables may lack
    value: Callable[..., Any]  # see pair_feature
    file: Path  # of the plugin


class OwnMetric(NamedTuple):
    """A metric that is the quotient of two sums over sentences."""

    title: str
    is_error: bool  # whether lower is better
    compare: Callable[[str, str], tuple[float, float]]  # see metric


class Plugins(NamedTuple):
    """Declarations of plugins, by name."""

    pair_features: dict[str, PairFeature]
    pair_losses: dict[str, Callable[..., Any]]
    update_rules: dict[str, type]
    update_strategies: dict[str, Callable[..., Any]]
    optimizers: dict[str, Callable[..., Any]]
    metrics: dict[str, OwnMetric]


_declared = Plugins({}, {}, {}, {}, {}, {})
_reading: list[Path] = []  # the plugin file that is being run


def pair_feature(name: str, description: str, needs_counts: bool = False) -> Callable[[Declared], Declared]:
    """Declare a dense feature of phrase pairs: decorate a function that numba compiles.

    It is called with (phrases, idf, pair, source_length, target_length): the PhraseTable, the WordIdf, the number of
    the pair (int64), and the words on both sides (int64). It returns a float64 that does not depend on the context.
    """

    def declare(value: Declared) -> Declared:
        feature = PairFeature(name, description, needs_counts, value, _reading[-1] if _reading else Path())
        return _declare("pair_features", name, feature, value)

    return declare


def pair_loss(name: str) -> Callable[[Declared], Declared]:
    """Declare a loss for the pairs of train-ranking (`pairs: NAME`).

    The function is called with (leads, margin): the score of the better hypothesis of each pair minus that of the worse
    one (float64[P]), and the setting `margin`. It returns the losses of the pairs (float64[P]) and their slopes
    (float64[P]), which are minus the derivative of the loss with respect to the lead.
    """
    return lambda loss: _declare("pair_losses", name, loss, loss)


def update_rule(name: str) -> Callable[[Declared], Declared]:
    """Declare a rule for the steps of weights (`rule: NAME`): decorate a class with the methods of UpdateRule."""
    return lambda rule: _declare("update_rules", name, rule, rule)


def update_strategy(name: str) -> Callable[[Declared], Declared]:
    """Declare where train-maxforce updates (`update: NAME`): decorate a function of Bins and the longest phrase.

    The function returns an Update, or None for no update.
    """
    return lambda strategy: _declare("update_strategies", name, strategy, strategy)


def optimizer(name: str) -> Callable[[Declared], Declared]:
    """Declare an optimizer of train-expected-bleu (`optimizer: NAME`): a function (weights, gradient, state, steps).

    It changes `weights` and `state` in place, see phrasebeam.training.expected_bleu.optimizers.
    """
    return lambda step: _declare("optimizers", name, step, step)


def metric(name: str, title: str, is_error: bool = False) -> Callable[[Declared], Declared]:
    """Declare a metric: decorate a function of a hypothesis and a reference, both str.

    The function returns an amount and a size, both float64. The score of a corpus is 100 times the sum of the amounts
    over the sum of the sizes. With several references the best quotient counts. `is_error`: whether lower is better.
    """
    return lambda compare: _declare("metrics", name, OwnMetric(title, is_error, compare), compare)


def _declare(kind: str, name: str, item: object, function: Declared) -> Declared:
    """Register a declaration of a plugin. Raises ConfigError."""
    if not _reading:
        raise ConfigError(f"{name}: declared outside a plugin; give its file to --plugin or phrasebeam.plugins.use")
    known = getattr(_declared, kind)
    if not NAME.fullmatch(name) or name in known:
        found = "declared twice" if name in known else "no name"
        raise ConfigError(f"{_reading[-1]}: {name!r}: {found}; expected a new name of small letters, digits and _")
    known[name] = item
    return function


def use(*files: str | Path) -> None:
    """Use these plugins, too. Call this in Python before anything that they extend is imported, such as Decoder.

    Raises ConfigError if it is called too late, or if a plugin is damaged.
    """
    for file in files:
        if not Path(file).is_file():
            raise ConfigError(f"--plugin {file}: no such file; expected a Python file")
    paths = [str(Path(file).resolve()) for file in files]
    known = plugin_files()
    if plugins.cache_info().currsize and not {*paths} <= {*map(str, known)}:
        raise ConfigError(f"{paths[0]}: modules that plugins extend are already imported; load plugins first")
    os.environ[FILES] = os.pathsep.join(dict.fromkeys([*map(str, known), *paths]))


def plugin_files() -> tuple[Path, ...]:
    """The files of all plugins, in the order in which they are run."""
    return tuple(Path(name) for name in os.environ.get(FILES, "").split(os.pathsep) if name)


@cache
def plugins() -> Plugins:
    """Declarations of all plugins; the first call runs the plugins. Raises ConfigError."""
    if _reading:
        raise ConfigError(f"{_reading[-1]}: imports modules that plugins extend; import them inside functions")
    for path in plugin_files():
        _run(path)
    return _declared


def _run(path: Path) -> None:
    name = MODULE + re.sub(r"\W", "_", path.stem)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{path}: not a Python file; --plugin and {FILES} expect files that end with .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    _reading.append(path)
    try:
        spec.loader.exec_module(module)
    except ConfigError:
        raise
    except Exception as error:
        message = str(error) or type(error).__name__
        raise ConfigError(f"{path}: {type(error).__name__}: {message}; the plugin cannot be used") from error
    finally:
        _reading.pop()


def extended(built_in: Mapping[str, Item], own: Mapping[str, Item]) -> dict[str, Item]:
    """Built-in entries and entries of plugins. Raises ConfigError if two have the same name."""
    if taken := next((name for name in own if name in built_in), ""):
        raise ConfigError(f"a plugin declares {taken!r}, which phrasebeam has already; choose another name")
    return {**built_in, **own}
