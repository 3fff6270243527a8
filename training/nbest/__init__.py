"""N-best lists on disk, merged over iterations, and readers of the lists of other decoders."""
