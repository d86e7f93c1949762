"""GP memory: bytes that stay where they were put, in space that is taken when it is needed."""

import numpy as np
import pytest

from pixelflow.node import GpMemory
from pixelflow.node.texture_memory import GP_MEMORY_BYTES
from pixelflow.simd.errors import InputError, MachineFault


def test_bytes_stay() -> None:
    memory = GpMemory()
    assert memory.read(10, 3).tolist() == [0, 0, 0]
    memory.write(1_000_000, np.arange(5, dtype=np.uint8))
    memory.write(2, np.full(3, 9, np.uint8))
    assert memory.used == 1_000_005
    assert memory.read(999_998, 9).tolist() == [0, 0, 0, 1, 2, 3, 4, 0, 0]
    assert memory.read(0, 6).tolist() == [0, 0, 9, 9, 9, 0]
    other = GpMemory()
    other.restore(memory.snapshot())
    assert np.array_equal(other.snapshot(), memory.snapshot())


def test_what_it_refuses() -> None:
    memory = GpMemory()
    with pytest.raises(InputError, match=r"a row of bytes, found int64\[2\]"):
        memory.write(0, np.array([1, 2]))
    for start, size in ((-1, 4), (GP_MEMORY_BYTES - 3, 4)):
        with pytest.raises(MachineFault, match="are outside 0"):
            memory.read(start, size)
    memory.read(GP_MEMORY_BYTES - 4, 4)
