"""What a search finds in hash tables and counts, by plain loops: first places that are not as they should be."""


def find(keys, home, key):
    """The bucket of `key` by linear probing from `home`; None at an empty one (0), or where all have been seen."""
    for step in range(len(keys)):
        bucket = (home + step) % len(keys)
        if keys[bucket] in (key, 0):
            return bucket if keys[bucket] else None
    return None


def lost_entry(keys):
    """The first bucket whose key is not found there, and the one where it is (None: nowhere); None if all are."""
    for bucket, key in enumerate(keys):
        if key and (found := find(keys, key % len(keys), key)) != bucket:
            return bucket, found
    return None


def other_word(words, ids):
    """The first of the words (but for number 0) with another id than its number, and that id; None if all agree."""
    return next(((i, ids.get(word, 0)) for i, word in enumerate(words) if i and ids.get(word, 0) != i), None)


def other_phrase(slots, phrases, hashes):
    """The first of the phrases that is not found by its words, and what is (-1: nothing); None if each is."""
    for i, phrase in enumerate(phrases):
        slot = hashes[i] % len(slots)
        while slots[slot] >= 0 and phrases[slots[slot]] != phrase:
            slot = (slot + 1) % len(slots)
        if slots[slot] != i:
            return i, slots[slot]
    return None


def wrong_count(sources):
    """The first count that cannot be, of sources [c(f), [(c(f, e), c(e)), ...]]: what, its number, it, its limit."""
    number = 0
    for i, (c_f, pairs) in enumerate(sources):
        for joint, c_e in pairs:
            if joint > c_e:
                return "target", number, joint, c_e
            number += 1
        if (total := sum(joint for joint, _ in pairs)) > c_f:
            return "source", i, total, c_f
    return None
