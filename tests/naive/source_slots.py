"""The hash table of source phrases, filled by a loop over its phrases."""

ABSENT = -1


def slots(hashes, size):
    """The phrase of each of `size` slots, or ABSENT.

    Phrases in the order of their home slots (hash modulo size) go to the next free slot; past the end, to the first.
    """
    table, last, beyond = [ABSENT] * size, -1, []
    for home, _, phrase in sorted((h % size, h // size, i) for i, h in enumerate(hashes)):
        last = max(home, last + 1)
        if last < size:
            table[last] = phrase
        else:
            beyond.append(phrase)
    for phrase in beyond:
        table[table.index(ABSENT)] = phrase
    return table
