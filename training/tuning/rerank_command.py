"""The command `rerank`: weights from n-best lists, and the best translations of lists."""

from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.base.command_line import Memory
from phrasebeam.base.config import config_with_options
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.files import output_file, read_lines
from phrasebeam.base.memory_bound import keep_memory
from phrasebeam.base.progress import log, show_progress
from phrasebeam.training.common import command_options as shared
from phrasebeam.training.metrics.definitions import MetricName
from phrasebeam.training.metrics.metrics import make_metric
from phrasebeam.training.tuning.config import TuneConfig
from phrasebeam.training.tuning.methods.methods import Method
from phrasebeam.training.tuning.rerank import learn, load_weights, rerank, save_weights


def rerank_command(
    weights: Annotated[
        Path, typer.Option(help="Weights, lines of 'name= weight ...'; with --train written, not read.")
    ],
    nbest: Annotated[Path | None, typer.Option(help="N-best lists whose best translations are printed.")] = None,
    output: Annotated[
        Path | None, typer.Option(help="File for these translations.", show_default="standard output")
    ] = None,
    train: Annotated[
        Path | None, typer.Option(help="N-best lists, in Moses' format, to learn the weights from.")
    ] = None,
    reference: Annotated[list[Path] | None, typer.Option(help="Translations for --train, one file a set.")] = None,
    method: Annotated[Method | None, typer.Option(help="How they are learned.", show_default="mira-corpus")] = None,
    config: Annotated[Path | None, typer.Option(help="Settings in YAML, as for tune.")] = None,
    metric: Annotated[MetricName | None, typer.Option(help="What is optimized.", show_default="bleu")] = None,
    seed: Annotated[int | None, typer.Option(help="Of what is drawn.", show_default="1")] = None,
    c: Annotated[float | None, typer.Option("--c", help="Of MIRA: the largest step.")] = None,
    threads: shared.Threads = None,
    memory: Memory = None,
) -> None:
    """Learn weights for given n-best lists with any features, and print the best translations of lists by them."""
    if (train is None) != (not reference):
        raise ConfigError("--train and --reference need each other; give both")
    if train is None and nbest is None:
        raise ConfigError("nothing to do; give --train and --reference to learn weights, --nbest to use them, or both")
    seeds = None if seed is None else [seed]
    learning = {"method": method, "metric": metric, "seeds": seeds, "c": None if c is None else [c]}
    options = learning | {"threads": threads, "memory": memory}
    settings = config_with_options(config, TuneConfig, options)
    if c is not None:
        settings = settings.with_c(c)
    show_progress()
    keep_memory(settings.memory)
    if train is not None and reference:
        references = [list(read_lines(path)) for path in reference]
        learned = learn(train, make_metric(settings.metric, references, settings.lowercase), settings)
        save_weights(learned.weights, weights)
        log.info("%s on these lists: %.2f, before %.2f", settings.metric, learned.score, learned.before)
    if nbest is not None:
        with output_file(output) as file:
            file.writelines(f"{text}\n".encode() for text in rerank(nbest, load_weights(weights)))
