"""forced_decode: the derivations of a bitext that yield its references."""

from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

from phrasebeam.api.arguments import File, Memory, Settings, check_range, memory_bound, optional_path
from phrasebeam.base.checked_arguments import checked
from phrasebeam.base.config import MOST_THREADS
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.figures import check_figure_file
from phrasebeam.base.files import atomic_file, check_keeps_inputs, read_lines
from phrasebeam.base.progress import stage
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder, ForcedPair, ForcedResult, render_forced
from phrasebeam.decoder.forced.forced_settings import ForcedDecodingSettings, Prefixes
from phrasebeam.decoder.forced.reachability import Reachability
from phrasebeam.decoder.held_out.training_sentences import TrainingFiles, with_references
from phrasebeam.decoder.input.markup import read_all_markup
from phrasebeam.decoder.input.sentence_input import LeaveOneOut
from phrasebeam.decoder.model.digests import model_paths
from phrasebeam.decoder.output.lattice_rendering import render_lattice
from phrasebeam.decoder.translate.translate_settings import overridden, translate_settings
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.engine.current_engine import EngineName, current_engine
from phrasebeam.engine.engine_options import chosen_engine


@checked
def forced_decode(
    model: File,
    source: File,
    reference: File,
    output: File,
    *,
    alignment: File | None = None,
    leave_one_out: LeaveOneOut | None = None,
    plot: File | None = None,
    lattice: File | None = None,
    prefixes: Prefixes | None = None,
    least_prefix: int | None = None,
    max_states: int | None = None,
    aligned: bool = False,
    distortion_limit: int | None = None,
    table_limit: int = 0,
    config: Settings | None = None,
    threads: int = 1,
    memory: Memory | None = None,
    engine: EngineName = "local",
    address: str | None = None,
    workers: int | None = None,
) -> Reachability:
    """Find the derivations that yield the references: exact forced decoding (Yu et al. 2013, section 3).

    ForcedDecoder does so with sentences in place of files.

    Args:
        model: Model directory, as train_model writes it.
        source: Source sentences, tokenized, one a line.
        reference: Their translations, line by line, which must be produced.
        output: File for what is found, a JSON object for each sentence pair.
        alignment: Word alignment (0-0 1-2 ...) of training sentences.
        leave_one_out: Without the counts of the pair ("drop", "penalty"), or without all of count 1 ("singletons").
        plot: File for a plot of what is reachable (.png, .pdf, .svg).
        lattice: File for the lattices, as Moses' search graphs.
        prefixes: "longest", "closed", "all" or "none": prefix pairs where the whole is not reachable.
        least_prefix: Source words of the shortest prefix pair.
        max_states: States of a pair that is not too large.
        aligned: Only phrase pairs that fit the word alignment.
        distortion_limit: Longest jump, in words; -1: any.
        table_limit: Target phrases per source phrase; 0: all.
        config: Settings with sections search, weights, input.
        threads: Sentence pairs decoded at the same time.
        memory: Bytes that may be held in memory, such as "2G" (the default).
        engine: Who does the work: this machine ("local"), or Ray's workers ("ray"); results do not depend on it.
        address: Of Ray's cluster, host:port or "auto"; None: one is started here.
        workers: Processes that work at the same time; None: Ray's processors, or threads.

    Returns how many are reachable, by length. Raises SmtError or OSError.

    >>> reached = forced_decode("model", "train.de", "train.en", "forced.jsonl", prefixes="none")
    >>> print(reached.text().splitlines()[0])
    length  sentences  reachable  +prefix  too large  words  reachable  +prefix  derivations
    """
    _check(alignment, leave_one_out, aligned, prefixes, lattice)
    check_range("threads", threads, 1, MOST_THREADS)
    check_keeps_inputs([output, lattice, plot], [source, reference, alignment, *model_paths(Path(model))])
    if plot:
        check_figure_file(Path(plot))
    decoding = overridden(translate_settings(Path(model), config), {"memory": memory}, "options")
    limits = overridden(decoding.search, {"distortion_limit": distortion_limit, "table_limit": table_limit}, "options")
    given = {"prefixes": prefixes, "least_prefix": least_prefix, "max_states": max_states, "aligned": aligned}
    settings = overridden(ForcedDecodingSettings(), given, "options")
    decoder = Decoder.load(model, limits, decoding.weights, decoding.input)
    with memory_bound(decoding.memory), chosen_engine(engine, address, workers):
        forced = ForcedDecoder(decoder, settings, keeps_graphs=lattice is not None)
        files = TrainingFiles(Path(reference), optional_path(alignment), leave_one_out or "drop")
        reached = _force_all(forced, Path(source), files, (Path(output), optional_path(lattice)), threads)
    if plot:
        reached.plot(Path(plot))
    return reached


def _check(
    alignment: File | None,
    leave_one_out: LeaveOneOut | None,
    aligned: bool,
    prefixes: Prefixes | None,
    lattice: File | None,
) -> None:
    """Raise ConfigError where arguments need or exclude each other."""
    if (leave_one_out is None) != (alignment is None):
        raise ConfigError("--leave-one-out and --alignment need each other; give both, or none")
    for name, is_given in {"--aligned": aligned, "--prefixes closed": prefixes == "closed"}.items():
        if is_given and alignment is None:
            raise ConfigError(f"{name} needs --alignment and --leave-one-out; give both, or leave it out")
    if lattice and prefixes == "all":
        raise ConfigError("--lattice writes lattices with one end; leave out --prefixes all, or leave out --lattice")


def _force_all(
    forced: ForcedDecoder, source: Path, files: TrainingFiles, outputs: tuple[Path, Path | None], threads: int
) -> Reachability:
    """Force all sentence pairs; what is found goes to the first of `outputs`, lattices to the second, if any."""
    reached, (output, lattice) = Reachability(), outputs
    inputs = read_all_markup(read_lines(source), "pass-through", source, forced.decoder.model.has_tags)
    pairs = enumerate(with_references(inputs, files))
    with ExitStack() as stack, stage("forced decoding", unit="sentence pairs") as advance:
        objects = stack.enter_context(atomic_file(output))
        lattices = stack.enter_context(atomic_file(lattice)) if lattice else None
        results = current_engine().map(PairForcer(forced), pairs, threads, is_python=True)
        for found, graph, result in stack.enter_context(closing(results)):
            objects.write(found.encode("utf-8"))
            if lattices:
                lattices.write(graph.encode("utf-8"))
            reached.add(result)
            advance(1)
    return reached


@dataclass(frozen=True)
class PairForcer:
    """What is done with each sentence pair."""

    forced: ForcedDecoder

    def __call__(self, numbered: tuple[int, ForcedPair]) -> tuple[str, str, ForcedResult]:
        """What is found and its lattice, both as lines, and the result without derivations; numbers count from 0."""
        number, pair = numbered
        result = self.forced.force(*pair)
        graph = render_lattice(number, result.graph, "osg") if self.forced.keeps_graphs else ""
        return render_forced(number + 1, pair, result), graph, replace(result, best=None, lattice=None, graph=None)
