"""The command `forced-decode`."""

import json
from collections import deque
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from phrasebeam.base.command_line import Memory
from phrasebeam.base.config import MOST_THREADS
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.figures import check_figure_file
from phrasebeam.base.files import atomic_file, read_lines
from phrasebeam.base.memory_bound import keep_memory
from phrasebeam.base.progress import show_progress, stage
from phrasebeam.console.tables import print_table
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder, ForcedResult
from phrasebeam.decoder.forced.forced_settings import ForcedDecodingSettings, Prefixes
from phrasebeam.decoder.forced.reachability import Reachability
from phrasebeam.decoder.held_out.training_sentences import TrainingFiles, with_references
from phrasebeam.decoder.input.markup import read_all_markup
from phrasebeam.decoder.input.sentence_input import Input, LeaveOneOut
from phrasebeam.decoder.output.lattice_rendering import render_lattice
from phrasebeam.decoder.translate.translate_settings import overridden, translate_settings
from phrasebeam.decoder.translate.translator import Decoder

Pair = tuple[Input, tuple[str, ...]]  # sentence and reference


def forced_decode(
    model: Annotated[Path, typer.Option(help="Model directory, as train-model writes it.")],
    source: Annotated[Path, typer.Option(help="Source sentences, tokenized, one a line (or .gz, .zst).")],
    reference: Annotated[Path, typer.Option(help="Their translations, line by line, which must be produced.")],
    output: Annotated[Path, typer.Option(help="File for what is found, a JSON object for each sentence pair.")],
    alignment: Annotated[Path | None, typer.Option(help="Word alignment (0-0 1-2 ...) of training sentences.")] = None,
    leave_one_out: Annotated[
        LeaveOneOut | None,
        typer.Option(help="Without the counts of the pair itself (drop, penalty), or without all pairs of count 1."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="File for a plot of what is reachable (.png, .pdf, .svg).")] = None,
    lattice: Annotated[Path | None, typer.Option(help="File for the lattices, as Moses' search graphs.")] = None,
    prefixes: Annotated[
        Prefixes | None,
        typer.Option(help="Where the whole is not reachable: the longest prefix pair, or closed by the alignment."),
    ] = None,
    least_prefix: Annotated[int | None, typer.Option(help="Source words of the shortest prefix pair.")] = None,
    max_states: Annotated[int | None, typer.Option(help="States of a pair that is not too large.")] = None,
    aligned: Annotated[bool, typer.Option("--aligned", help="Only phrase pairs that fit the word alignment.")] = False,
    distortion_limit: Annotated[int | None, typer.Option(help="Longest jump, in words; -1: any.")] = None,
    table_limit: Annotated[int, typer.Option(help="Target phrases per source phrase; 0: all.")] = 0,
    config: Annotated[Path | None, typer.Option(help="YAML with sections 'search', 'weights', 'input'.")] = None,
    threads: Annotated[int, typer.Option(min=1, max=MOST_THREADS, help="Sentence pairs decoded at the same time.")] = 1,
    memory: Memory = None,
) -> None:
    """Find the derivations that yield the references: exact forced decoding. Prints how many there are, by length."""
    if (leave_one_out is None) != (alignment is None):
        raise ConfigError("--leave-one-out and --alignment need each other; give both, or none")
    for name, is_given in {"--aligned": aligned, "--prefixes closed": prefixes == "closed"}.items():
        if is_given and alignment is None:
            raise ConfigError(f"{name} needs --alignment and --leave-one-out; give both, or leave it out")
    if lattice and prefixes == "all":
        raise ConfigError("--lattice writes lattices with one end; leave out --prefixes all, or leave out --lattice")
    if plot:
        check_figure_file(plot)
    decoding = overridden(translate_settings(model, config), {"memory": memory}, "options")
    limits = overridden(decoding.search, {"distortion_limit": distortion_limit, "table_limit": table_limit}, "options")
    given = {"prefixes": prefixes, "least_prefix": least_prefix, "max_states": max_states, "aligned": aligned}
    settings = overridden(ForcedDecodingSettings(), given, "options")
    decoder = Decoder.load(model, limits, decoding.weights, decoding.input)
    keep_memory(decoding.memory)
    forced = ForcedDecoder(decoder, settings, keeps_graphs=lattice is not None)
    show_progress()
    reached = Reachability()
    inputs = read_all_markup(read_lines(source), "pass-through", source, decoder.model.has_tags)
    pairs = with_references(inputs, TrainingFiles(reference, alignment, leave_one_out or "drop"))
    waiting = deque[Pair]()  # those that were read, and have no result yet

    def kept(pair: Pair) -> Pair:
        waiting.append(pair)
        return pair

    with ExitStack() as stack, stage("forced decoding", unit="sentence pairs") as advance:
        objects = stack.enter_context(atomic_file(output))
        lattices = stack.enter_context(atomic_file(lattice)) if lattice else None
        for number, result in enumerate(forced.force_all(map(kept, pairs), threads)):
            objects.write(render_forced(number + 1, waiting.popleft(), result).encode("utf-8"))
            if lattices:
                lattices.write(render_lattice(number, result.graph, "osg").encode("utf-8"))
            reached.add(result)
            advance(1)
    print_table(reached.table(), reached.text())
    if plot:
        reached.plot(plot)


def render_forced(line: int, pair: Pair, result: ForcedResult) -> str:
    """A line of JSON for the sentence pair in line `line` (1-based); without a derivation its parts are empty or null.

    segmentation: [source span, target span] of each phrase in target order, half open; alignment: [source, target].
    """
    best = result.best
    fields = {
        "line": line,
        "source": " ".join(pair[0].words),
        "reference": " ".join(pair[1]),
        "status": result.status,
        "source_prefix": result.source_prefix,
        "target_prefix": result.target_prefix,
        "segmentation": [[p.source_span, p.target_span] for p in best.phrases] if best else [],
        "alignment": best.alignment if best else [],
        "score": best.score if best else None,
        "features": best.features if best else None,
        "ln_derivations": result.ln_derivations,
    }
    return json.dumps(fields, ensure_ascii=False) + "\n"
