"""Building blocks of kernels: their decorators and cache, hashing, sorting, queues, prefetching."""
