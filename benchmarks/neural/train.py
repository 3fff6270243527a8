"""Train a Transformer on the texts of a run until the development score stops improving, and translate the test set.

    python -m benchmarks.neural.train RUN [--seconds N]

RUN is a directory made by `python -m benchmarks.neural.compare`. Only the packages in requirements.txt are needed. A
checkpoint is written after each epoch: a run that was stopped continues from there, with the same result. Processor
seconds and peak memory include the earlier parts of such a run.
"""

import argparse
import copy
import json
import math
import os
import resource
import time
from pathlib import Path
from typing import Any

import sacrebleu
import torch
import torch.nn.functional as F

from benchmarks.neural.batches import PAD, Pair, batches, encoding
from benchmarks.neural.search import translated
from benchmarks.neural.settings import Settings
from benchmarks.neural.transformer import Transformer

# Other processors convert each 16-bit number to 32 bits and back, which makes training ten times as slow.
HAS_16_BITS = "AVX512" in torch.backends.cpu.get_cpu_capability()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which it stops, at the end of an epoch")
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    run = Run(given.run)
    deadline = time.monotonic() + given.seconds
    while not run.is_done and time.monotonic() < deadline:
        run.epoch()
    if run.is_done:
        run.translate_test()


class Run:
    """The state of a training."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.settings = Settings(**json.loads((directory / "settings.json").read_text()))
        torch.manual_seed(self.settings.seed)
        training = [directory / f"train.{side}" for side in ("source", "target")]
        self.encoding = encoding(training, directory, self.settings.pieces)
        self.pairs = self.read_pairs(training)
        self.model = Transformer(self.settings, self.encoding.get_piece_size())
        self.average = copy.deepcopy(self.model)
        self.optimizer = torch.optim.Adam(self.model.parameters(), betas=(0.9, 0.98), eps=1e-9, fused=True)
        self.epochs = self.steps = self.n_halved = 0
        self.curve: list[dict[str, float]] = []
        self.spent = 0.0
        if (directory / "checkpoint.pt").exists():
            self.resume()

    def read_pairs(self, paths: list[Path]) -> list[Pair]:
        sides = [self.encoding.encode(lines(path)) for path in paths]
        limit = self.settings.max_length
        return [pair for pair in zip(*sides) if all(0 < len(side) <= limit for side in pair)]

    @property
    def best(self) -> int:
        """The epoch with the best score (the first one of equal scores); -1 before the first epoch."""
        return max(range(len(self.curve)), key=lambda i: (self.curve[i]["score"], -i), default=-1)

    @property
    def behind(self) -> int:
        """The number of epochs since the best score, counted only after the least number of epochs."""
        return self.epochs - max(self.best + 1, self.settings.least_epochs)

    @property
    def is_done(self) -> bool:
        return self.behind >= self.settings.patience

    def epoch(self) -> None:
        """Train on all pairs once, score the development set, and write a checkpoint."""
        self.model.train()
        losses = [
            self.step(source, target)
            for source, target in batches(
                self.pairs, self.settings.batch_tokens, self.settings.seed * 100_000 + self.epochs
            )
        ]
        self.epochs += 1
        source, reference = (self.directory / f"dev.{side}" for side in ("source", "target"))
        found = self.translate(lines(source), 1)
        score = score_of(self.settings.score, found, lines(reference))
        self.curve.append(
            {"loss": sum(losses) / len(losses), "score": score, "rate": self.rate(), "seconds": round(self.seconds())}
        )
        if self.best == self.epochs - 1:
            replace(self.directory / "best.pt", self.average.state_dict())
        if self.behind > 0 and self.behind % self.settings.plateau == 0:
            self.n_halved += 1
        self.checkpoint()
        print(json.dumps({"epoch": self.epochs, **self.curve[-1]}), flush=True)

    def rate(self) -> float:
        """The learning rate of the next step."""
        return self.settings.learning_rate * 0.5**self.n_halved * min(1, (self.steps + 1) / self.settings.warmup)

    def step(self, source: torch.Tensor, target: torch.Tensor) -> float:
        """Train on one batch; return its mean loss per piece."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate()
        wanted = target[:, 1:]
        is_piece = wanted != PAD
        with torch.autocast("cpu", torch.bfloat16, enabled=HAS_16_BITS):
            states, _ = self.model.decode(target[:, :-1], self.model.encode(source, source == PAD))
            logits = self.model.logits(states[is_piece]).float()
        loss = F.cross_entropy(logits, wanted[is_piece], label_smoothing=self.settings.label_smoothing)
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.steps += 1
        decay = min(self.settings.decay, (1 + self.steps) / (10 + self.steps))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(self.model.parameters()), 1 - decay)
        return loss.item()

    def translate(self, texts: list[str], beam: int) -> list[str]:
        found = translated(
            self.average, [self.encoding.encode(text) + [3] for text in texts], beam, self.settings.length_power
        )
        return [self.encoding.decode(pieces) for pieces in found]

    def translate_test(self) -> None:
        """Translate the test set with the best checkpoint; write the cost of the whole run."""
        begun = self.seconds()
        self.average.load_state_dict(torch.load(self.directory / "best.pt"))
        found = self.translate(lines(self.directory / "test.source"), self.settings.beam)
        (self.directory / "neural.test").write_text("".join(f"{text}\n" for text in found), encoding="utf-8")
        numbers = {
            "epochs": self.epochs,
            "best epoch": self.best + 1,
            "parameters": sum(one.numel() for one in self.model.parameters()),
            "dev": self.curve[self.best]["score"],
            "processor seconds": round(begun),
            "seconds of the test set": round(self.seconds() - begun, 1),
            "peak MB": max(peak(), self.peak_before) // 2**20,
        }
        (self.directory / "neural.json").write_text(json.dumps(numbers, indent=1))

    peak_before = 0

    def seconds(self) -> float:
        """Processor seconds of this process and of the processes whose work it continues."""
        return self.spent + sum(os.times()[:4])

    def checkpoint(self) -> None:
        state: dict[str, Any] = {
            "model": self.model.state_dict(),
            "average": self.average.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "chance": torch.get_rng_state(),
            "counts": [self.epochs, self.steps, self.n_halved],
            "curve": self.curve,
            "spent": self.seconds(),
            "peak": max(peak(), self.peak_before),
        }
        replace(self.directory / "checkpoint.pt", state)

    def resume(self) -> None:
        state = torch.load(self.directory / "checkpoint.pt")
        self.model.load_state_dict(state["model"])
        self.average.load_state_dict(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["chance"])
        self.epochs, self.steps, self.n_halved = state["counts"]
        self.curve, self.spent, self.peak_before = state["curve"], state["spent"], state["peak"]


def score_of(name: str, found: list[str], reference: list[str]) -> float:
    """BLEU of tokenized text, or chrF++ of raw text."""
    if name == "BLEU":
        return sacrebleu.corpus_bleu(found, [reference], tokenize="none", force=True).score
    return sacrebleu.corpus_chrf(found, [reference], word_order=2).score


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def peak() -> int:
    """The peak memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def replace(path: Path, state: Any) -> None:
    """Write a file, atomically."""
    torch.save(state, path.with_suffix(".unfinished"))
    path.with_suffix(".unfinished").replace(path)


if __name__ == "__main__":
    main()
