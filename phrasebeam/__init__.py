"""Phrase-based statistical machine translation: train models from parallel text, and translate with them.

    import phrasebeam

    phrasebeam.train_model("train.de", "train.en", "model")
    phrasebeam.tune("model", "dev.de", ["dev.en"], "tuned")
    decoder = phrasebeam.Decoder.load("tuned")
    print(decoder.translate("der hund schläft ."))

Text has one sentence per line. It is tokenized, or raw if the model was trained on raw text. `Decoder.translate_text`
takes text of either kind; the other methods of a Decoder take tokens. A file is given as a name or Path. Settings are
given as a YAML file, as a dictionary, or as an object. Wrong files, settings or other arguments raise SmtError, whose
one line says where the error is and what to do; a file that cannot be opened raises OSError. `help(phrasebeam.tune)`
describes a function, `phrasebeam tune --help` the command with the same options. The first call of a function compiles
its kernels, which takes up to half a minute once. Call `show_progress()` to see a line about it. `warm_up()` compiles
all kernels.

Build a model
    train                 train the best model from two text files, by the stages of a recipe
    train_model           build a model from a bitext: word alignment, phrase table, reordering, language models
    build_lm, cluster     estimate a language model; group words into classes
    select                choose the sentence pairs of a bitext that resemble in-domain text
    read_pairs            read the sentence pairs of a TSV, TMX, XLIFF or PO file
    check_model           check a model directory for damage
    import_moses, export_moses    convert models from and to Moses' formats
    demo, demo_corpus     a tour; sentences generated from a grammar to try things with

Translate
    Decoder               translates sentences with a model: translate_text, translate, nbest, lattice, mbr, complete,
                          answer; translate_all and others for many sentences
    Input, Term, read_markup      a sentence with terms, walls, zones or a prefix; reading these from markup
    Translation, Phrase, Lattice  results: text, score, features, phrase pairs, word alignment
    NbestTable            n-best lists as arrays: texts, scores, features and their names
    Request, Answer, MbrSettings, ConfidenceSettings  several results from one search, with word confidences
    AdaptedDecoder, Segment       a decoder that learns from confirmed translations: confirm, undo, segments, export
    MemoryFile, read_memory       a translation memory for it, from sentence pairs or from a file
    align                 align the words of two files: by new or saved aligners, or by a model
    TextAligner           align the words of sentences by a model
    tokenizer, Tokenizer  tokenize raw text of a language, and detokenize
    RawText               tokenize and truecase raw text as a model needs it, and restore raw text
    read_terms            read a term base, for translate_lines
    translate             translate a file; translate_lines, LineSettings, LineOutput translate lines
    Normalizer, NormalizedWord    write words in another spelling: normalize, normalize_all, alternatives
    preprocess            tokenize and truecase files as a model needs them
    serve                 run a server over HTTP

Force references
    ForcedDecoder, ForcedResult   find the derivations of a given translation
    forced_decode         find the derivations of all sentence pairs of a bitext

Tune and train
    tune                  tune weights on development data: MERT, PRO, MIRA, online
    train_maxforce        learn sparse features on training data: the violation-fixing perceptron
    train_ranking         learn sparse features on training data: distributed ranking with feature selection
    train_expected_bleu   learn scores of phrase pairs on training data: maximum expected BLEU
    join_features         combine the features of two of these in one model
    rerank                tune weights on given n-best lists, and rerank them

Evaluate
    evaluate, evaluate_texts      score files or lists by any metrics, with significance tests
    Evaluation, EvaluationOptions
    explain               list the sparse features with the largest weights
    report                write a web page about a training run, or a comparison of systems
    LanguageModel         score sentences by an n-gram model

Settings
    SearchSettings, InputSettings, AdaptationSettings, ForcedDecodingSettings, RawTextSettings, Weights,
    TrainModelConfig, TuneConfig, MaxforceConfig, RankingConfig, ExpectedBleuConfig, HeldOutPair
    config                list or print the included configurations, as YAML
    load_config           read any of these from YAML
    warm_up               compile the kernels of all commands
    show_progress         show progress bars and log lines on standard error, as commands do

Errors
    SmtError              base class of ConfigError (settings), FormatError (text files) and ModelError (models)

The module of a name is imported when the name is first used, so that `import phrasebeam` is quick.
"""

from pathlib import Path

import lazy_loader

from phrasebeam.links import broken_links, more_places

__path__ += more_places(Path(__file__).parent)

# This is not __all__: with __all__, help() would print every class in full.
_get, __dir__, _ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("phrasebeam")
    if line := broken_links():
        raise ImportError(line)
    return _get(name)
