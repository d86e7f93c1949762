"""Do the loads through the LEE take the published cycles, and leave the right bytes in the right PEs?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from microcode import Builder, Mem
from pixelflow.config import ArrayConfig, LeeConfig, NodeConfig
from pixelflow.node import Node
from tessellation.microprogram.method import library_named
from tessellation.microprogram.ports import LeeControlPoints
from tessellation.microprogram.stage_code import Evaluation, emit_addresses, emit_lee, select_by_marks
from tessellation.plan.mapping import allocate
from tessellation.plan.memory_map import memory_map
from tessellation.surface.patch import bernstein_bits

SMALL = NodeConfig(array=ArrayConfig(modules=2, emcs_per_module=2))


def loads(samples: list[int], rows: int = 4, columns: int = 4, config: NodeConfig = SMALL):
    """Return a node after the loads of one pass, the pass, its layout and the run's cycles by stage."""
    builder, layout = Builder("loads"), memory_map(rows, columns)
    (work,) = allocate(samples, config.array)
    bases = {placement.patch: 60 * placement.patch for placement in work.placements}
    select = select_by_marks(builder, layout)
    emit_addresses(builder, layout, work, bases, Mem(layout["base_address"].start))
    Evaluation(layout, work, library_named("tuned"), select).load_first(builder)
    node = Node(config)
    return node, work, layout, node.run(builder.build()).by_stage


def test_loads_put_bernstein_values_and_addresses_where_they_belong():
    samples = [16, 8, 8, 7, 5, 4, 3, 2, 4, 13]
    node, work, layout, _ = loads(samples, 3, 6)
    for placement in work.placements:
        lanes = placement.lanes(SMALL.array)
        k = placement.samples
        addresses = node.read_word(layout["base_address"].start, 3)[lanes]
        assert (addresses == placement.patch * 60).all()
        for name, count, axis in (("bernstein_u", 3, 0), ("bernstein_v", 6, 1)):
            for ending, degree in (("", count - 1), ("_difference", count - 2)):
                expected = np.array(bernstein_bits(degree, k), dtype=np.uint64)
                for index in range(degree + 1):
                    found = node.read_word(layout[name + ending].start + 4 * index, 4)[lanes]
                    column = expected[:, index]
                    assert (found == (column[:, None] if axis == 0 else column[None, :])).all()


def test_control_points_reach_every_pe_of_their_patch():
    samples = [8, 4, 4, 7, 3, 16, 8]
    layout = memory_map(4, 4)
    (work,) = allocate(samples, SMALL.array)
    generator = np.random.default_rng(9)
    values = {patch: generator.integers(0, 2**32, 120, dtype=np.uint32) for patch in range(len(samples))}
    source = LeeControlPoints(layout, work.placements, values)
    node = Node(SMALL)
    for batch in (0, 3, 14):
        builder = Builder("batch")
        source.emit_batch(builder, batch)
        assert node.run(builder.build()).cycles == len(samples) * (5 + 8 * 5) + 1
        for placement in work.placements:
            for index in range(8):
                found = node.read_word(layout["control_points"].start + 4 * index, 4)[placement.lanes(SMALL.array)]
                assert (found == values[placement.patch][8 * batch + index]).all()


def test_a_short_last_batch_costs_less():
    (work,) = allocate([4], SMALL.array)
    source = LeeControlPoints(memory_map(4, 4), work.placements, {0: np.arange(11, dtype=np.uint32)})
    builder = Builder("batch")
    source.emit_batch(builder, 1)
    assert Node(SMALL).run(builder.build()).cycles == 5 + 3 * 5 + 1


def test_the_program_configures_the_lee_from_nothing():
    config = NodeConfig(array=SMALL.array, lee=LeeConfig(arrangement="zero"))
    builder = Builder("lee")
    emit_lee(builder, config.array)
    node = Node(config)
    assert not node.coordinates()[0].any()
    run = node.run(builder.build())
    assert run.cycles == 4 * 42
    assert all(
        (found == expected).all()
        for found, expected in zip(
            node.coordinates(), Node(replace(config, lee=LeeConfig())).coordinates(), strict=True
        )
    )
