"""N-gram language models: ARPA and KenLM files, queries in kernels, estimation with Kneser-Ney smoothing."""
