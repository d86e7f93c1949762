"""Appendix B: points and normals of all PEs go to texture memory in 33,792, 16,896 and 9,216 cycles, and come back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import microcode
from pixelflow.config import THESIS, TINY, SdramConfig
from pixelflow.node import Node
from pixelflow.node.parts.texture.addresses import Physical
from pixelflow.node.parts.texture.state import TextureState

WAYS = {"explicit": 33_792, "base": 16_896, "alternate": 9_216}
FILL = {"explicit": 2 * 32, "base": 36, "alternate": 2 * 36}
"""Cycles in which the first round of each pass comes in, before the SDRAMs have anything to do."""

LANE = np.arange(THESIS.lanes)
MODULE, EMC, PANEL, PE = LANE // 2048, LANE // 256 % 8, LANE // 32 % 8, LANE % 32
X = 16 * EMC + 8 * (PANEL % 2) + PE // 4
Y = 16 * MODULE + 4 * (PANEL // 2) + PE % 4


def program(way: str, read_back: str):
    return microcode.assemble(f"""
include "texture/caching.mc"
CALL cache_{way}_emc
EMC_ClearMarks
{read_back}
EMC_SetEnab
SIGNAL GO
WAIT DONE
stream tigc
CALL cache_{way}_tasic
TAS_SetCounter 0
TAS_SetStep 0
WAIT GO
TAS_MemRdBlock4 1
SIGNAL DONE
""")


READ_BACK = {
    "near": "EMC_TreeNEZero_Li 0, 1, 0, 64, 0\nEMC_MarkRead\nEMC_TreeIntoMem_Li [352], 4, 64, 4, -4",
    # All PEs read; place 0 still has the base in its port, which is where place 1 has its word.
    # Place k of 0 2 4 6 (and 1 3 5 7) is bit 1 of y and twice bit 0 of x; its word is the k - 1st behind the base.
    "far": "EMC_MarkRead\n"
    + "\n".join(
        f"far_place {k}\n"
        f"EMC_TreeEQZero_Li 0, 1, 0, 128, 0\nEMC_TreeIntoMem_Li [352], 4, 128, 4, {offset}\n"
        f"far_place {k}\nEMC_TreeNEZero_Li 0, 1, 0, 128, 0\n"
        f"EMC_TreeIntoMem_Li [352], 4, 128, 4, {offset + (1 << 20) - 4}"
        # x and y of place k lie beyond those of place 0: by 1 in x for k & 2, by 2 in y for k & 1.
        for k, offset in ((1, 0 - 8), (2, 4 - 128), (3, 8 - 128 - 8))
    ),
}


def expected(points: np.ndarray, way: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return place of each PE in its group, the 32 bytes that it holds, and where they go."""
    far = way == "alternate"
    place = (PE >> 1 & 3) if far else PE & 3
    first = LANE - (2 * place if far else place)
    part = 8 * (place - 1)
    held = np.zeros((32, THESIS.lanes), np.uint8)
    held[:24] = points
    for byte in range(8):
        held[24 + byte] = points[np.maximum(part, 0) + byte, first]
    if far:
        address = (PE & 1) * (1 << 20) + 128 * X[first] + 4 * (Y[first] - (PE & 1)) + 4 * (place - 1)
    else:
        address = 64 * X[first] + 4 * Y[first] + 4 * (place - 1)
    return place, held, address


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_the_three_ways(way: str, check: bool) -> None:
    node = Node(replace(THESIS, sdram=SdramConfig(check_commands=check)))
    points = np.random.default_rng(11).integers(0, 256, (24, node.lanes), np.uint8)
    node.write_memory(0, points)
    run = node.run(program(way, READ_BACK["far" if way == "alternate" else "near"]))
    rounds = 256 if way == "alternate" else 192
    assert run.tasic_cycles == (WAYS[way] + rounds * (8 * 12 + 32),) * 4

    place, held, address = expected(points, way)
    there = place > 0
    assert np.array_equal(node.read_memory(320, 32)[:, there], held[:, there])
    if way == "alternate":
        assert np.array_equal(node.read_memory(320, 32)[:, ~there], held[:, LANE[~there] + 2])
    else:
        assert not node.read_memory(320, 32)[:, ~there].any()
    for module, memory in enumerate(node.texture_memory):
        mine = there & (module == MODULE)
        line, column = divmod(address[mine][:, None], 512)
        where = Physical(np.arange(8)[None, :], line // 2048, line % 2048, column)
        assert np.array_equal(memory.read(where).reshape(-1, 32), held[:, mine].T)
        assert len(np.unique(address[mine])) == mine.sum() == 1536


def test_the_fill_is_seen_beside_it() -> None:
    """The texture stream is stalled by a transfer for its fill, its accesses, and 3 cycles on wires a pass."""
    for way, cycles in WAYS.items():
        node = Node(THESIS)
        text = f'include "texture/caching.mc"\nCALL cache_{way}_emc\nstream tigc\nCALL cache_{way}_tasic\n'
        run = node.run(microcode.assemble(text))
        passes = 1 if way == "base" else 2
        assert run.tasic_cycles == (cycles,) * 4
        assert run.beside.waits["transfer"] == cycles + FILL[way] + 3 * passes


def test_states_that_differ_in_the_data_corner_turners_alone() -> None:
    one, other = TextureState.of(TINY), TextureState.of(TINY)
    assert one.is_as(other) and one.is_as(other, dct=False)
    other.dct = np.zeros((TINY.array.emcs, 8, 4), np.uint8)
    assert not one.is_as(other) and not other.is_as(one) and one.is_as(other, dct=False)
    one.dct = other.dct + 1
    assert not one.is_as(other) and one.is_as(other, dct=False)
    one.dct = other.dct.copy()
    assert one.is_as(other)
