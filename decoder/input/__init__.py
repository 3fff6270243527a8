"""The input of the search: a source sentence with terms, walls, zones and a prefix of its translation."""
