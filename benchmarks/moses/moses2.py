"""Moses2 as a decoder that `decode.py` measures."""

from pathlib import Path

from benchmarks.measure import run_after_first
from benchmarks.speed.decode_models import Decoded, Job

ALGORITHMS = {"stack": "0", "cube": "1"}


class Moses2:
    """The program `moses2` with the model of a job."""

    name = "Moses2"

    def __init__(self, job: Job, program: Path):
        self.job = job
        self.command = [f"{program}", "-f", f"{job.moses}", "-threads", "1", "-output-hypo-score"]

    def decode(self, algorithm: str, size: int) -> Decoded:
        found = run_after_first([*self.command, *self._switches(algorithm, size)], self.job.sources)
        lines = [line.split(maxsplit=1) for line in found.lines]
        texts, scores = [line[1].strip() if len(line) > 1 else "" for line in lines], [float(line[0]) for line in lines]
        return Decoded(found.processor_seconds, found.seconds, texts, scores)

    @staticmethod
    def _switches(algorithm: str, size: int) -> list[str]:
        switches = ["-search-algorithm", ALGORITHMS[algorithm], "-s", f"{size}"]
        return [*switches, "-cube-pruning-pop-limit", f"{size}"] if algorithm == "cube" else switches
