"""Do the generic EMC instructions give what integers give, whatever the registers held, and leave all else alone?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from microcode import assemble
from pixelflow.config import TINY
from pixelflow.node import Node

SEED = 1995
K = 0x53
"""The immediate byte of every call."""
PLACES = {"d": 0, "e": 32, "a": 64, "b": 96}
SIZES = (1, 2, 3, 4, 5, 8)

Values = tuple[int, int, int]
"""d, a and b before; of b instructions that take a byte see the lowest."""

RESULTS: dict[str, Callable[[int, Values], int]] = {
    "imove{}": lambda bits, v: v[1],
    "ifill{}": lambda bits, v: int.from_bytes(bytes([K] * (bits // 8))),
    "iadd{}": lambda bits, v: v[1] + v[2],
    "isub{}": lambda bits, v: v[1] - v[2],
    "ineg{}": lambda bits, v: -v[1],
    "iabs{}": lambda bits, v: -v[1] if v[1] >> (bits - 1) else v[1],
    "iadd{}_byte": lambda bits, v: v[1] + (v[2] & 255),
    "iadd{}_by": lambda bits, v: v[1] + K,
    "isub{}_byte": lambda bits, v: v[1] - (v[2] & 255),
    "isub{}_by": lambda bits, v: v[1] - K,
    "imul{}_byte": lambda bits, v: v[1] * (v[2] & 255),
    "imac{}_byte": lambda bits, v: v[0] + v[1] * (v[2] & 255),
    "ior8": lambda bits, v: v[1] | v[2],
    "ixor8": lambda bits, v: v[1] ^ v[2],
    "iand8": lambda bits, v: v[1] & v[2],
    "ior8_by": lambda bits, v: v[1] | K,
    "ixor8_by": lambda bits, v: v[1] ^ K,
    "iand8_by": lambda bits, v: v[1] & K,
}
"""Values of d afterwards, before they are cut to its size."""

TESTS: dict[str, Callable[[int, int], bool]] = {
    "ikeep{}_below": lambda a, b: a < b,
    "ikeep{}_from": lambda a, b: a >= b,
    "ikeep{}_below_by": lambda a, b: a < K,
    "ikeep{}_from_by": lambda a, b: a >= K,
    "ikeep{}_zero": lambda a, b: a == 0,
    "ikeep{}_some": lambda a, b: a != 0,
    "ikeep8_bits": lambda a, b: bool(a & K),
    "ikeep8_no_bits": lambda a, b: not a & K,
}
"""Where a PE stays enabled."""


def _include(n: int) -> str:
    return "".join(f'include "integer/{file}.mc" with BYTES = {n}\n' for file in ("sums", "generic"))


def _cases() -> list[tuple[str, int]]:
    return [(stem, n) for stem in (*RESULTS, *TESTS) for n in SIZES if "{}" in stem or n == 1]


def _call(name: str, n: int) -> tuple[Node, list[Values], NDArray[np.bool_], NDArray[np.uint8]]:
    """Call an instruction on random bytes, registers and enables; return the node and what was before."""
    generator = np.random.default_rng(SEED + n)
    node = Node(TINY)
    before = generator.integers(0, 256, (384, TINY.lanes), dtype=np.uint8)
    for place in PLACES.values():
        zero = generator.random(TINY.lanes) < 0.1
        before[place : place + n, zero] = 0
        small = generator.random(TINY.lanes) < 0.3
        before[place + 1 : place + n, small] = 0
        before[place, generator.random(TINY.lanes) < 0.1] = K
    same = generator.random(TINY.lanes) < 0.1
    before[PLACES["b"] : PLACES["b"] + n, same] = before[PLACES["a"] : PLACES["a"] + n, same]
    enabled = generator.random(TINY.lanes) < 0.7
    node.write_memory(0, before)
    node.set_flag("E", enabled)
    node.set_flag("C", generator.random(TINY.lanes) < 0.5)
    parameters = assemble(_include(n)).routine(name).parameters
    operands = [f"#{K}" if each == "k" else f"[{PLACES[each]}]" for each in parameters]
    node.run(assemble(f"{_include(n)}CALL {name}, {', '.join(operands)}\n"))
    values = [
        tuple(int.from_bytes(before[PLACES[place] : PLACES[place] + n, lane].tobytes(), "little") for place in "dab")
        for lane in range(TINY.lanes)
    ]
    return node, values, enabled, before


def test_every_instruction_is_asked_after() -> None:
    named = {routine.name for n in SIZES for routine in assemble(_include(n)).routines}
    assert named == {stem.format(8 * n) for stem, n in _cases()} | {f"iswap{8 * n}" for n in SIZES}


@pytest.mark.parametrize(("stem", "n"), _cases())
def test_results_and_enables(stem: str, n: int) -> None:
    node, values, enabled, before = _call(stem.format(8 * n), n)
    expected, kept = before.copy(), enabled
    if stem in RESULTS:
        size = n + 1 if stem.startswith(("imul", "imac")) else n
        for lane in np.flatnonzero(enabled):
            found = RESULTS[stem](8 * n, values[lane]) & ((1 << 8 * size) - 1)
            expected[:size, lane] = list(found.to_bytes(size, "little"))
    else:
        kept = enabled & np.array([TESTS[stem](a, b) for _, a, b in values])
    assert (node.memory == expected).all(), f"seed {SEED}"
    assert (node.flag("E") == kept).all() and node.flag("L").all(), f"seed {SEED}"


@pytest.mark.parametrize("n", SIZES)
def test_two_places_change_their_bytes(n: int) -> None:
    node, _, enabled, before = _call(f"iswap{8 * n}", n)
    expected = before.copy()
    for one, other in (("d", "e"), ("e", "d")):
        rows = slice(PLACES[one], PLACES[one] + n), slice(PLACES[other], PLACES[other] + n)
        expected[rows[0]] = np.where(enabled, before[rows[1]], before[rows[0]])
    assert (node.memory == expected).all(), f"seed {SEED}"
