"""BLEU, chrF and TER of a model on a set of sentences, with confidence, and its translations."""

from contextlib import closing

from phrasebeam.base.config import Section
from phrasebeam.base.files import read_lines
from phrasebeam.base.progress import stage
from phrasebeam.decoder.output.mbr import MbrSettings
from phrasebeam.decoder.output.request import Request
from phrasebeam.decoder.translate.translator import Decoder
from phrasebeam.training.bitext.bitext_files import BitextFiles
from phrasebeam.training.metrics.evaluation import EvaluationOptions, evaluate_texts

METRICS = ("bleu", "chrf", "ter")


class SetScores(Section):
    """Scores of one set, as sacrebleu reports them of tokenized text (tokenize: none)."""

    bleu: float
    bleu_interval: float  # half of the 95 % confidence interval by bootstrap
    chrf: float
    ter: float


def translated(decoder: Decoder, data: BitextFiles, threads: int, risk: MbrSettings | None = None) -> list[str]:
    """The translations of the sentences of a set, by least Bayes risk where settings of it are given."""
    texts, request = [], Request(mbr=risk) if risk else decoder.request
    lines = [decoder.input_of(line) for line in read_lines(data.source)]
    with (
        stage("decode", len(lines), "sentences") as advance,
        closing(decoder.answer_all(lines, request, threads)) as answers,
    ):
        for answer in answers:
            texts.append(answer.translation.text)
            advance(1)
    return texts


def scores_of(texts: list[str], data: BitextFiles) -> SetScores:
    """Scores of translations. Raises ConfigError or FormatError."""
    references = [[line.rstrip() for line in read_lines(path)] for path in data.references]
    options = EvaluationOptions(METRICS, "none", confidence=True)
    bleu, chrf, ter = (results[0] for results in evaluate_texts({"": texts}, references, options).results.values())
    return SetScores(bleu=bleu.score, bleu_interval=bleu.interval or 0.0, chrf=chrf.score, ter=ter.score)
