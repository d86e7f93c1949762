"""What lanes of 32-bit words and instructions compute against what a CPU with AVX-512 answered (17 results)."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from larrabee_bridge.vpu.program import assemble_vector
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.lanes import choose
from pixelflow.simd.lanes.engine import Shape
from pixelflow.simd.lanes.numbers import Rounding
from pixelflow.simd.lanes.words import ByteMemory, WordsEngine
from tests.lanes.native_meanings import carry_out
from tests.larrabee import golden

CASES, RESULTS = golden.load()
TABLE = 64 * 4
DACB = tuple(lane & ~3 | (1, 2, 0, 3)[lane & 3] for lane in range(16))


SHAPE = Shape(16 * len(CASES), 16, rows=5, words=("start", "next", *"pqrs"), carries=(), masks=("mask",), bits=32)
ENGINES = [
    "rows",
    pytest.param("compiled", marks=pytest.mark.skipif(choose("compiled").note is not None, reason="needs llvmlite")),
]


class Values:
    """What a case gives, over any algebra with numbers."""

    def __init__(self, lanes) -> None:
        self.lanes = lanes
        self.old, self.a, self.b, self.index = (lanes.load(row) for row in range(4))
        self.mask, self.start = lanes.flag("mask"), lanes.read("start")

    def plus(self, a, b):
        return self.lanes.add(a, b, self.lanes.bit(False))[0]

    def times_four(self, word):
        return self.lanes.shift_up(word, self.lanes.word(2))

    def steps_of(self, size: int):
        return self.lanes.series([size * lane for lane in range(16)])

    def keep(self, *bits) -> None:
        """Keep masks as numbers."""
        for name, bit in zip("pqrs", bits, strict=False):
            self.lanes.write(name, self.lanes.collect(bit))


def masked_add(s):
    return s.lanes.select(s.mask, s.plus(s.a, s.b), s.old)


def compress(s):
    s.lanes.put(s.times_four(s.lanes.rank(s.mask)), s.a, 4, s.mask)


def expand(s):
    return s.lanes.select(s.mask, s.lanes.fetch(s.times_four(s.lanes.rank(s.mask)), 4, s.mask), s.old)


def compress_store(s):
    s.lanes.put(s.times_four(s.plus(s.lanes.rank(s.mask), s.start)), s.a, 4, s.mask)


def gather(s):
    return s.lanes.select(s.mask, s.lanes.fetch(s.times_four(s.index), 4, s.mask), s.old)


def scatter(s):
    s.lanes.put(s.times_four(s.index), s.a, 4, s.mask)


def sint16(s):
    narrow = s.lanes.fetch(s.steps_of(2), 2)
    sixteen = s.lanes.word(16)
    return s.lanes.shift_down(s.lanes.shift_up(narrow, sixteen), sixteen, signed=True)


def float_compare(s):
    equal, less = s.lanes.float_equal(s.a, s.b), s.lanes.float_less(s.a, s.b)
    ordered = s.lanes.both(s.lanes.float_equal(s.a, s.a), s.lanes.float_equal(s.b, s.b))
    s.keep(equal, less, s.lanes.either(equal, less), s.lanes.complement(ordered))


def int_compare(s):
    equal, less = s.lanes.equal(s.a, s.b), s.lanes.less(s.a, s.b, signed=True)
    test = s.lanes.equal(s.lanes.both(s.a, s.b), s.lanes.word(0))
    s.keep(equal, less, s.lanes.either(equal, less), s.lanes.complement(test))


def zero_test(s):
    number = s.lanes.collect(s.lanes.either(s.mask, s.lanes.float_less(s.a, s.b)))
    for name, value in (("p", 0), ("q", 0xFFFF)):
        yes = s.lanes.equal(number, s.lanes.word(value))
        s.lanes.write(name, s.lanes.select(yes, s.lanes.word(1), s.lanes.word(0)))


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
MEMORY = {"compress": "old", "expand": "a"}
"""What stands in memory, where that is not the table."""


def computed(name: str, engine: str) -> np.ndarray:
    """Return what an operation gives in all cases: each is a group of 16 lanes with a memory of its own."""
    lanes = WordsEngine(SHAPE, ByteMemory(TABLE, len(CASES)))
    lanes.set_rows(0, np.stack([CASES[each].reshape(-1) for each in ("old", "a", "b", "index")]))
    lanes.set_bit("mask", (CASES["mask"].reshape(-1, 1) >> np.arange(16) & 1 != 0).reshape(-1))
    lanes.set_group_word("start", CASES["start"].reshape(-1))
    packed = np.ascontiguousarray(CASES[MEMORY.get(name, "table")]).view(np.uint8)
    lanes.memory.data[:, : packed.shape[1]] = packed

    def meaning(algebra) -> None:
        result = COMPUTED[name](Values(algebra))
        if result is not None:
            algebra.store(4, result)

    carry_out(lanes, meaning, engine)
    if name in ("compress", "compress_store", "scatter"):
        words = lanes.memory.data.view(np.uint32)
        return words[:, :16] if name == "compress" else words
    if RESULTS[name].shape[1:] != (16,):
        return np.stack([lanes.group_word(each) for each in "pqrs"[: RESULTS[name].shape[1]]], axis=1)
    return lanes.get_rows(4, 1).reshape(-1, 16)


def test_there_are_200_cases_of_17_results() -> None:
    assert len(CASES) == len(RESULTS) == 200
    assert tuple(COMPUTED) == golden.RESULT.names
    assert len(COMPUTED) == 17


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", COMPUTED)
def test_every_case_gives_the_recorded_bits(name: str, engine: str) -> None:
    found = computed(name, engine).reshape(RESULTS[name].shape)
    wrong = np.flatnonzero((found != RESULTS[name]).any(axis=1))
    assert wrong.tolist() == []


MASKS = "".join(f"kmovkr r{2 + at}, k{2 + at}\n" for at in range(4))
INSTRUCTIONS = {
    "masked_add": "vaddpi v0{k1}, v1, v2",
    "multiply_low": "vmullpi v0, v1, v2",
    "float_add": "vaddps v0, v1, v2",
    "fused": "vmadd231ps v0, v1, v2",
    "compress": "vcompressd [r0]{k1}, v1",
    "expand": "vexpandd v0{k1}, [r0]",
    "compress_store": "vcompressd [r1]{k1}, v1",
    "gather": "vgatherd v0{k1}, v3, [r0]",
    "scatter": "vscatterd [r0]{k1}, v3, v1",
    "dacb": "vloadpi v0, v1{dacb}",
    "float16": "vloadps v0, [r0]{float16}",
    "uint8": "vloadpi v0, [r0]{uint8}",
    "sint16": "vloadpi v0, [r0]{sint16}",
    "to_int": "vcvtps2pi v0, v1, 0",
    "float_compare": "vcmpeqps k2, v1, v2\nvcmpltps k3, v1, v2\nvcmpleps k4, v1, v2\nvcmpunordps k5, v1, v2\n" + MASKS,
    "int_compare": "vcmpeqpi k2, v1, v2\nvcmpltpi k3, v1, v2\nvcmplepi k4, v1, v2\nvtestpi k5, v1, v2\n" + MASKS,
    "zero_test": """vcmpltps k2, v1, v2
        mov r2, 1
        mov r3, 1
        kortest k1, k2
        jz ones
        mov r2, 0
        ones: jc all
        mov r3, 0
        all:""",
}
"""Of each result the instructions that give it: v0 to v3 are old, a, b and four times the indices, k1 the mask."""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_instructions_give_the_recorded_bits(name: str, engine: str) -> None:
    """A thread for each case, with a table of its own: at r0, and r1 words later."""
    program = assemble_vector(INSTRUCTIONS[name] + "\nhalt\n")
    first = 1 << 16
    memory = ByteMemory(first + TABLE * len(CASES))
    held = memory.data[0, first:].view(np.uint32).reshape(len(CASES), -1)
    given = CASES[MEMORY.get(name, "table")]
    held[:, : given.shape[1]] = given
    unit = VectorUnit(program, len(CASES), memory, engine)
    for number, values in enumerate((CASES["old"], CASES["a"], CASES["b"], 4 * CASES["index"])):
        unit.set_vector(number, values)
    unit.set_mask(1, CASES["mask"].reshape(-1))
    base = first + TABLE * np.arange(len(CASES))
    unit.set_scalar(0, base)
    unit.set_scalar(1, base + 4 * CASES["start"].reshape(-1))
    unit.run()
    if name in ("compress", "compress_store", "scatter"):
        found = held[:, : RESULTS[name].shape[1]]
    elif RESULTS[name].shape[1:] == (16,):
        found = unit.vector(0)
    else:
        found = np.stack([unit.scalar(2 + each) for each in range(RESULTS[name].shape[1])], axis=1)
    wrong = np.flatnonzero((found != RESULTS[name]).any(axis=1))
    assert wrong.tolist() == [] and tuple(INSTRUCTIONS) == golden.RESULT.names


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
