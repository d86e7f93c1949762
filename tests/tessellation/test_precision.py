"""Do longer mantissas (appendix A) give better points and normals, rounded to binary32 as they should be?"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from microcode import Builder
from pixelflow.config import TINY, ArrayConfig, NodeConfig
from pixelflow.node import Node
from pixelflow.simd.errors import InputError
from tessellation import Method, Patch, tessellate
from tessellation.microprogram.stage_code import emit_conversions
from tessellation.plan.schedule import Stage, StoredFormat, float_patterns, stored_patterns
from tessellation.surface.patch import float_bits
from tests.tessellation.test_texture_path import same_bits

SMALL = NodeConfig(array=ArrayConfig(modules=2, emcs_per_module=2))


@pytest.mark.parametrize("size", [6, *(pytest.param(each, marks=pytest.mark.slow) for each in (4, 5))])
@pytest.mark.parametrize("hybrid", [False, True])
def test_results_are_better_than_in_binary32(size, hybrid, teapot):
    single = tessellate(teapot, 4, config=SMALL)
    long = tessellate(teapot, 4, config=SMALL, method=Method(mantissa_bytes=size, hybrid=hybrid))
    print(f"{size} bytes, hybrid {hybrid}: {long.worst_point_error:.3f}, {long.worst_normal_error:.3f}, {long.cycles}")
    assert long.within_limits and long.degenerate == 32
    assert long.worst_point_error < 1.01, "one rounding of the result, to half a unit in the last place"
    assert long.worst_normal_error < 1.01 and long.worst_point_error < single.worst_point_error
    assert long.cycles > single.cycles
    batches = {False: {4: 20, 5: 24, 6: 30}[size], True: 15}[hybrid]
    assert long.cycles_by_stage[Stage.DISTRIBUTION.value] == batches * 164
    assert len(long.patches) == 32 and long.cycles_by_stage[Stage.ROUNDING.value] == 6 * (13 + size + 1)


@pytest.mark.parametrize(
    "long",
    [Method(mantissa_bytes=4), pytest.param(Method(mantissa_bytes=5, hybrid=True), marks=pytest.mark.slow)],
    ids=["4 bytes", "5 bytes, hybrid"],
)
def test_the_lee_and_the_schedule_of_shared_columns_give_the_same_bits(long):
    patches = [Patch(np.random.default_rng(n).normal(size=(3, 6, 3))) for n in range(3)]
    ways = [long, replace(long, control_points="lee"), replace(long, schedule="shared-columns")]
    thesis, lee, ours = (tessellate(patches, 4, library="tuned", config=TINY, method=way) for way in ways)
    assert same_bits(thesis, lee) and same_bits(thesis, ours)
    assert ours.cycles < thesis.cycles


def test_the_values_of_a_batch_and_of_a_patch(teapot):
    assert [StoredFormat(size + 1).batch_values for size in (3, 4, 5, 6)] == [8, 6, 5, 4]
    stored = StoredFormat(5)
    words = stored.packed(stored_patterns(teapot[0], stored, reordered=False))
    data = words.astype("<u4").view(np.uint8).reshape(20, 32)
    assert (data[:, 30:] == 0).all()
    first = int.from_bytes(bytes(data[0, :5]), "little")
    assert first == int(float_patterns(teapot[0].points[0, 0, :1].astype(np.float64), 4)[0])


@pytest.mark.parametrize("size", [3, 4, 5, 6])
def test_patterns_are_rounded_to_nearest_even(size):
    generator = np.random.default_rng(size)
    values = np.concatenate([generator.random(50), [0.0, 1.0, 0.5, 1 - 2.0**-52, 2.0**-126, 2.0**-127]])
    expected = [float_bits(Fraction(float(value)), size) for value in values]
    assert float_patterns(values, size).tolist() == expected
    assert float_patterns(-values, size).tolist() == [bits | 1 << (8 * size + 7) for bits in expected]
    assert int(float_patterns(np.array([1e39]), size)[0]) == 255 << (8 * size - 1)
    if size == 3:
        many = generator.normal(size=1000) * 10.0 ** generator.integers(-30, 30, 1000)
        assert (float_patterns(many, 3) == many.astype(np.float32).view(np.uint32)).all()


@pytest.mark.parametrize("size", [4, 5, 6])
def test_conversions_are_exact_up_and_rounded_down(size):
    builder = Builder("conversions")
    emit_conversions(builder, size)
    short, long, back = (builder.range(name, n) for name, n in (("short", 4), ("long", size + 1), ("back", 4)))
    builder.call("widen", long, short)
    builder.call("narrow", back, long)
    node = Node(TINY)
    generator = np.random.default_rng(size)
    bits = generator.integers(0, 1 << 32, node.lanes, dtype=np.uint32)
    node.write_word(short.start, 4, bits)
    node.run(builder.build())
    assert (node.read_word(long.start, size + 1) == bits.astype(np.uint64) << np.uint64(8 * (size - 3))).all()
    assert (node.read_word(back.start, 4) == bits).all()


@pytest.mark.parametrize("size", [4, 5, 6])
def test_narrow_rounds_to_nearest_even_and_carries_into_the_exponent(size):
    builder = Builder("narrow")
    emit_conversions(builder, size)
    value = builder.range("value", size + 1)
    builder.call("narrow", value, value)
    node = Node(TINY)
    low = 8 * (size - 3)
    generator = np.random.default_rng(size)
    kept = generator.integers(0, 0x7F800000, node.lanes, dtype=np.uint64)
    kept[:4] = [0x3F7FFFFF, 0x7F7FFFFF, 0x3F800000, 0x3F800001]
    half = 1 << low - 1
    rest = generator.choice(np.array([0, 1, half - 1, half, half + 1, 2 * half - 1], np.uint64), node.lanes)
    rest[:4] = half
    node.write_word(value.start, size + 1, kept << np.uint64(low) | rest)
    node.run(builder.build())
    up = (rest > half) | ((rest == half) & (kept & np.uint64(1) == 1))
    assert (node.read_word(value.start, 4) == kept + up.astype(np.uint64)).all()


def test_what_cannot_be_done_is_refused():
    wide, long = Patch(np.zeros((12, 12, 3))), Method(mantissa_bytes=6)
    cases = [
        (lambda: Method(mantissa_bytes=7), "allowed: 3 to 6"),
        (lambda: Method(hybrid=True), "needs mantissas of 4 to 6 bytes"),
        (lambda: tessellate([wide], 4, config=TINY, method=long), "of 7 bytes"),
    ]
    for call, message in cases:
        with pytest.raises(InputError, match=message):
            call()
