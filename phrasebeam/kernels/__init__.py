"""What kernels are made of: the decorators and their cache, hashing, sorting, queues, prefetching."""
