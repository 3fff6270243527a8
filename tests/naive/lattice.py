"""Lattices the obvious way: every path from the start to the end."""


def paths(edges, start, end):
    """All paths as lists of indices; edges are (from, to), in any order."""
    after = {node: [i for i, (source, _) in enumerate(edges) if source == node] for node, _ in edges}

    def onwards(node):
        if node == end:
            yield []
        for i in after.get(node, []):
            for rest in onwards(edges[i][1]):
                yield [i, *rest]

    return onwards(start)


def within(edges, scores, start, end, beam):
    """(edges on paths that score at most `beam` below the best, {node of such paths: best way onwards})."""
    total = {tuple(path): sum(scores[i] for i in path) for path in paths(edges, start, end)}
    best = max(total.values())
    kept = {i for path, score in total.items() if score >= best - beam for i in path}
    nodes = {start, end} | {node for i in kept for node in edges[i]}
    onwards = {node: max(sum(scores[i] for i in path) for path in paths(edges, node, end)) for node in nodes}
    return sorted(kept), onwards
