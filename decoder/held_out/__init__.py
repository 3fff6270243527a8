"""Training sentences decoded as if the model had not seen them: leave-one-out."""
