"""N-best lists larger than memory, merged over iterations, and those of other decoders."""
