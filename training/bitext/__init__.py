"""A bitext: its sentence pairs as corpora of ids, and as the operations that generate them."""
