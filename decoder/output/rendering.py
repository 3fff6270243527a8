"""Translations as lines of text: what the command prints, and Moses' n-best format."""

import re
from collections.abc import Iterable, Sequence

from phrasebeam.decoder.model.moses_names import MosesFeature, named_values
from phrasebeam.decoder.output.translation import Translation

SEPARATOR = " ||| "
BARS = re.compile(r"(?:\||&(?:amp;)*#124;){3,}")  # in a word, escaped any number of times
BAR = re.compile(r"\||&((?:amp;)*#124;)")


def escape_bars(text: str) -> str:
    """`text` with &#124; for each | where three or more stand together, since these would separate fields.

    Moses' escape-special-chars.perl writes | in this way. Text that is already escaped is escaped once more.
    """
    if "|||" not in text and "#124;" not in text:  # nearly always
        return text
    return BARS.sub(lambda bars: BAR.sub(lambda bar: f"&amp;{bar[1]}" if bar[1] else "&#124;", bars[0]), text)


def restore_bars(text: str) -> str:
    """The text from which escape_bars made `text`."""
    if "|||" not in text and "#124;" not in text:
        return text
    return BARS.sub(lambda bars: bars[0].replace("&#124;", "|").replace("&amp;", "&"), text)


def render(
    translation: Translation,
    alignment: bool,
    segmentation: bool,
    scores: bool,
    moses_names: Sequence[MosesFeature] | None = None,
) -> str:
    """One line: the text, with segmentation if requested, then fields separated by ' ||| ', see escape_bars.

    The last field has the confidences, if the translation has any.
    """
    fields = [translation.text]
    if segmentation:
        spans = [(p.target, f"|{p.source_span[0]}-{p.source_span[1] - 1}|") for p in translation.phrases]
        fields = [" ".join(part for both in spans for part in both if part)]
    if scores or alignment or translation.confidences:
        fields = [escape_bars(fields[0])]
    if scores:
        fields += _scores(translation, moses_names)
    if alignment:
        fields.append(_alignment(translation))
    if translation.confidences:
        fields.append(" ".join(f"{confidence:.4f}" for confidence in translation.confidences))
    return SEPARATOR.join(fields)


def render_nbest(
    number: int,
    translations: list[Translation],
    alignment: bool,
    segmentation: bool,
    moses_names: Sequence[MosesFeature] | None = None,
) -> str:
    """The n-best list of sentence `number` as Moses writes it, one line for each translation.

    A line is number ||| text ||| features ||| score, and if requested ||| source=target spans in target order, both
    ends included, and ||| the word alignment. Texts and names are escaped as by escape_bars. With `moses_names`,
    features have Moses' names, see named_values, instead of ours.
    """
    lines = []
    for translation in translations:
        fields = [str(number), escape_bars(translation.text), *_scores(translation, moses_names)]
        if segmentation:
            fields.append(" ".join(f"{_span(p.source_span)}={_span(p.target_span)}" for p in translation.phrases))
        if alignment:
            fields.append(_alignment(translation))
        lines.append(SEPARATOR.join(fields) + "\n")
    return "".join(lines)


def _scores(translation: Translation, moses_names: Sequence[MosesFeature] | None) -> list[str]:
    """The field of feature values by name, sparse features last, and the field of the score."""
    sparse = [(translation.sparse_names[key], value) for key, value in translation.sparse.items()]
    values: Iterable[tuple[str, float | list[float]]] = [*translation.features.items(), *sparse]
    if moses_names is not None:
        values = named_values(moses_names, translation.features, sparse)
    parts = []
    for name, value in values:
        parts.append(f"{escape_bars(name)}=")
        parts += [f"{v:.6g}" for v in (value if isinstance(value, list) else [value])]
    return [" ".join(parts), f"{translation.score:.6f}"]


def _alignment(translation: Translation) -> str:
    return " ".join([f"{i}-{j}" for i, j in translation.alignment])


def _span(span: tuple[int, int]) -> str:
    begin, end = span
    return f"{begin}" if end <= begin + 1 else f"{begin}-{end - 1}"  # an empty span: its position
