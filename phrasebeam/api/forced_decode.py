"""forced_decode: the derivations that produce the references of a bitext."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Unpack

from phrasebeam.api.arguments import (
    OF_MODEL,
    AtOnce,
    Config,
    EngineOptions,
    File,
    MemoryBound,
    Model,
    RawOrTokens,
    Source,
    optional_path,
    resources,
)
from phrasebeam.base.config import config_with_options, parse_config
from phrasebeam.base.errors import ConfigError
from phrasebeam.base.figures import check_figure_file
from phrasebeam.base.files import atomic_file, check_keeps_inputs, read_lines
from phrasebeam.base.options import Option, described, settings_given
from phrasebeam.base.progress import stage
from phrasebeam.decoder.forced.forced_decoder import ForcedDecoder, ForcedPair, ForcedResult, render_forced
from phrasebeam.decoder.forced.forced_settings import ForcedDecodingSettings, Prefixes
from phrasebeam.decoder.forced.reachability import Reachability
from phrasebeam.decoder.held_out.training_sentences import TrainingFiles, with_references
from phrasebeam.decoder.input.sentence_input import LEAVE_ONE_OUT, LeaveOneOut
from phrasebeam.decoder.marked_text.tokenization import Tokenization
from phrasebeam.decoder.model.digests import model_paths
from phrasebeam.decoder.output.lattice_rendering import render_lattice
from phrasebeam.decoder.translate.translate_settings import TranslateSettings, translate_settings
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.engine.current_engine import current_engine


class ForcedOptions(EngineOptions, total=False):
    """Options of leave-one-out, of the search for derivations, and of output."""

    alignment: Annotated[File | None, "Word alignment (0-0 1-2 ...) of the sentences, if they are training data."]
    leave_one_out: Annotated[LeaveOneOut | None, LEAVE_ONE_OUT]
    plot: Annotated[File | None, "Output file for a plot of reachability by sentence length (.png, .pdf, .svg)."]
    lattice: Annotated[File | None, "Output file for the lattices, as Moses' search graphs."]
    prefixes: Annotated[Prefixes | None, Option(section=ForcedDecodingSettings)]
    least_prefix: Annotated[int | None, Option(section=ForcedDecodingSettings)]
    max_states: Annotated[int | None, Option(section=ForcedDecodingSettings)]
    aligned: Annotated[bool, Option(section=ForcedDecodingSettings)]
    distortion_limit: Annotated[int | None, Option(setting="search.distortion_limit")]
    config: Config
    raw: RawOrTokens
    memory: MemoryBound


@described(TranslateSettings, unset=OF_MODEL)
def forced_decode(
    model: Model,
    source: Source,
    reference: Annotated[
        File, "Reference translations of the sentences, line by line, for which derivations are searched."
    ],
    output: Annotated[File, "Output file for the results, a JSON object for each sentence pair."],
    *,
    table_limit: Annotated[int, Option(setting="search.table_limit")] = 0,
    threads: AtOnce = 1,
    **options: Unpack[ForcedOptions],
) -> Reachability:
    """Find the derivations that produce the references: exact forced decoding (Yu et al. 2013, section 3).

    ForcedDecoder does the same for sentences instead of files.

    Returns how many references are reachable, by length. Raises SmtError or OSError.

    >>> reached = forced_decode("model", "train.de", "train.en", "forced.jsonl", prefixes="none")
    >>> print(reached.text().splitlines()[0])
    length  sentences  % reachable  % with prefixes  too large  words  % reachable  % with prefixes  derivations
    """
    _check(options)
    plot, lattice, alignment = (optional_path(options[name]) for name in ("plot", "lattice", "alignment"))
    check_keeps_inputs([output, lattice, plot], [source, reference, alignment, *model_paths(Path(model))])
    if plot:
        check_figure_file(plot)
    decoding = translate_settings(Path(model), options["config"])
    given = settings_given(forced_decode, TranslateSettings, options | {"table_limit": table_limit})
    decoding = config_with_options(decoding, TranslateSettings, given)
    forcing = settings_given(forced_decode, ForcedDecodingSettings, options | {"table_limit": table_limit})
    settings = parse_config(forcing, ForcedDecodingSettings, "options")
    with resources(decoding.memory, options, options["workers"]):
        decoder = Decoder.load(model, decoding.search, decoding.weights, decoding.input)
        forced = ForcedDecoder(decoder, settings, keeps_graphs=lattice is not None)
        files = TrainingFiles(Path(reference), alignment, options["leave_one_out"] or "drop")
        pairs = _pairs(forced, Path(source), files, Tokenization.of_model(model, options["raw"]))
        reached = _force_all(forced, pairs, (Path(output), lattice), threads)
    if plot:
        reached.plot(plot)
    return reached


def _check(options: ForcedOptions) -> None:
    """Raise ConfigError if arguments need or exclude each other."""
    alignment, prefixes = options["alignment"], options["prefixes"]
    if (options["leave_one_out"] is None) != (alignment is None):
        raise ConfigError("--leave-one-out and --alignment need each other; give both, or none")
    for name, is_given in {"--aligned": options["aligned"], "--prefixes closed": prefixes == "closed"}.items():
        if is_given and alignment is None:
            raise ConfigError(f"{name} needs --alignment and --leave-one-out; give both, or leave it out")
    if options["lattice"] and prefixes == "all":
        raise ConfigError("--lattice writes lattices with one end; leave out --prefixes all, or leave out --lattice")


def _pairs(
    forced: ForcedDecoder, source: Path, files: TrainingFiles, tokenization: Tokenization
) -> Iterator[ForcedPair]:
    inputs = tokenization.sentences(read_lines(source), "pass-through", source, forced.decoder.model.has_tags)
    return with_references(inputs, files, tokenization.target)


def _force_all(
    forced: ForcedDecoder, pairs: Iterable[ForcedPair], outputs: tuple[Path, Path | None], threads: int
) -> Reachability:
    """Force all sentence pairs; results go to the first of `outputs`, lattices to the second, if it is given."""
    reached, (output, lattice) = Reachability(), outputs
    with ExitStack() as stack, stage("forced decoding", unit="sentence pairs") as advance:
        objects = stack.enter_context(atomic_file(output))
        lattices = stack.enter_context(atomic_file(lattice)) if lattice else None
        results = current_engine().map(PairForcer(forced), enumerate(pairs), threads, is_python=True)
        for found, graph, result in stack.enter_context(closing(results)):
            objects.write(found.encode("utf-8"))
            if lattices:
                lattices.write(graph.encode("utf-8"))
            reached.add(result)
            advance(1)
    return reached


@dataclass(frozen=True)
class PairForcer:
    """The forced decoding of one sentence pair."""

    forced: ForcedDecoder

    def __call__(self, numbered: tuple[int, ForcedPair]) -> tuple[str, str, ForcedResult]:
        """The result and its lattice, both as lines, and the result without derivations; pairs are numbered from 0."""
        number, pair = numbered
        result = self.forced.force(*pair)
        graph = render_lattice(number, result.graph, "osg") if self.forced.keeps_graphs else ""
        return render_forced(number + 1, pair, result), graph, replace(result, best=None, lattice=None, graph=None)
