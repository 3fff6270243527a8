"""Models that learn while people work: from confirmed segments, aligned by the model's statistics, and their counts."""
