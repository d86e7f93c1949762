"""What the lanes of 32-bit words compute against what a CPU with AVX-512 answered (spec: 200 cases, 17 results)."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from pixelflow.simd.lanes.shape import Shape
from pixelflow.simd.lanes.wide.bytememory import ByteMemory
from pixelflow.simd.lanes.wide.numbers import Rounding
from pixelflow.simd.lanes.wide.words import WordsEngine
from tests.larrabee import golden

CASES, RESULTS = golden.load()
TABLE = 64 * 4
DACB = tuple(lane & ~3 | (1, 2, 0, 3)[lane & 3] for lane in range(16))


class Setting:
    """All cases side by side: each a group of 16 lanes with a memory of its own."""

    def __init__(self) -> None:
        shape = Shape(lanes=16 * len(CASES), group=16, rows=1, words=(), carries=(), masks=(), bits=32)
        self.memory = ByteMemory(TABLE, len(CASES))
        self.lanes = WordsEngine(shape, self.memory)
        self.old, self.a, self.b, self.index = (self.rows(name) for name in ("old", "a", "b", "index"))
        self.mask = self.lanes.spread(self.same("mask"))
        self.set_memory(CASES["table"])

    def rows(self, name: str) -> np.ndarray:
        return np.ascontiguousarray(CASES[name])

    def same(self, name: str) -> np.ndarray:
        return np.ascontiguousarray(CASES[name])

    def set_memory(self, words: np.ndarray) -> None:
        packed = np.ascontiguousarray(words).view(np.uint8)
        self.memory.data[:, : packed.shape[1]] = packed

    def words(self) -> np.ndarray:
        return self.memory.data.view(np.uint32)

    def steps_of(self, size: int) -> np.ndarray:
        return self.lanes.series([size * lane for lane in range(16)])

    def masks(self, *bits: np.ndarray) -> np.ndarray:
        return np.concatenate([self.lanes.collect(bit) for bit in bits], axis=1)


def masked_add(s):
    return s.lanes.select(s.mask, s.lanes.add(s.a, s.b, s.lanes.bit(False))[0], s.old)


def compress(s):
    s.set_memory(CASES["old"])
    s.lanes.put(s.lanes.rank(s.mask) * np.uint32(4), s.a, 4, s.mask)
    return s.words()[:, :16]


def expand(s):
    s.set_memory(CASES["a"])
    return s.lanes.select(s.mask, s.lanes.fetch(s.lanes.rank(s.mask) * np.uint32(4), 4, s.mask), s.old)


def compress_store(s):
    s.lanes.put((s.lanes.rank(s.mask) + s.same("start")) * np.uint32(4), s.a, 4, s.mask)
    return s.words()


def gather(s):
    return s.lanes.select(s.mask, s.lanes.fetch(s.index * np.uint32(4), 4, s.mask), s.old)


def scatter(s):
    s.lanes.put(s.index * np.uint32(4), s.a, 4, s.mask)
    return s.words()


def sint16(s):
    narrow = s.lanes.fetch(s.steps_of(2), 2)
    sixteen = s.lanes.word(16)
    return s.lanes.shift_down(s.lanes.shift_up(narrow, sixteen), sixteen, signed=True)


def float_compare(s):
    equal, less = s.lanes.float_equal(s.a, s.b), s.lanes.float_less(s.a, s.b)
    ordered = s.lanes.float_equal(s.a, s.a) & s.lanes.float_equal(s.b, s.b)
    return s.masks(equal, less, equal | less, ~ordered)


def int_compare(s):
    equal, less = s.lanes.equal(s.a, s.b), s.lanes.less(s.a, s.b, signed=True)
    return s.masks(equal, less, equal | less, ~s.lanes.equal(s.a & s.b, s.lanes.word(0)))


def zero_test(s):
    number = s.lanes.collect(s.mask | s.lanes.float_less(s.a, s.b))
    return np.concatenate([number == 0, number == 0xFFFF], axis=1)


COMPUTED = {
    "masked_add": masked_add,
    "multiply_low": lambda s: s.lanes.multiply(s.a, s.b, signed=True)[0],
    "float_add": lambda s: s.lanes.float_add(s.a, s.b),
    "fused": lambda s: s.lanes.float_fuse(s.a, s.b, s.old),
    "compress": compress,
    "expand": expand,
    "compress_store": compress_store,
    "gather": gather,
    "scatter": scatter,
    "dacb": lambda s: s.lanes.route(s.a, DACB),
    "float16": lambda s: s.lanes.half_to_float(s.lanes.fetch(s.steps_of(2), 2)),
    "uint8": lambda s: s.lanes.fetch(s.steps_of(1), 1),
    "sint16": sint16,
    "to_int": lambda s: s.lanes.to_integer(s.a, Rounding.NEAREST),
    "float_compare": float_compare,
    "int_compare": int_compare,
    "zero_test": zero_test,
}


def test_there_are_200_cases_of_17_results() -> None:
    assert len(CASES) == len(RESULTS) == 200
    assert tuple(COMPUTED) == golden.RESULT.names
    assert len(COMPUTED) == 17


@pytest.mark.parametrize("name", COMPUTED)
def test_every_case_gives_the_recorded_bits(name: str) -> None:
    computed = np.asarray(COMPUTED[name](Setting())).reshape(RESULTS[name].shape)
    wrong = np.flatnonzero((computed != RESULTS[name]).any(axis=1))
    assert wrong.tolist() == []


def test_the_cases_hold_what_is_easily_wrong() -> None:
    """Signalling halves, scatters that meet themselves, products and sums that a second rounding would change."""
    halves = CASES["table"].view(np.uint16)[:, :16]
    assert (((halves & 0x7E00) == 0x7C00) & ((halves & 0x1FF) != 0)).any(axis=1).sum() > 10
    taken = [row[mask >> np.arange(16) & 1 == 1] for row, mask in zip(CASES["index"], CASES["mask"], strict=True)]
    assert sum(len(np.unique(row)) < len(row) for row in taken) > 50
    a, b, old = (CASES[name].view(np.float32) for name in ("a", "b", "old"))
    with np.errstate(all="ignore"):
        twice = a * b + old
    fused = RESULTS["fused"].view(np.float32)
    assert ((twice != fused) & np.isfinite(fused) & np.isfinite(twice)).sum() > 500


def test_this_cpu_answers_the_same() -> None:
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    if "avx512f" not in flags or shutil.which("gcc") is None:
        pytest.skip("needs gcc and a CPU with AVX-512")
    try:
        again = golden.record(CASES)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"the recording program cannot be built or run here: {error}")
    for name in golden.RESULT.names:
        assert (again[name] == RESULTS[name]).all(), name
