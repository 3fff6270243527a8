"""What a search is given: a source sentence with its terms, walls, zones and what its translation must begin with."""
