"""Results of the float routines, bit by bit: binary32 against numpy, longer mantissas against exact fractions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from microcode import Builder
from pixelflow.config import THESIS
from pixelflow.evidence import Check
from pixelflow.isa import MEMORY_BYTES, Imm, Register
from pixelflow.node import Node
from tessellation.microprogram.libraries import LIBRARIES, FloatLibrary, library_named
from tessellation.reproduction.bench import ThesisBench
from tessellation.reproduction.results.single import different, flushed

__all__ = ["single_operations", "wide_operations"]

_OPERATIONS: dict[str, tuple[int, Callable[..., np.ndarray]]] = {
    "fadd": (2, np.add),
    "fsub": (2, np.subtract),
    "fmul": (2, np.multiply),
    "fdiv": (2, np.divide),
    "fsqrt": (1, np.sqrt),
}
_LANES = THESIS.lanes
_WIDE = 2048
"""Pairs of longer numbers: fractions take the host long."""
_AWAKE = np.arange(_LANES) % 16 != 15
"""PEs that the caller of a routine leaves enabled; the others must keep all that they have, scratch included."""
_NUMPY = "numpy, binary32, nearest even"
_SMALLEST = 2.0**-126


def _operands(seed: int, *, finite: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs of binary32 numbers: any, of close exponents, with few bits, corners, and ties of products."""
    source = np.random.default_rng(seed)
    a, b = (source.integers(0, 1 << 32, _LANES, dtype=np.uint32) for _ in range(2))
    near = (a >> 23 & 255).astype(np.int64) + source.integers(-26, 27, _LANES)
    b = np.where(source.random(_LANES) < 0.4, b & 0x807FFFFF | np.clip(near, 1, 254).astype(np.uint32) << 23, b)
    for values in (a, b):
        values[:] = np.where(source.random(_LANES) < 0.2, values & 0xFFF80000, values)
        corners = np.array([0, 1 << 31, 0x3F800000, 0x3F7FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00000])
        values[:] = np.where(source.random(_LANES) < 0.05, source.choice(corners, _LANES), values)
    # A product of 12 and 13 bits, both odd, lies half way between two numbers of 24.
    ties = _LANES // 8
    for values, bits in ((a, 11), (b, 12)):
        odd = source.integers(1 << bits, 2 << bits, ties) | 1
        values[:ties] = odd.astype(np.float32).view(np.uint32)
    if finite:
        a, b = (np.where(values >> 23 & 255 == 255, values & 0xBFFFFFFF, values) for values in (a, b))
        b = np.where(b >> 23 & 255 == 0, np.uint32(0x3F800000), b)
    return a.view(np.float32), b.view(np.float32)


def _expected(operation: Callable[..., np.ndarray], *operands: np.ndarray) -> np.ndarray:
    """Return what the library's contract asks for: what is below 2^-126 before rounding is a zero of its sign."""
    used = [flushed(each) for each in operands]
    with np.errstate(all="ignore"):
        found = operation(*used)
        exact = operation(*(each.astype(np.float64) for each in used))
    return np.where(np.abs(exact) < _SMALLEST, np.copysign(np.float32(0), found), found)


