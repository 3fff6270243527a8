"""A bitext: its sentence pairs as word ids, and as the operations that generate them."""
