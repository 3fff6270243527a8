"""Counters and measurements of the server, for Prometheus."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
OTHER = "other"  # stands for paths without an endpoint


class Metrics:
    """The metrics of one application."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._requests = Counter(
            "phrasebeam_requests", "Requests answered.", ["method", "path", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "phrasebeam_request_seconds",
            "From a request to its answer.",
            ["path"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self._sentences = Counter("phrasebeam_sentences", "Sentences translated.", ["model"], registry=self.registry)
        self._words = Counter("phrasebeam_words", "Source words translated.", ["model"], registry=self.registry)
        self._decoding = Gauge("phrasebeam_requests_decoding", "Requests decoded or waiting.", registry=self.registry)
        self._models = Gauge("phrasebeam_model", "Models served.", ["model", "version"], registry=self.registry)

    def note_request(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count a request that was answered; `path` is the path of its endpoint."""
        self._requests.labels(method if method in ("GET", "HEAD", "POST") else OTHER, path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def note_sentence(self, model: str, n_words: int) -> None:
        self._sentences.labels(model).inc()
        self._words.labels(model).inc(n_words)

    def text(self, n_decoding: int, versions: dict[str, str]) -> bytes:
        """All metrics in the format that Prometheus reads; `versions`: the version of each model, by its name."""
        self._decoding.set(n_decoding)
        self._models.clear()
        for name, version in versions.items():
            self._models.labels(name, version).set(1)
        return generate_latest(self.registry)