def _run(floats: FloatLibrary, name: str, operands: list[np.ndarray], size: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Run a routine in the PEs of `_AWAKE` on columns of bytes, [byte, lane], low byte first.

    Returns the columns of the result, and for each lane whether anything in its memory has changed.
    """
    builder = Builder("operation")
    builder.include(floats.source, BYTES=size, SCRATCH=100)
    ranges = [builder.range(each, size + 1) for each in "dab"[: len(operands) + 1]]
    awake = builder.range("awake", 1)
    builder.emit("LD", Register.R, awake[0])
    builder.emit("CMP", Register.R, Imm(1))
    builder.emit("EC")
    builder.call(f"{name}{floats.ending}", *ranges)
    node = Node(THESIS)
    node.write_memory(awake.start, _AWAKE.astype(np.uint8)[None])
    for where, given in zip(ranges[1:], operands, strict=True):
        lanes = np.zeros((size + 1, _LANES), np.uint8)
        lanes[:, : given.shape[1]] = given
        node.write_memory(where.start, lanes)
    before = node.read_memory(0, MEMORY_BYTES)
    node.run(builder.build())
    changed = (node.read_memory(0, MEMORY_BYTES) != before).any(axis=0)
    return node.read_memory(ranges[0].start, size + 1), changed


def _wrong(found: np.ndarray, changed: np.ndarray, expected: np.ndarray) -> int:
    """Return how many numbers are others than expected, or how many disabled PEs have changed."""
    return different(_values(found)[_AWAKE], expected[_AWAKE]) + int(changed[~_AWAKE].sum())


def _columns(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values.view(np.uint8).reshape(_LANES, -1).T)


def _values(columns: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(columns.T).view("<f4").ravel()


def single_operations(bench: ThesisBench) -> list[Check]:
    """Table 1: every operation of every library on 8,192 pairs of operands, one in sixteen in a PE that is disabled."""
    checks = []
    for floats in LIBRARIES.values():
        for seed, (name, (count, operation)) in enumerate(_OPERATIONS.items(), start=1):
            operands = _operands(seed, finite=bool(floats.ending))[:count]
            bench.progress(f"results of {name}, library {floats.name}")
            found = _run(floats, name, [_columns(each) for each in operands])
            wrong = _wrong(*found, _expected(operation, *operands))
            checks.append(Check(f"{name}, library {floats.name}", wrong, 0, f"wrong of {_LANES:,}", _NUMPY))
        if not floats.ending:
            integers = np.random.default_rng(9).integers(-(1 << 31), 1 << 31, _LANES) >> np.arange(_LANES) % 32
            wrong = _wrong(*_run(floats, "i2f", [_columns(integers.astype("<i4"))]), integers.astype(np.float32))
            checks.append(Check(f"i2f, library {floats.name}", wrong, 0, f"wrong of {_LANES:,}", _NUMPY))
    return checks


def wide_operations(bench: ThesisBench) -> list[Check]:
    """Table 13: products, sums and differences of numbers between 0 and 1 with 4 to 6 bytes of mantissa."""
    checks, floats = [], library_named("plain")
    for size in (4, 5, 6):
        source = np.random.default_rng(size)
        below = [int(each) for each in source.integers(1, 1 << 62, 2 * _WIDE)]
        # As many bits as the mantissa has, in places from the first to some way below.
        numbers = [Fraction(value >> 62 - 8 * size + index % 9, 1 << 8 * size) for index, value in enumerate(below)]
        firsts, seconds = numbers[:_WIDE], numbers[_WIDE:]
        for what, name in (("products", "fmul"), ("sums", "fadd"), ("differences", "fadd")):
            pairs = [_pair(what, *pair) for pair in zip(firsts, seconds, strict=True)]
            operands = [_wide_columns([_bits(pair[index], size) for pair in pairs], size) for index in range(2)]
            bench.progress(f"results of {name}{size}")
            found, changed = _run(floats, f"{name}{size}", operands, size)
            expected = [a * b if what == "products" else a + b for a, b in pairs]
            right = _wide_columns([_bits(value, size) for value in expected], size)
            wrong = int(np.where(_AWAKE[:_WIDE], (found[:, :_WIDE] != right).any(axis=0), changed[:_WIDE]).sum())
            checks.append(Check(f"{what}, {size} bytes", wrong, 0, f"wrong of {_WIDE:,}", "exact fractions"))
    return checks


def _pair(what: str, a: Fraction, b: Fraction) -> tuple[Fraction, Fraction]:
    if what == "products":
        return a, b
    return (a / 2, b / 2) if what == "sums" else (max(a, b), -min(a, b))


def _bits(value: Fraction, size: int) -> int:
    """Return the pattern nearest to a fraction between -1 and 1, the even one of two; none here is below 2^-126."""
    if not value:
        return 0
    exponent, stored = 0, 8 * size - 1
    magnitude = abs(value)
    while magnitude < 1:
        magnitude, exponent = magnitude * 2, exponent - 1
    kept = round(magnitude * (1 << stored))
    return ((value < 0) << stored + 8) | ((exponent + 127 << stored) + kept - (1 << stored))


def _wide_columns(patterns: list[int], size: int) -> np.ndarray:
    wide = np.array(patterns, np.uint64)
    return np.ascontiguousarray(wide.view(np.uint8).reshape(-1, 8)[:, : size + 1].T)
