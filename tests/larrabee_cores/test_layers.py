"""Layers in random order: immediate over binned bytes is the harmonic number, as the derivation says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from larrabee_bridge.pipeline.traffic import (
    SAMPLE_BYTES,
    BinContents,
    TileSizes,
    TrafficConfig,
    accesses_of,
    binned_traffic,
    default_targets,
    expected_ratio,
    expected_reuse,
    harmonic,
    immediate_traffic,
    layer_accesses,
    random_layers,
)
from pixelflow.simd.drawing import Draw, Frame, snap

SCREEN = (320, 240)
BLOCKS = SCREEN[0] * SCREEN[1] // 16
SMALL = TrafficConfig(colour_cache=(1 << 20) // 25, depth_cache=(1 << 20) // 25)
"""Caches as much smaller than 1 MB as the screen is than one of 1600x1200."""

ONE_BLOCK = TrafficConfig(colour_cache=256, depth_cache=256)


def ratio(depth: int, samples: int, seed: int, config: TrafficConfig = SMALL) -> float:
    """Targets alone: binned, each tile has one entry for each layer."""
    accesses = layer_accesses(random_layers(BLOCKS, depth, seed), samples)
    sizes = TileSizes.of(*SCREEN, 64)
    tiles = np.arange(len(sizes.pixels))
    entries = np.stack([np.repeat(tiles, depth), np.tile(np.arange(depth), len(tiles))], axis=1)
    contents = BinContents(tiles, entries, 0, 0, 0, samples)
    binned = binned_traffic(sizes, contents, default_targets(samples)).targets
    assert binned == SAMPLE_BYTES * SCREEN[0] * SCREEN[1]
    return immediate_traffic(accesses, config).targets / binned


def test_harmonic_numbers() -> None:
    assert [harmonic(depth) for depth in (1, 2, 4)] == [1, Fraction(3, 2), Fraction(25, 12)]
    assert [round(float(harmonic(depth)), 2) for depth in (2, 4, 8, 16)] == [1.5, 2.08, 2.72, 3.38]
    assert expected_ratio(4) == harmonic(4)
    assert expected_ratio(4, 4) == 2 * harmonic(4)
    assert expected_ratio(1, config=TrafficConfig(fast_clear=True)) == Fraction(3, 4)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("depth", [1, 2, 4, 8, 16])
def test_the_ratio_is_the_harmonic_number(depth: int, samples: int) -> None:
    times = 1 if samples == 1 else 2
    for seed in range(2):
        assert ratio(depth, samples, seed, ONE_BLOCK) == pytest.approx(times * float(harmonic(depth)), rel=0.02)


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("depth", [2, 8, 16])
def test_caches_find_late_layers_again_as_often_as_derived(depth: int, samples: int) -> None:
    found = sum(ratio(depth, samples, seed) for seed in range(4)) / 4
    expected = float(expected_ratio(depth, samples, SMALL, BLOCKS))
    assert found == pytest.approx(expected, rel=0.01)
    assert expected <= float(expected_ratio(depth, samples))


def test_each_target_has_its_own_cache() -> None:
    """All of one target fits: a depth is then read once and written once, and colours are written at each pass."""
    whole, passes = BLOCKS * 64, float(harmonic(4))
    depths = TrafficConfig(colour_cache=256, depth_cache=whole)
    colours = TrafficConfig(colour_cache=whole, depth_cache=256)
    assert ratio(4, 1, 1, depths) == pytest.approx((2 * passes + 2) / 4, rel=0.02)
    assert ratio(4, 1, 1, colours) == pytest.approx((2 + 2 * passes) / 4, rel=0.02)
    uneven = TrafficConfig(colour_cache=256, depth_cache=whole, colour_compression=1)
    assert ratio(4, 1, 1, uneven) == pytest.approx((4 * passes + 2) / 4, rel=0.02)


def test_reuse_by_hand() -> None:
    """Two layers: a block is passed again with probability 1/2, after 1/2 to 1 of the others. A cache for all holds it.

    A cache for 3/4 of the screen holds it where x / 2 + 1 - x < 3/4, in half of the places.
    """
    assert expected_reuse(2, Fraction(1)) == Fraction(1, 2)
    assert expected_reuse(2, Fraction(3, 4)) == Fraction(1, 4)
    assert expected_reuse(2, Fraction(1, 2)) == 0
    assert expected_reuse(9, Fraction(1)) == harmonic(9) - 1


@pytest.mark.parametrize("samples", [1, 4])
def test_without_reuse_the_ratio_is_the_passes(samples: int) -> None:
    """With caches of one block every pass goes to memory, and the bytes are exactly those of the passes."""
    depths = random_layers(BLOCKS, 8, 3)
    passes = sum(int((depths[layer] < depths[:layer].min(axis=0)).sum()) for layer in range(1, 8)) + BLOCKS
    assert ratio(8, samples, 3, ONE_BLOCK) == (1 if samples == 1 else 2) * passes / BLOCKS


def test_known_clears_save_the_first_read() -> None:
    config = TrafficConfig(colour_cache=256, depth_cache=256, fast_clear=True)
    for samples in (1, 4):
        assert ratio(4, samples, 1, config) == pytest.approx(float(expected_ratio(4, samples, config)), rel=0.02)


def test_more_layers_gain_more() -> None:
    """Layers added to the same ones: the ratio never falls, and its steps become smaller."""
    depths = random_layers(BLOCKS, 12, 5)
    found = [immediate_traffic(layer_accesses(depths[:count]), SMALL).targets for count in range(1, 13)]
    assert found == sorted(found)
    assert found[1] - found[0] > found[5] - found[4] > found[11] - found[10]


def test_layers_are_frames() -> None:
    """Rectangles that fill the screen, in any order: the accesses are those of the frame with these rectangles."""
    order = np.random.default_rng(4).permutation(6)
    corners = np.array([[0, 0], [64, 0], [64, 48], [0, 48]], float)[[[0, 1, 2], [0, 2, 3]]]
    draws = tuple(
        Draw(str(depth), snap(corners, np.full((2, 3), (depth + 1) / 8), np.zeros((2, 3, 3), np.uint8)))
        for depth in order
    )
    frame = immediate_traffic(accesses_of(Frame(64, 48, (0, 0, 0), draws)), SMALL)
    layers = layer_accesses(np.repeat(order[:, None], 64 * 48 // 16, axis=1))
    assert frame.targets == immediate_traffic(layers, SMALL).targets


@pytest.mark.slow
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("depth", [2, 4, 8, 16])
def test_the_ratio_at_1600_by_1200(depth: int, samples: int) -> None:
    blocks = 1600 * 1200 // 16
    accesses = layer_accesses(random_layers(blocks, depth, 1), samples)
    found = immediate_traffic(accesses).targets / (1600 * 1200 * SAMPLE_BYTES)
    assert found == pytest.approx(float(expected_ratio(depth, samples, blocks=blocks)), rel=0.005)
    if (depth, samples) != (16, 1):
        assert found == pytest.approx(float(expected_ratio(depth, samples)), rel=0.02)
