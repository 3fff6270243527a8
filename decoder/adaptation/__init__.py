"""What a model learns while people work: confirmed segments, aligned by its own statistics, and their counts."""
