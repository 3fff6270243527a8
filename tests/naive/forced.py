"""Forced decoding by enumeration of all partial derivations that produce a prefix of the reference."""

from tests.naive.search import options


def is_consistent(links, source, target):
    """Whether words of both ranges are linked to each other, and none to words outside of them."""
    touching = [(i in source, j in target) for i, j in links if i in source or j in target]
    return bool(touching) and all(in_source and in_target for in_source, in_target in touching)


def good_derivations(table, words, reference, longest, distortion_limit, links=None):
    """Yield all partial derivations, lists of (span, option), whose target side is a prefix of `reference`.

    With `links`, pairs (source, target) of positions, only those of phrase pairs that are consistent with them.
    """

    def extend(covered, previous_end, position, derivation):
        yield list(derivation)
        if all(covered):
            return
        gap, n = covered.index(False), len(words)
        for begin in range(n):
            for end in range(begin + 1, min(begin + longest, n) + 1):
                near = abs(begin - previous_end) <= distortion_limit
                returns = begin == gap or end - gap <= distortion_limit
                if any(covered[begin:end]) or not (distortion_limit < 0 or (near and returns)):
                    continue
                for option in options(table, words, begin, end):
                    after = position + len(option[0])
                    fits = links is None or is_consistent(links, range(begin, end), range(position, after))
                    if fits and option[0] == reference[position:after]:
                        extended = [c or begin <= i < end for i, c in enumerate(covered)]
                        yield from extend(extended, end, after, [*derivation, ((begin, end), option)])

    yield from extend([False] * len(words), 0, 0, [])


def prefix_pair(derivation):
    """Numbers of (source words, target words) of a derivation that covers a source prefix; None for another."""
    covered = {word for (begin, end), _ in derivation for word in range(begin, end)}
    if covered != set(range(len(covered))):
        return None
    return len(covered), sum(len(option[0]) for _, option in derivation)


def is_closed(links, pair, n_reference):
    """Whether a prefix pair, numbers of words, is linked to nothing outside, and the next target word is linked."""
    source, target = pair
    is_next_linked = target == n_reference or any(j == target for _, j in links)
    return is_next_linked and all((i < source) == (j < target) for i, j in links)


def forced(table, words, reference, longest, distortion_limit, least, prefixes, links=None, is_aligned=False):
    """(status, prefix pair reached or None, derivations that reach it), as forced decoding with prefixes returns them.

    least: least source words of a prefix; prefixes: which count if the pair is unreachable, none, longest, closed (by
    `links`) or all; is_aligned: whether phrase pairs must be consistent with `links`.
    """
    good = good_derivations(table, words, reference, longest, distortion_limit, links if is_aligned else None)
    pairs = [(prefix_pair(d), d) for d in good if d]
    whole = len(words), len(reference)
    if any(pair == whole for pair, _ in pairs):
        return "reachable", whole, [d for pair, d in pairs if pair == whole]
    ends = [(pair, d) for pair, d in pairs if pair and least <= pair[0] < len(words)]
    if prefixes == "closed":
        ends = [(pair, d) for pair, d in ends if is_closed(links, pair, len(reference))]
    if prefixes == "none" or not ends:
        return "unreachable", None, []
    longest_pair = max(pair for pair, _ in ends)
    return "prefix", longest_pair, [d for pair, d in ends if prefixes == "all" or pair == longest_pair]
