"""The methods by name, and their settings. A method is a function of a problem and of its own section of settings."""

from collections.abc import Callable
from typing import Any, Literal

from phrasebeam.base.config import Section
from phrasebeam.training.tuning.methods.mert import Mert, mert
from phrasebeam.training.tuning.methods.mira_batch import MiraBatch, mira_batch
from phrasebeam.training.tuning.methods.mira_chiang import MiraChiang, mira_chiang
from phrasebeam.training.tuning.methods.mira_corpus import MiraCorpus, mira_corpus
from phrasebeam.training.tuning.methods.pro import Pro, pro
from phrasebeam.training.tuning.methods.problem import Optimum, Problem

Method = Literal["mert", "pro", "mira-chiang", "mira-batch", "mira-corpus"]
METHODS: dict[Method, Callable[[Problem, Any], Optimum]] = {
    "mert": mert,
    "pro": pro,
    "mira-chiang": mira_chiang,
    "mira-batch": mira_batch,
    "mira-corpus": mira_corpus,
}


class MethodSettings(Section):
    """A section for each method, named as the method, with _ for -."""

    mert: Mert = Mert()
    pro: Pro = Pro()
    mira_batch: MiraBatch = MiraBatch()
    mira_chiang: MiraChiang = MiraChiang()
    mira_corpus: MiraCorpus = MiraCorpus()

    def of(self, method: Method) -> Section:
        section: Section = getattr(self, method.replace("-", "_"))
        return section
