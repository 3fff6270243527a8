"""Lattices by enumeration of all paths."""


def paths(edges, start, end):
    """Yield all paths between two nodes as lists of indices into `edges`, pairs (from, to) in any order."""
    after = {node: [i for i, (source, _) in enumerate(edges) if source == node] for node, _ in edges}

    def paths_from(node):
        if node == end:
            yield []
        for i in after.get(node, []):
            for rest in paths_from(edges[i][1]):
                yield [i, *rest]

    return paths_from(start)


def within(edges, scores, start, end, beam):
    """(edges on paths that score at most `beam` below the best, {node of such a path: best score to `end`})."""
    total = {tuple(path): sum(scores[i] for i in path) for path in paths(edges, start, end)}
    best = max(total.values())
    kept = {i for path, score in total.items() if score >= best - beam for i in path}
    nodes = {start, end} | {node for i in kept for node in edges[i]}
    best_to_end = {node: max(sum(scores[i] for i in path) for path in paths(edges, node, end)) for node in nodes}
    return sorted(kept), best_to_end
