"""Appendix B: points and normals of all PEs go to texture memory in 33,792, 16,896 and 9,216 cycles, and come back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import microcode
from pixelflow.config import THESIS, TINY, SdramConfig
from pixelflow.node import Node
from pixelflow.node.texture_addresses import Physical
from pixelflow.node.texture_unit import TextureState

WAYS = {"explicit": 33_792, "base": 16_896, "alternate": 9_216, "split": 9_216}
FAR = ("alternate", "split")
FILL = {"explicit": 2 * 32, "base": 36, "alternate": 2 * 36, "split": 4 * 36}
"""Cycles in which the first round of each pass comes in, before the SDRAMs have anything to do."""

SINGLE = 2_096
"""Where the third words begin in the fourth way: 64 columns of 32 cells, and 48 by which the modules differ."""

LANE = np.arange(THESIS.lanes)
MODULE, EMC, PANEL, PE = LANE // 2048, LANE // 256 % 8, LANE // 32 % 8, LANE % 32
X = 16 * EMC + 8 * (PANEL % 2) + PE // 4
Y = 16 * MODULE + 4 * (PANEL // 2) + PE % 4


def program(way: str):
    """Keep, forget the ports, and read for every PE that wrote the word that it should have written."""
    return microcode.assemble(f"""
include "texture/caching.mc" with SINGLE = {SINGLE}
CALL cache_{way}_emc
EMC_ClearMarks
{READ_BACK["far" if way in FAR else "near"](way)}
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


def far_reads(way: str) -> str:
    """All PEs read; place 0 has in its port where place 1 has its word."""
    # Place k of 0 2 4 6 (and 1 3 5 7) is bit 1 of y and twice bit 0 of x, which lie beyond those of place 0.
    x, y = (32, 4) if way == "alternate" else (16, 2)
    places = [(x, y, 0), (x, y, -2 * y), (x, y, 4 - x), (x, y, 8 - x - 2 * y)]
    if way == "split":
        places[3] = (8, 1, SINGLE - 8 - 2)
    lines = ["EMC_SetEnab", "EMC_MarkRead"]
    for k, (x, y, first) in enumerate(places):
        lines += [
            f"far_place {k}",
            f"EMC_TreeEQZero_Li 0, 1, 0, 128, 0\nEMC_TreeIntoMem_Li [352], 4, {x}, {y}, {first}",
            f"far_place {k}",
            f"EMC_TreeNEZero_Li 0, 1, 0, 128, 0\nEMC_TreeIntoMem_Li [352], 4, {x}, {y}, {first + (1 << 20) - y}",
        ]
    return "\n".join(lines)


READ_BACK = {
    "near": lambda _: "EMC_TreeNEZero_Li 0, 1, 0, 64, 0\nEMC_MarkRead\nEMC_TreeIntoMem_Li [352], 4, 64, 4, -4",
    "far": far_reads,
}


def expected(points: np.ndarray, way: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return place of each PE in its group, the 32 bytes that it holds, and where they go."""
    far = way in FAR
    place = (PE >> 1 & 3) if far else PE & 3
    first = LANE - (2 * place if far else place)
    part = 8 * (place - 1)
    held = np.zeros((32, THESIS.lanes), np.uint8)
    held[:24] = points
    for byte in range(8):
        held[24 + byte] = points[np.maximum(part, 0) + byte, first]
    column, panels = X[first] // 2, 4 * MODULE + PANEL // 2
    if way == "alternate":
        address = (PE & 1) * (1 << 20) + 64 * column + 16 * panels + 4 * (place - 1)
    elif way == "split":
        pair = 32 * column + 8 * panels + 4 * (place - 1)
        address = (PE & 1) * (1 << 20) + np.where(place < 3, pair, SINGLE + 16 * column + 4 * panels)
    else:
        address = 64 * X[first] + 4 * Y[first] + 4 * (place - 1)
    return place, held, address


@pytest.mark.parametrize("check", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("way", WAYS)
def test_the_three_ways(way: str, check: bool) -> None:
    node = Node(replace(THESIS, sdram=SdramConfig(check_commands=check)))
    points = np.random.default_rng(11).integers(0, 256, (24, node.lanes), np.uint8)
    node.write_memory(0, points)
    run = node.run(program(way))
    rounds = 256 if way in FAR else 192
    assert run.tasic_cycles == (WAYS[way] + rounds * (8 * 12 + 32),) * 4

    place, held, address = expected(points, way)
    there = place > 0
    assert np.array_equal(node.read_memory(320, 32)[:, there], held[:, there])
    if way in FAR:
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
        passes = {"base": 1, "split": 4}.get(way, 2)
        assert run.tasic_cycles == (cycles,) * 4
        assert run.beside.waits["transfer"] == cycles + FILL[way] + 3 * passes


def lying(memory, bank: int, cells: int) -> np.ndarray:
    """Return which of the first cells of a bank hold something else than 0: bool[cells / 4]."""
    line, column = divmod(4 * np.arange(cells // 4)[:, None], 512)
    return memory.read(Physical(np.arange(8)[None, :], bank, line, column)).any(axis=(1, 2))


@pytest.mark.parametrize(("way", "modules"), [("alternate", 64), ("split", 32)])
def test_the_split_of_four_and_two_words_leaves_no_gap(way: str, modules: int) -> None:
    """Six words of 8 PEs, three in each bank: on a boundary of eight two are wasted, 25 %; split into 4 + 2 none."""
    node = Node(THESIS)
    node.write_memory(0, np.full((24, node.lanes), 0xA5, np.uint8))
    keep = f"CALL cache_{way}_emc\nstream tigc\nCALL cache_{way}_tasic\n"
    node.run(microcode.assemble(f'include "texture/caching.mc" with SINGLE = {SINGLE}\n{keep}'))
    for module, memory in enumerate(node.texture_memory):
        for bank in (0, 1):
            there = np.flatnonzero(lying(memory, bank, 8192))
            assert len(there) == 2048 * 24 // 32 // 2
            start = module * modules // 4
            if way == "alternate":
                assert there[0] == start and there[-1] == start + 1023 - 1  # the last word of four stays empty
                assert np.all(there % 4 < 3)
            else:
                pairs, singles = start + np.arange(512), SINGLE // 4 + start // 2 + np.arange(256)
                assert np.array_equal(there, np.concatenate([pairs, singles]))


def test_states_that_differ_in_the_data_corner_turners_alone() -> None:
    one, other = TextureState.of(TINY), TextureState.of(TINY)
    assert one.is_as(other) and one.is_as(other, dct=False)
    other.dct = np.zeros((TINY.array.emcs, 8, 4), np.uint8)
    assert not one.is_as(other) and not other.is_as(one) and one.is_as(other, dct=False)
    one.dct = other.dct + 1
    assert not one.is_as(other) and one.is_as(other, dct=False)
    one.dct = other.dct.copy()
    assert one.is_as(other)
