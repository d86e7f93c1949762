"""Does every instruction do to the PEs what its manual entry says, on every engine, in the declared cycles?"""

from __future__ import annotations

import numpy as np
import pytest

import microcode
from pixelflow.config import TINY
from pixelflow.isa import INSTRUCTIONS
from pixelflow.node import Node
from pixelflow.simd.errors import InputError
from pixelflow.simd.lanes import available
from tests.instructions import texture_rows
from tests.instructions.rows import ROWS

_WORDS = ("R", "S", "M")


def _lanes(value: object, lanes: int) -> np.ndarray:
    pair = value if isinstance(value, tuple) else (value, value)
    return np.tile(np.array(pair, np.uint8), lanes // 2)


def _set(node: Node, state: dict) -> None:
    for key, value in state.items():
        values = _lanes(value, node.lanes)
        if isinstance(key, int):
            node.write_memory(key, values[None, :])
        elif key in _WORDS:
            node.set_register(key, values)
        else:
            node.set_flag(key, values.astype(bool))


@pytest.fixture(scope="module", params=available())
def node(request: pytest.FixtureRequest) -> Node:
    return Node(TINY, engine=request.param)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.text!r} {row.before}")
def test_row(node: Node, row) -> None:
    node.reset()
    if "L" in row.before and "E" not in row.before:
        row = row._replace(before=row.before | {"E": row.before["L"]})
    _set(node, row.before)
    expected = node.array.engine.snapshot()
    run = node.run(microcode.assemble(row.text + "\n"))
    for key, value in row.after.items():
        values = _lanes(value, node.lanes)
        if isinstance(key, int):
            expected["rows"][key] = values
        else:
            expected[key][:] = values
    found = node.array.engine.snapshot()
    differing = {name for name in expected if not np.array_equal(expected[name], found[name])}
    assert not differing, {name: (expected[name], found[name]) for name in differing}
    assert run.cycles == row.cycles


def test_every_instruction_has_rows() -> None:
    written = {line.split()[0].rstrip(":") for row in ROWS for line in row.text.splitlines()}
    written |= {"START", "RET"}  # what `routine` and `proc` write
    written |= {line.split()[0] for row in texture_rows.ROWS for line in row.text.splitlines()}
    missing = set(INSTRUCTIONS) - {word.removesuffix(".E") for word in written} - {"EMC_SetLEE"}
    assert not missing, f"no hand-worked row for {sorted(missing)}"


def test_every_gated_form_has_a_row_with_disabled_pes() -> None:
    gated = {d.mnemonic for d in INSTRUCTIONS.values() if d.gateable}
    tried = {row.text.split()[0].removesuffix(".E") for row in ROWS if ".E" in row.text and row.before.get("E")}
    assert tried == gated


def test_coordinates_in_the_thesis_arrangement(node: Node) -> None:
    """x = 16 emc + 8 (panel mod 2) + pe / 4, y = 16 module + 4 (panel / 2) + pe mod 4."""
    node.reset()
    node.run(microcode.assemble("EMC_TreeIntoMem_Li [0], 1, 1, 0, 0\nEMC_TreeIntoMem_Li [1], 1, 0, 1, 0\n"))
    x, y = node.memory[:2]
    lane = np.arange(node.lanes)
    panel, pe = lane // 32 % 8, lane % 32
    assert np.array_equal(x, 8 * (panel % 2) + pe // 4)
    assert np.array_equal(y, 4 * (panel // 2) + pe % 4)


@pytest.mark.parametrize("engine", available())
def test_set_lee_moves_the_pes_of_one_emc(engine: str) -> None:
    """ys[1] = 9 moves PEs 1, 9, 17 and 25 of every panel from y0 + 1 to y0 + 9; ye = 1 doubles yp, not ys."""
    node = Node(TINY, engine=engine)
    run = node.run(
        microcode.assemble("EMC_SetLEE 0, 0, 5, 1, 9\nEMC_SetLEE 0, 0, 1, 0, 1\nEMC_TreeIntoMem_Li [0], 1, 0, 1, 0\n")
    )
    lane = np.arange(node.lanes)
    panel, pe = lane // 32 % 8, lane % 32
    ys = np.where(pe % 8 == 1, 9, pe % 4)
    assert np.array_equal(node.memory[0], 2 * (4 * (panel // 2)) + ys)
    assert run.cycles == 1 + 1 + 2


@pytest.mark.parametrize("distance", range(1, 32))
def test_pixel_copies_reach_every_pe_of_a_panel(distance: int, node: Node) -> None:
    """The 32 PEs of a panel "can send or swap data N PEs away" (2.2.8): each takes part, in pairs N apart.

    PEs N apart form chains, p, p + N, p + 2 N ..; they split into pairs where every chain has an even length, which
    is for five distances of thirty-one.
    """
    paired = all(len(range(first, 32, distance)) % 2 == 0 for first in range(distance))
    assert paired == (distance in (1, 2, 4, 8, 16))
    if not paired:
        with pytest.raises(InputError, match="one of 1, 2, 4, 8, 16"):
            microcode.assemble(f"EMC_PixSwap [1], [0], 1, {distance}")
        return
    lane = np.arange(node.lanes)
    panel, pe = lane // 32 * 32, lane % 32
    node.set_flag("E", np.ones(node.lanes, bool))
    node.write_memory(0, (pe + 100).astype(np.uint8)[None])
    node.run(microcode.assemble(f"EMC_PixSwap [1], [0], 1, {distance}\nEMC_PixCopy [2], [0], 1, {distance}"))
    partner = np.where(pe // distance % 2, pe - distance, pe + distance)
    assert np.array_equal(np.sort(partner + panel), lane) and np.array_equal(node.memory[1], partner + 100)
    taken = pe // distance % 2 == 1
    assert np.array_equal(node.memory[2][taken], pe[taken] - distance + 100)
