"""The violation-fixing perceptron: weights of millions of features, learned on the training data."""
