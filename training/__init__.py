"""From data to models: alignment, phrase extraction, scoring, evaluation."""
