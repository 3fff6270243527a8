"""Look-up of a language among given ones, by codes of BCP 47 (RFC 4647, section 3.4)."""

from collections.abc import Iterable


def nearest(wanted: str, codes: Iterable[str]) -> str | None:
    """The code nearest to the code `wanted`: the same code, or one with more or fewer parts; None if none fits.

    >>> nearest("de", ["en-US", "de-DE"]), nearest("pt_BR", ["PT", "pt-br"]), nearest("de", ["da"])
    ('de-DE', 'pt-br', None)
    """
    found = [(far, code) for code in codes if code and (far := distance(wanted, code)) is not None]
    return min(found, key=lambda one: one[0])[1] if found else None


def distance(wanted: str, known: str) -> int | None:
    """Distance of two codes: the parts at the end that only one of them has; None: different languages.

    Case is ignored. With equally many such parts, parts that only `known` has count less than parts that only `wanted`
    has.

    >>> distance("de_DE", "DE-de"), distance("zh", "zh-Hans"), distance("zh-Hans", "zh"), distance("de", "da")
    (0, 1, 2, None)
    """
    one, other = (code.lower().replace("_", "-").split("-") for code in (wanted, known))
    common = min(len(one), len(other))
    if one[:common] != other[:common]:
        return None
    return 2 * (len(one) - common) or 2 * (len(other) - common) - (len(other) > common)
