"""Models that learn while people work: confirmed segments, aligned by its own statistics, and their counts."""
