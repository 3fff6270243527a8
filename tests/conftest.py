"""What all tests share: how hypothesis runs, and the KenLM package as oracle."""

import os

import pytest
from hypothesis import HealthCheck, settings

# No deadline: the first example of a kernel compiles it. In CI the same examples every time; elsewhere new ones.
settings.register_profile(
    "phrasebeam",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)
settings.load_profile("phrasebeam")


@pytest.fixture(scope="session")
def kenlm():
    """A function that opens a file with the kenlm package, silently."""
    try:
        import kenlm
    except ImportError:
        if os.environ.get("CI"):
            pytest.fail("the kenlm package is missing, and CI must compare with it: pip install kenlm")
        pytest.skip("the kenlm package is missing: not compared with KenLM's own scores (pip install kenlm)")

    def open_model(path):
        config = kenlm.Config()
        config.show_progress = False
        config.arpa_complain = kenlm.ARPALoadComplain.NONE
        return kenlm.Model(str(path), config)

    open_model.State = kenlm.State
    return open_model
