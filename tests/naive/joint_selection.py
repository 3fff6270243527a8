"""Algorithms 1 to 4 of Simianer et al. (2012) on dictionaries, as their pseudo code has them."""


def score(weights, features):
    """Weights times features, both {name: value}."""
    return sum(weights.get(name, 0) * value for name, value in features.items())


def levels_pairs(gains, share):
    """(better, worse) of all hypotheses of different levels whose gains differ, in the order of the paper."""
    order = sorted(range(len(gains)), key=lambda i: (-gains[i], i))
    size = min(max(1, round(share * len(gains))), len(gains) // 2)
    high, middle, low = order[:size], order[size : len(order) - size], order[len(order) - size :]
    pairs = [(i, j) for i in high for j in [*middle, *low]] + [(i, j) for i in middle for j in low]
    return [(i, j) for i, j in pairs if gains[i] > gains[j]]


def sgd_on(weights, example, rate, margin, share, is_sequential):
    """Weights after all pairs of an example's list (features, gains); `weights` are not changed."""
    features, gains = example
    before, weights = weights, dict(weights)
    for better, worse in levels_pairs(gains, share):
        seen = weights if is_sequential else before
        if score(seen, features[better]) - score(seen, features[worse]) <= margin:
            for name in {*features[better], *features[worse]}:
                difference = features[better].get(name, 0) - features[worse].get(name, 0)
                weights[name] = weights.get(name, 0) + rate * difference
    return weights


def mean(vectors):
    """The mean of weights."""
    names = {name for one in vectors for name in one}
    return {name: sum(one.get(name, 0) for one in vectors) / len(vectors) for name in names}


def algorithm_1_and_2(shards, epochs, learn):
    """Mean over shards of the mean over epochs of what a shard's weights are at the end of each; 1 has one shard."""
    of_shards = []
    for shard in shards:
        weights, after = {}, []
        for _ in range(epochs):
            for example in shard:
                weights = learn(weights, example)
            after.append(weights)
        of_shards.append(mean(after))
    return mean(of_shards)


def algorithm_3_and_4(shards, epochs, learn, keep=None, always=()):
    """Weights mixed after each epoch; algorithm 4 keeps `keep` features, besides those that are kept `always`."""
    mixed = {}
    for _ in range(epochs):
        ends = []
        for shard in shards:
            weights = mixed
            for example in shard:
                weights = learn(weights, example)
            ends.append(weights)
        mixed = mean(ends)
        if keep is not None:
            norms = {name: sum(one.get(name, 0) ** 2 for one in ends) for name in mixed if name not in always}
            kept = sorted(norms, key=lambda name: (-norms[name], name))[:keep]
            mixed = {name: mixed[name] for name in {*kept, *(name for name in mixed if name in always)}}
    return mixed
