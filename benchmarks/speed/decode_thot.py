"""Thot's stack decoder (package sil-thot, Ortiz-Martinez & Casacuberta 2014) as a decoder that `decode.py` measures.

It has a model of its own: phrase translation probabilities in both directions from the counts of our phrase table; an
n-gram model with Jelinek-Mercer smoothing, of the same order and text as ours; and a distance of jumps. It has no
lexical weights and no lexicalized reordering, and reads neither ARPA nor Moses' tables. So its model scores cannot be
compared with ours, only its BLEU.
"""

import gzip
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from thot.alignment import AlignmentModelType, Ibm1AlignmentModel
from thot.translation import SmtDecoder, SmtModel

from benchmarks.speed.decode_models import LONGEST, Decoded, Job

ORDER = 4
INTERPOLATION = "0.99 0.8 0.6 0.4"  # weights of unigrams, bigrams, ... against the model of the next lower order
# Word penalty, language model, target and source phrase lengths around the jumps, p(target | source), p(source |
# target), sentence length: chosen by hand among nine settings, for BLEU on a hundred sentences of Multi30k.
WEIGHTS = [0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0]
LOCAL_ESTIMATE = 6  # the heuristic for the future cost that includes jumps
JUMPS = {"stack": 6, "monotone": 0}


class Thot:
    """Thot's decoder with a model made from a job's tables."""

    name = "Thot"

    def __init__(self, job: Job):
        self.job = job
        prefix = job.scratch / f"{job.name}.thot"
        _write_phrases(job.moses.parent / "phrase-table.gz", prefix)
        _write_ngrams(job.training_target, job.scratch / f"{job.name}.thot.lm")
        self.model = SmtModel(AlignmentModelType.IBM1)
        if not self.model.load_translation_model(f"{prefix}") or not self.model.load_language_model(f"{prefix}.lm"):
            raise SystemExit(f"{prefix}: thot cannot load this model")
        self.model.w, self.model.a, self.model.e, self.model.heuristic = 20, LONGEST, LONGEST, LOCAL_ESTIMATE
        self.model.weights = WEIGHTS

    def decode(self, algorithm: str, size: int) -> Decoded:
        self.model.non_monotonicity = JUMPS[algorithm]
        decoder = SmtDecoder(self.model)
        decoder.s, decoder.is_breadth_first = size, True
        begin, clock = time.process_time(), time.perf_counter()
        results = [decoder.translate(source) for source in self.job.sources]
        seconds = time.process_time() - begin, time.perf_counter() - clock
        return Decoded(*seconds, [" ".join(result.target) for result in results], None)


def _write_phrases(table: Path, prefix: Path) -> None:
    """Write counts of phrase pairs, and word models: Thot loads nothing without these, but no weight uses them."""
    pairs = []
    with gzip.open(table, "rt", encoding="utf-8") as lines, open(f"{prefix}.ttable", "w", encoding="utf-8") as counts:
        for line in lines:
            source, target, _, _, seen, *_ = line.split(" ||| ")
            of_target, _, of_pair = seen.split()
            counts.write(f"{target} ||| {source} ||| {of_target} {of_pair}\n")
            pairs.append((source.split(), target.split()))
    Path(f"{prefix}.lambda").write_text("1.0 1.0\n")
    for suffix, flip in (("_invswm", 1), ("_swm", -1)):
        words = Ibm1AlignmentModel()
        for pair in pairs:
            words.add_sentence_pair(*pair[::flip])
        words.start_training()
        words.train()
        words.end_training()
        words.print(f"{prefix}{suffix}")


def _write_ngrams(text: Path, prefix: Path) -> None:
    """Write counts of n-grams and of their histories."""
    counts = Counter(ngram for line in text.read_text(encoding="utf-8").splitlines() for ngram in _ngrams(line.split()))
    n_words = sum(count for ngram, count in counts.items() if len(ngram) == 1)
    with open(prefix, "w", encoding="utf-8") as lines:
        for ngram, count in counts.items():
            of_history = counts[ngram[:-1]] if len(ngram) > 1 else n_words
            lines.write(f"{' '.join(ngram)} {of_history} {count}\n")
    Path(f"{prefix}.weights").write_text(f"{ORDER} 1 0 {INTERPOLATION}\n")
    Path(f"{prefix}.wp").write_text("\n")


def _ngrams(words: list[str]) -> Iterator[tuple[str, ...]]:
    sentence = "<s>", *words, "</s>"
    yield sentence[:1]
    for end in range(2, len(sentence) + 1):
        for begin in range(max(0, end - ORDER), end):
            yield sentence[begin:end]
