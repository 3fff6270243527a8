"""What a user may write: each kind of argument, and what results are used for."""

from pathlib import Path

import phrasebeam


def main() -> None:
    description = phrasebeam.train_model("train.de", Path("train.en"), "mine", alignment=None, threads=1)
    pairs: int = description.sentence_pairs
    tuned = phrasebeam.tune("mine", "dev.de", ["dev.en"], Path("mine-tuned"), seed=[1], iterations=1, nbest=10)
    settings = {"iterations": 1, "sentences": 30, "lm_folds": 0, "scales": [1.0], "tune": None}
    learned = phrasebeam.train_maxforce(
        "mine", "train.de", "train.en", "dev.de", "dev.en", "learned", config=settings, update="max_violation"
    )
    gains: list[float] = [one.gain.best - one.gain.before for one in (tuned, learned)]
    decoder = phrasebeam.Decoder.load("mine-tuned", phrasebeam.SearchSettings(algorithm="cube"))
    sentences = Path("dev.de").read_text(encoding="utf-8").splitlines()
    translations: list[phrasebeam.Translation] = list(decoder.translate_all(sentences, threads=2))
    raw_text = phrasebeam.RawText(phrasebeam.RawTextSettings(source_language="de", target_language="en"))
    raw: list[str] = [raw_text.after(translations[0]), raw_text.after(translations[0].text)]
    term = phrasebeam.Term(1, 2, ("puppy",))
    alignment: list[tuple[int, int]] = decoder.translate(phrasebeam.Input("der hund schläft", (term,))).alignment
    best = phrasebeam.ForcedDecoder(decoder).force("der hund schläft", "the dog sleeps").best
    references = Path("dev.en").read_text(encoding="utf-8").splitlines()
    options = phrasebeam.EvaluationOptions(tokenize="none")
    evaluation = phrasebeam.evaluate_texts({"mine": [one.text for one in translations]}, [references], options)
    try:
        phrasebeam.Decoder.load("nowhere")
    except phrasebeam.SmtError as error:
        message: str = str(error)
    print("BLEU", evaluation.results["BLEU"][0].score, pairs, gains, alignment, best and best.score, message, raw)
    print(phrasebeam.__version__, phrasebeam.LanguageModel.load("mine/lm.bin").score("the dog sleeps ."))


if __name__ == "__main__":
    main()
