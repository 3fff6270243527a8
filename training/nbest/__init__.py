"""N-best lists that may be larger than memory, merged over iterations, and readers of the lists of other decoders."""
