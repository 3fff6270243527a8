"""Translation options of every span of a sentence, ranked and limited, and the future cost."""
