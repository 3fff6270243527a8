"""Naive twin of operation sequences: Durrani, Schmid & Fraser (2011, algorithm 1) with sets and strings."""

MOST_GAPS = 9


def cepts(points, n_source, n_target):
    """Pairs of sorted source and target positions that points connect; all words, where there are no points."""
    if not points and n_target:
        return [(list(range(n_source)), list(range(n_target)))]
    parts = []
    for i, j in points:
        source, target, rest = {i}, {j}, []
        for part in parts:
            if part[0] & {i} or part[1] & {j}:
                source, target = source | part[0], target | part[1]
            else:
                rest.append(part)
        parts = [*rest, (source, target)]
    return [(sorted(source), sorted(target)) for source, target in parts]


class Walk:
    """The operations of a sentence so far."""

    def __init__(self, source):
        self.source, self.done, self.position, self.names = source, set(), 0, []

    @property
    def furthest(self):
        return max(self.done, default=-1) + 1

    def leave(self):
        if self.position < self.furthest and self.position not in self.done:
            self.names.append("gap")

    def go_to(self, target):
        if self.position < target:
            self.leave()
            if self.position != self.furthest:
                self.names.append("forward")
                self.position = self.furthest
        if target < self.position:
            self.leave()
            free = [i for i in range(self.furthest) if i not in self.done]
            begins = [i for i in free if i - 1 not in free]
            begin = max(i for i in begins if i <= target)
            number = sum(i >= begin for i in begins)
            self.names.append(f"back:{min(number, MOST_GAPS)}")
            self.position = begin
        if self.position < target:
            self.names.append("gap")
            self.position = target

    def cover(self):
        self.done.add(self.position)
        self.position += 1

    def alone(self, words):
        while self.position in words and self.position not in self.done:
            self.names.append(f"source:{self.source[self.position]}")
            self.cover()

    def phrase(self, begin, end, target, points):
        """Generate the source words begin:end as `target`; points count from the begin of both."""
        parts = cepts(points, end - begin, len(target))
        aligned = {begin + i for source, _ in parts for i in source}
        words = {*range(begin, end)} - aligned
        if begin in words:
            self.go_to(begin)
            self.alone(words)
        for j, word in enumerate(target):
            part = next((part for part in parts if j in part[1]), None)
            if part is None:
                self.names.append(f"target:{word}")
            elif part[1][0] == j:
                for k, i in enumerate(part[0]):
                    self.go_to(begin + i)
                    cept = "_".join(self.source[begin + x] for x in part[0])
                    cept += "~" + "_".join(target[x] for x in part[1])
                    self.names.append(f"continue:{self.source[begin + i]}" if k else cept)
                    self.cover()
                    self.alone(words)


def operations(source, phrases):
    """The operations of phrases (begin, end, target, points) in their order."""
    walk = Walk(source)
    for phrase in phrases:
        walk.phrase(*phrase)
    return walk.names
