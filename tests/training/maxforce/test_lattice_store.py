"""Gold lattices on disk: read back as they were written, and refused where they are damaged."""

import numpy as np
import pytest

from phrasebeam.base.array_struct import array_fields
from phrasebeam.base.errors import SmtError
from phrasebeam.decoder.forced.gold_lattice import GoldLattice
from phrasebeam.training.maxforce.lattice_store import LatticeStore, LatticeWriter


def lattice(seed):
    rng = np.random.default_rng(seed)
    arrays = {name: rng.integers(0, 9, 3 + seed).astype(f.dtype) for name, f in array_fields(GoldLattice).items()}
    return GoldLattice(**arrays, merges_ends=bool(seed))


@pytest.fixture
def directory(tmp_path):
    with LatticeWriter(tmp_path / "lattices") as writer:
        for seed in (0, 1):
            writer.add(5 + seed, lattice(seed))
        writer.finish({"reachable": 2})
    return tmp_path / "lattices"


def read(directory):
    store = LatticeStore(directory)
    return store.numbers, store.counts, [store.lattice(i) for i in range(len(store.numbers))]


def test_lattices_are_read_back(directory):
    numbers, counts, lattices = read(directory)
    assert numbers == [5, 6] and counts == {"reachable": 2}
    for seed, found in enumerate(lattices):
        for one, other in zip(found, lattice(seed), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["data", "index.npy"])
@pytest.mark.parametrize("place", [0, 200, -1])
def test_damaged_bytes_are_found(directory, name, place):
    data = bytearray((directory / name).read_bytes())
    data[place] ^= 1
    (directory / name).write_bytes(data)
    with pytest.raises(SmtError, match=r"not as it was written; delete .*, and it is made again"):
        read(directory)


@pytest.mark.parametrize("name", ["data", "index.npy", "store.yaml"])
def test_lost_ends_are_found(directory, name):
    path = directory / name
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(SmtError, match=name):
        read(directory)
