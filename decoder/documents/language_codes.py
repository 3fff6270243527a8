"""The look-up of a language among those of a file, by codes of BCP 47 (RFC 4647)."""

from collections.abc import Iterable


def nearest(wanted: str, codes: Iterable[str]) -> str | None:
    """Which of the codes is the language `wanted`: the same, one of more parts, or what remains of it; None if none.

    >>> nearest("de", ["en-US", "de-DE"]), nearest("pt_BR", ["PT", "pt-br"]), nearest("de", ["da"])
    ('de-DE', 'pt-br', None)
    """
    parts, known = _parts(wanted), [(code, _parts(code)) for code in codes if code]
    longer = [(len(found), code) for code, found in known if found[: len(parts)] == parts]
    shorter = [(-len(found), code) for code, found in known if parts[: len(found)] == found]
    best = min(longer or shorter, default=None, key=lambda one: one[0])
    return best[1] if best else None


def _parts(code: str) -> list[str]:
    return code.lower().replace("_", "-").split("-")
