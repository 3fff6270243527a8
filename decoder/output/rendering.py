"""Translations as lines of text: what the command prints, and Moses' n-best format."""

from phrasebeam.decoder.output.translation import Translation


def render(translation: Translation, alignment: bool, segmentation: bool, scores: bool) -> str:
    """One line: the text, with segmentation if asked for, then fields set off by ' ||| '."""
    fields = [translation.text]
    if segmentation:
        spans = [(p.target, f"|{p.source_span[0]}-{p.source_span[1] - 1}|") for p in translation.phrases]
        fields = [" ".join(part for both in spans for part in both if part)]
    if scores:
        fields += _scores(translation)
    if alignment:
        fields.append(_alignment(translation))
    return " ||| ".join(fields)


def render_nbest(number: int, translations: list[Translation], alignment: bool, segmentation: bool) -> str:
    """The n-best list of sentence `number` as Moses writes it, a line each.

    number ||| text ||| features ||| score, and if asked for ||| source=target spans in target order, both ends
    included, and ||| the word alignment.
    """
    lines = []
    for translation in translations:
        fields = [str(number), translation.text, *_scores(translation)]
        if segmentation:
            fields.append(" ".join(f"{_span(p.source_span)}={_span(p.target_span)}" for p in translation.phrases))
        if alignment:
            fields.append(_alignment(translation))
        lines.append(" ||| ".join(fields) + "\n")
    return "".join(lines)


def _scores(translation: Translation) -> list[str]:
    """The field of feature values, by name, sparse ones behind the others; and that of the score."""
    values = []
    for name, value in translation.features.items():
        values.append(f"{name}=")
        values += [f"{v:.6g}" for v in (value if isinstance(value, list) else [value])]
    values += [f"{translation.sparse_names[key]}= {value:.6g}" for key, value in translation.sparse.items()]
    return [" ".join(values), f"{translation.score:.6f}"]


def _alignment(translation: Translation) -> str:
    return " ".join([f"{i}-{j}" for i, j in translation.alignment])


def _span(span: tuple[int, int]) -> str:
    begin, end = span
    return f"{begin}" if end <= begin + 1 else f"{begin}-{end - 1}"  # of no words: where they would be
