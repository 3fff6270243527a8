"""Pairwise ranking by definition: pairs by their levels, weights as dictionaries, one pair after the other."""

import math


def multipartite(gains, share):
    """[(better, worse)] of all hypotheses of different levels and gains, in the order of levels and gains."""
    order = sorted(range(len(gains)), key=lambda i: (-gains[i], i))
    size = min(max(1, round(share * len(gains))), len(gains) // 2)
    level = {row: 0 if i < size else 2 if i >= len(gains) - size else 1 for i, row in enumerate(order)}
    pairs = [(a, b) for a in order for b in order if level[a] < level[b]]
    return [(a, b) for a, b in pairs if gains[a] > gains[b]]


def dot(weights, vector):
    """Scalar product of dictionaries."""
    return sum(weights.get(name, 0.0) * value for name, value in vector.items())


def perceptron(vectors, weights, pairs, rate_of, margin, is_sequential):
    """(weights, loss, updates, wrong pairs) after the pairs [(better, worse)] of `vectors`, dictionaries by feature.

    Where the better one does not lead by more than the margin, the weights move by the difference times the rates. A
    pair sees the weights that the pairs before it left where they are sequential, else those before all of them.
    """
    before, weights, loss, updates, wrong = dict(weights), dict(weights), 0.0, 0, 0
    for better, worse in pairs:
        seen = weights if is_sequential else before
        lead = dot(seen, vectors[better]) - dot(seen, vectors[worse])
        loss += max(0.0, margin - lead)
        wrong += lead <= 0
        if lead <= margin:
            updates += 1
            for sign, vector in ((1.0, vectors[better]), (-1.0, vectors[worse])):
                for name, value in vector.items():
                    weights[name] = weights.get(name, 0.0) + sign * rate_of(name) * value
    return weights, loss, updates, wrong


def logistic(vectors, weights, pairs):
    """(gradient, loss, wrong pairs): sums over the pairs of difference / (1 + exp(lead)), and of the loss."""
    gradient, loss, wrong = {}, 0.0, 0
    for better, worse in pairs:
        lead = dot(weights, vectors[better]) - dot(weights, vectors[worse])
        loss += math.log1p(math.exp(-lead))
        wrong += lead <= 0
        for sign, vector in ((1.0, vectors[better]), (-1.0, vectors[worse])):
            for name, value in vector.items():
                gradient[name] = gradient.get(name, 0.0) + sign * value / (1.0 + math.exp(lead))
    return gradient, loss, wrong


def expected_gain(vectors, weights, gains, scale):
    """The mean of the gains of `vectors`, dictionaries by feature, by probabilities that exp(scale * score) has."""
    shares = [math.exp(scale * dot(weights, vector)) for vector in vectors]
    return sum(share * gain for share, gain in zip(shares, gains)) / sum(shares)


def adagrad_fobos(steps, rate, strength, truncates_all, start):
    """{key: weight} after steps of AdaGrad and FOBOS (Green et al. 2013, equations 3 to 7), all weights at each step.

    steps: {key: direction} each; rate, strength: functions of the key. Without `truncates_all`, steps concern the
    weights that have a direction in them.
    """
    weights, squares = dict(start), {}
    for step in steps:
        for key, gradient in step.items():
            squares[key] = squares.get(key, 0.0) + gradient * gradient
            weights[key] = weights.get(key, 0.0) + rate(key) / math.sqrt(squares[key]) * gradient
        for key in weights if truncates_all else step:
            if squares.get(key, 0.0) > 0:
                threshold = rate(key) / math.sqrt(squares[key]) * strength(key)
                weights[key] = math.copysign(max(abs(weights[key]) - threshold, 0.0), weights[key])
    return weights


def passive_aggressive(batch, rate, start):
    """{key: weight} after one mini-batch [(loss, {key: direction})] of PA-I with C = 1 in the norm x ** 2 * rate."""
    weights = dict(start)
    for loss, step in batch:
        norm = sum(rate(key) * value**2 for key, value in step.items())
        share = min(1.0, loss / norm) if norm else 1.0
        for key, value in step.items():
            weights[key] = weights.get(key, 0.0) + share * rate(key) * value / len(batch)
    return weights


def lazy_adam(steps, rate, start):
    """{key: weight} after steps {key: direction} of Adam, of each weight over the steps in which it has a direction."""
    weights = dict(start)
    for key in {key for step in steps for key in step}:
        gradients = [step[key] for step in steps if key in step]
        for n in range(1, len(gradients) + 1):
            mean = sum(0.1 * 0.9 ** (n - i) * gradients[i - 1] for i in range(1, n + 1))
            squares = sum(0.001 * 0.999 ** (n - i) * gradients[i - 1] ** 2 for i in range(1, n + 1))
            step = mean / (1 - 0.9**n) / (math.sqrt(squares / (1 - 0.999**n)) + 1e-8)
            weights[key] = weights.get(key, 0.0) + rate(key) * step
    return weights
