"""N-gram language models: ARPA and KenLM files, queries inside kernels, Kneser-Ney estimation."""
