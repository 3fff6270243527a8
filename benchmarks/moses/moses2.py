"""Moses2 as `decode.py` measures it: processor seconds of a run, less those of a run without input."""

import statistics
from pathlib import Path

from benchmarks.measure import run
from benchmarks.speed.decode_models import Job, n_copies

ALGORITHMS = {"stack": "0", "cube": "1"}
LOADS = 5


class Moses2:
    """The program `moses2` with the model of a job."""

    name = "moses2"

    def __init__(self, job: Job, program: Path):
        self.job = job
        self.command = [f"{program}", "-f", f"{job.moses}", "-threads", "1", "-output-hypo-score"]
        loads = [run([*self.command, *self._switches("cube", 100)]).processor_seconds for _ in range(LOADS)]
        self.loading = statistics.median(loads)

    def decode(self, algorithm: str, size: int) -> tuple[float, list[str], list[float]]:
        """(processor seconds for the input once, translations, model scores)."""
        copies = n_copies(algorithm, size)
        text = self.job.scratch / "moses2.input"
        text.write_text("".join(f"{source}\n" for source in self.job.sources) * copies, encoding="utf-8")
        result = run([*self.command, *self._switches(algorithm, size)], stdin=text)
        lines = [line.split(maxsplit=1) for line in result.output.splitlines()[: len(self.job.sources)]]
        seconds = (result.processor_seconds - self.loading) / copies
        return seconds, [line[1].strip() if len(line) > 1 else "" for line in lines], [float(line[0]) for line in lines]

    @staticmethod
    def _switches(algorithm: str, size: int) -> list[str]:
        switches = ["-search-algorithm", ALGORITHMS[algorithm], "-s", f"{size}"]
        return [*switches, "-cube-pruning-pop-limit", f"{size}"] if algorithm == "cube" else switches
