"""Ways to translate words that are not in the phrase table: BLEU on development and test sets.

    python -m benchmarks.models.unknown_words DATA --output DIRECTORY [--corpus NAME ...] [--run NAME ...]
        [--seed N ...] [--tables]

All runs have the smoothing and the class language model of the recipes, and are tuned by MERT with each seed. A file
for each run is kept in DIRECTORY and not made again. For TED, pairs with masked words are left out.
"""

from pathlib import Path
from typing import Any

from benchmarks.experiments.expected_bleu import Work, read_texts, tune
from benchmarks.models.phrase_smoothing import KN, arguments, build, file_name, print_table
from phrasebeam.base.progress import show_progress
from phrasebeam.decoder.tables.model_files import MODEL as MODEL_FILE
from phrasebeam.training.recipe.letter_model import LetterStageSettings, add_letter_model

MODEL = KN, 100, 7  # as in phrase_smoothing
RELATED = {"add": {"related_words": True}}
LETTERS = "related words, letters"
RUNS: dict[str, dict[str, Any]] = {"copied": {}, "related words": RELATED, LETTERS: RELATED}


def main() -> None:
    given = arguments(__doc__, RUNS)
    if not given.tables:
        show_progress()
        for corpus in given.corpus:
            texts = read_texts(corpus, given)
            base = Work(corpus, "base", texts, given.output, given)
            build(base, MODEL)
            for seed in given.seed:
                for run in given.run:
                    work = Work(corpus, file_name(run), texts, given.output, given)
                    model = with_letters(base.path("model")) if run == LETTERS else base.path("model")
                    tune(work, seed, model, RUNS[run])
    for corpus in given.corpus:
        print_table(corpus, given, RUNS)


def with_letters(model: Path) -> Path:
    """The directory of a copy of `model` with a model of letters."""
    output = model.with_name(f"{model.name}.letters")
    if not (output / MODEL_FILE).exists():
        add_letter_model(model, output, model.with_name(f"{model.name}.tried"), LetterStageSettings())
    return output


if __name__ == "__main__":
    main()
