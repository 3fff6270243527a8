"""A hash table filled in the order of home slots, one phrase after the other."""

ABSENT = -1


def slots(hashes, size):
    """Each phrase goes to the next free slot; those that are pushed over the end, to the first free ones of all."""
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
