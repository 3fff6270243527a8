"""What a model learns while people work: confirmed segments, aligned by the model's own statistics, and their counts."""
