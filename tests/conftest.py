"""What all tests share: how hypothesis runs, and the KenLM package as oracle."""

import gc
import os
import signal

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

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # a shell's job in the background; commands would ignore it, too
    signal.signal(signal.SIGINT, signal.default_int_handler)

UNCOMPILED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
LONGEST = "test_the_page_and_then_the_notebook_run"  # at the end, one worker would wait for the other
SHARE, FEWEST = 10, 2  # of the examples, where kernels run as plain Python for their coverage


# No power fails while tests run: what they write need not be on the disk before they go on.
os.fsync = lambda descriptor: None


def pytest_collection_finish():
    """Do not search modules and tests for unused objects again and again, which takes a tenth of the time of tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 10)


def pytest_collection_modifyitems(items):
    """Fewer examples where each takes a hundred times as long; the compiled run has all. The longest test first."""
    items.sort(key=lambda item: item.name != LONGEST)
    for item in items if UNCOMPILED else ():
        test = getattr(item, "obj", None)
        # There is no public way to change what @settings says of a test.
        if given := getattr(test, "_hypothesis_internal_use_settings", None):
            fewer = min(given.max_examples, max(FEWEST, given.max_examples // SHARE))
            test._hypothesis_internal_use_settings = settings(given, max_examples=fewer)


@pytest.fixture(scope="session")
def kenlm():
    """A function that opens a file with the kenlm package, silently."""
    try:
        import kenlm
    except ImportError:
        if os.environ.get("CI"):
            pytest.fail("the kenlm package is missing, and CI must compare with it: pip install ufal.kenlm")
        pytest.skip("the kenlm package is missing: not compared with KenLM's own scores (pip install ufal.kenlm)")

    def open_model(path):
        config = kenlm.Config()
        config.show_progress = False
        config.arpa_complain = kenlm.ARPALoadComplain.NONE
        return kenlm.Model(str(path), config)

    open_model.State = kenlm.State
    return open_model
