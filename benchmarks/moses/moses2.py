"""Moses2 as `decode.py` measures it: processor seconds of a run, less those for the first sentence alone."""

import statistics
from pathlib import Path

from benchmarks.measure import run
from benchmarks.speed.decode_models import Decoded, Job

ALGORITHMS = {"stack": "0", "cube": "1"}
LOADS = 5


class Moses2:
    """The program `moses2` with the model of a job."""

    name = "moses2"

    def __init__(self, job: Job, program: Path):
        self.job = job
        self.command = [f"{program}", "-f", f"{job.moses}", "-threads", "1", "-output-hypo-score"]
        self.text, self.first = job.scratch / "moses2.input", job.scratch / "moses2.first"
        self.text.write_text("".join(f"{source}\n" for source in job.sources), encoding="utf-8")
        self.first.write_text(f"{job.sources[0]}\n", encoding="utf-8")
        starts = [run([*self.command, *self._switches("cube", 100)], stdin=self.first) for _ in range(LOADS)]
        self.start = statistics.median(one.processor_seconds for one in starts)
        self.start_elapsed = statistics.median(one.seconds for one in starts)

    def decode(self, algorithm: str, size: int) -> Decoded:
        result = run([*self.command, *self._switches(algorithm, size)], stdin=self.text)
        lines = [line.split(maxsplit=1) for line in result.output.splitlines()]
        texts, scores = [line[1].strip() if len(line) > 1 else "" for line in lines], [float(line[0]) for line in lines]
        return Decoded(result.processor_seconds - self.start, result.seconds - self.start_elapsed, texts, scores)

    @staticmethod
    def _switches(algorithm: str, size: int) -> list[str]:
        switches = ["-search-algorithm", ALGORITHMS[algorithm], "-s", f"{size}"]
        return [*switches, "-cube-pruning-pop-limit", f"{size}"] if algorithm == "cube" else switches
