"""Phrase-based statistical machine translation: models of parallel text, and translation with them.

    import phrasebeam

    phrasebeam.train_model("train.de", "train.en", "model")
    phrasebeam.tune("model", "dev.de", ["dev.en"], "tuned")
    decoder = phrasebeam.Decoder.load("tuned")
    print(decoder.translate("der hund schläft ."))

Text has one sentence a line. It is tokenized or, of models that were made of raw text, raw: `translate_text` of a
Decoder takes text of either kind, its other methods tokens. Files are given by name or Path, settings as a
YAML file, a dictionary of what it would say, or an object. What is wrong with them or with other arguments raises
SmtError: one line that says where, and what to do; a file that cannot be opened, OSError. `help(phrasebeam.tune)` tells
of a function, `phrasebeam tune --help` of the command with the same options. What is called for the first time compiles
its kernels, up to half a minute once; after `show_progress()` that is said. `warm_up()` compiles those of all.

Build a model
    train                 the best model of two text files: all stages of a recipe
    train_model           model directory of a bitext: word alignment, phrase table, reordering, language models
    build_lm, cluster     a language model, word classes of a text
    select                the sentence pairs of a bitext that resemble in-domain text
    read_pairs            the sentence pairs of a TSV, TMX, XLIFF or PO file
    check_model           what is damaged in a model directory
    import_moses, export_moses    models in Moses' formats
    demo, demo_corpus     a tour, and sentences of a grammar to try things with

Translate
    Decoder               a model that translates: translate_text, translate, nbest, lattice, mbr, complete, answer, and
                          all of a text
    Input, Term, read_markup      a sentence with instructions: terms, walls, zones, a prefix; markup for them
    Translation, Phrase, Lattice  what is found: text, score, features, phrase pairs, word alignment
    NbestTable            n-best lists as arrays: texts, scores, features and their names
    Request, Answer, MbrSettings, ConfidenceSettings  several of these from one search, and how sure each word is
    AdaptedDecoder, Segment       a decoder that learns from confirmed translations: confirm, undo, segments, export
    MemoryFile, read_memory       a translation memory for it, of sentence pairs or of a file
    align                 word alignment of two files: trained on them, by what was saved, or by a model
    TextAligner           that of sentences by a model
    tokenizer, Tokenizer  tokens of raw text of a language, and text of tokens
    RawText               the tokenizers and the casing of a model: raw text to its tokens, and back
    read_terms            a term base, for translate_lines
    translate             the sentences of a file; translate_lines, LineSettings, LineOutput do so with lines
    Normalizer, NormalizedWord    words in another spelling, by what train makes of word pairs: normalize,
                          normalize_all, alternatives
    preprocess            raw text as a model needs it, such as text to tune on
    serve                 models over HTTP

Force references
    ForcedDecoder, ForcedResult   the derivations of a given translation
    forced_decode         those of a bitext, in a file

Tune and train
    tune                  weights on development data: MERT, PRO, MIRA, online
    train_maxforce        sparse features on training data: the violation-fixing perceptron
    train_ranking         sparse features on training data: distributed ranking with feature selection
    train_expected_bleu   scores of phrase pairs on training data: maximum expected BLEU
    join_features         what two of these learned, in one model
    rerank                weights of given n-best lists

Evaluate
    evaluate, evaluate_texts      scores by any metrics of files or lists, with tests of significance
    Evaluation, EvaluationOptions
    explain               the sparse features that matter
    report                a training as a page, or systems compared
    LanguageModel         scores of sentences by an n-gram model

Settings
    SearchSettings, InputSettings, AdaptationSettings, ForcedDecodingSettings, RawTextSettings, Weights,
    TrainModelConfig, TuneConfig, MaxforceConfig, RankingConfig, ExpectedBleuConfig, HeldOutPair
    config                settings that come with phrasebeam, as YAML
    load_config           any of these from YAML
    warm_up               compiles the kernels of all commands
    show_progress         bars and log lines on standard error, as commands have them

Errors
    SmtError              all of them: ConfigError (settings), FormatError (files of text), ModelError (models)

The module of a name is imported when the name is first used, so that `import phrasebeam` is quick.
"""

from pathlib import Path

import lazy_loader

from phrasebeam.links import broken_links, more_places

__path__ += more_places(Path(__file__).parent)

# Not __all__, with which help() would go on to print all of each class.
_get, __dir__, _ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("phrasebeam")
    if line := broken_links():
        raise ImportError(line)
    return _get(name)
