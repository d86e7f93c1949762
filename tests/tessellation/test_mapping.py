"""Does every sample get one PE, inside one EMC, where the LEE can reach it?"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microcode import Builder
from pixelflow.config import THESIS, TINY, ArrayConfig
from pixelflow.node import LinearExpressionEvaluator, Node, figure9
from pixelflow.simd.errors import InputError
from tessellation.microprogram.stage_code import emit_lee
from tessellation.plan.mapping import Placement, allocate, load_order

ARRAY = THESIS.array
X, Y = LinearExpressionEvaluator(THESIS).coordinates()


def check_pass(work, array, x, y):
    owner = np.full(array.lanes, -1)
    for placement in work.placements:
        owner[(x >= placement.x) & (y >= placement.y)] = placement.patch
    taken = np.zeros(array.lanes, dtype=int)
    for placement in work.placements:
        lanes = placement.lanes(array)
        k = placement.samples
        assert (x[lanes] == placement.x + np.arange(k)[:, None]).all(), "u and i run along x"
        assert (y[lanes] == placement.y + np.arange(k)[None, :]).all(), "v and j run along y"
        emcs = 1 if k <= 16 else 4 if k <= 32 else 16
        assert len(set((lanes // (array.lanes // array.emcs)).ravel())) <= emcs, "a patch lies within one EMC, 4 or 16"
        assert placement.x % placement.side == 0 and placement.y % placement.side == 0
        assert (owner[lanes] == placement.patch).all(), "quadrant loads in this order leave each patch its own data"
        taken[lanes] += 1
    assert taken.max() == 1
    assert work.samples == taken.sum() <= work.allocated <= array.lanes


@given(st.lists(st.integers(2, 16) | st.integers(17, 64), min_size=1, max_size=600))
@settings(max_examples=40)
def test_any_mix_of_sizes_is_placed(samples):
    passes = allocate(samples, ARRAY)
    for work in passes:
        check_pass(work, ARRAY, X, Y)
    assert sorted(p.patch for work in passes for p in work.placements) == list(range(len(samples)))
    assert all(p.samples == samples[p.patch] for work in passes for p in work.placements)
    # Squares of blocks waste nothing: all passes but the last are full, of those for each k above 16 too.
    for sizes in ({*range(2, 17)}, *({k} for k in range(17, 65))):
        alike = [work for work in passes if {*work.sizes} <= sizes]
        assert all(work.allocated == ARRAY.lanes for work in alike[:-1])
    assert all(len(work.sizes) == 1 for work in passes if max(work.sizes) > 16)


@pytest.mark.parametrize(
    ("samples", "patches", "passes"),
    [(4, 512, 1), (8, 128, 1), (16, 32, 1), (16, 33, 2), (4, 513, 2), (16, 128, 4), (32, 8, 1), (64, 2, 1), (64, 3, 2)],
)
def test_full_arrays(samples, patches, passes):
    found = allocate([samples] * patches, ARRAY)
    assert len(found) == passes
    assert found[0].occupancy == 1.0 or passes == 0


def test_large_patches_are_placed_first():
    work, *rest = allocate([4] * 100 + [16] * 10 + [8] * 20, ARRAY)
    assert not rest
    placed = {placement.patch: placement for placement in work.placements}
    emcs = {size: {(p.module, p.x // 16) for p in placed.values() if p.samples == size} for size in (4, 8, 16)}
    assert len(emcs[16]) == 10 and len(emcs[8]) == 5
    assert not emcs[16] & (emcs[8] | emcs[4])


def test_smaller_arrays():
    for array in (TINY.array, ArrayConfig(modules=2, emcs_per_module=3), ArrayConfig(modules=1, panels_per_emc=4)):
        x, y = LinearExpressionEvaluator(replace(THESIS, array=array)).coordinates()
        largest = 4 * array.panels_per_emc // 2
        for work in allocate([4] * 7 + [8, largest, 3], array):
            check_pass(work, array, x, y)
    with pytest.raises(InputError, match="allowed: 2 to 8"):
        allocate([16], ArrayConfig(modules=1, panels_per_emc=4))


def test_sample_counts_out_of_range_are_all_named():
    with pytest.raises(InputError) as caught:
        allocate([4, 1, 65, 0], ARRAY)
    assert [[int(number) for number in re.findall(r"\d+", fault.message)] for fault in caught.value.faults] == [
        [1, 2],
        [65, 3],
        [0, 4],
    ]


def test_overlapping_squares_have_no_load_order():
    with pytest.raises(ValueError, match="overlap"):
        load_order((Placement(0, 8, 0, 0), Placement(1, 4, 4, 4)))


# --- figure 9 --------------------------------------------------------------------------------------------------------


def test_coordinates_have_the_properties_of_section_3_2():
    place = np.full((64, 128), -1)
    place[Y, X] = np.arange(8192)
    assert (place >= 0).all(), "the node is 128x64 and no two PEs share a place"
    for y in range(0, 64, 4):
        for x in range(0, 128, 4):
            block = np.sort(place[y : y + 4, x : x + 4].ravel())
            assert block[0] % 16 == 0 and (np.diff(block) == 1).all(), "a block is 16 consecutive PEs, half a panel"
    for size, height in ((256, 16), (2048, 16)):
        for first in range(0, 8192, size):
            lanes = slice(first, first + size)
            assert np.ptp(X[lanes]) == size // height - 1 and np.ptp(Y[lanes]) == height - 1, "EMC 16x16, module 128x16"


def test_registers_fit_their_widths():
    for name, values in figure9(ARRAY).items():
        assert values.min() >= 0 and values.max() < 1 << getattr(THESIS.lee, f"{name}_bits")


def test_one_write_for_each_register_leaves_what_a_node_begins_with():
    builder = Builder("LEE")
    emit_lee(builder, ARRAY)
    node = Node(replace(THESIS, lee=replace(THESIS.lee, arrangement="zero")))
    assert not node.coordinates()[0].any()
    assert node.run(builder.build()).cycles == 32 * (1 + 1 + 16 + 8 + 8 + 8) == 1344
    assert (node.coordinates()[0] == X).all() and (node.coordinates()[1] == Y).all()
