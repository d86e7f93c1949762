"""Layers in random order: immediate over binned bytes is the harmonic number, as the derivation says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from larrabee_bridge.pipeline.traffic import (
    LINE_BYTES,
    SAMPLE_BYTES,
    Accesses,
    BinContents,
    TileSizes,
    TrafficConfig,
    accesses_of,
    binned_traffic,
    default_targets,
    immediate_traffic,
)
from pixelflow.simd.drawing import Draw, Frame, snap

# Layers: full screens drawn over each other in random order, for which the bytes of both renderers have closed forms.
#
# Of d layers in random order, layer l passes the depth test at a place with probability 1/l: so a place is written
# H_d = 1 + 1/2 + ... + 1/d times in the mean. With blocks in which a layer passes as a whole, and no reuse in the
# caches, immediate mode moves for each pass 4/2 bytes of colour out, 4/4 of depth in and 4/4 out: 4 bytes a pixel. A
# binned frame that is cleared and keeps its colours alone moves 4 bytes a pixel. The ratio is H_d. At four samples it
# is 16/4 + 16/8 + 16/8 = 8 bytes and 4 resolved ones: 2 H_d. If immediate mode knows cleared blocks, the first depth is
# not read: less 1/4, at four samples 1/2.
#
# Blocks still in the caches when they are passed again are not moved twice. The passes of a block at layers j and l are
# consecutive with probability 1/j * j/(l - 1) * 1/l = 1 / (l (l - 1)). For a block after a share x of the screen, a
# share x (l - j) / l + (1 - x) (l - j) / (l - 1) of all others is passed between them: of those before it in layers
# j + 1 to l, of those after it in layers j to l - 1. If that is less than the share of the screen that a cache holds,
# the block is still in it. So late layers are found again, since few blocks are passed in them.


def harmonic(depth: int) -> Fraction:
    """Return H_d, exactly."""
    return sum((Fraction(1, layer) for layer in range(1, depth + 1)), Fraction(0))


def expected_reuse(depth: int, share: Fraction) -> Fraction:
    """Return how often a block is found in a cache that holds a share of the screen, in the mean, for many blocks."""
    found = Fraction(0)
    for layer in range(2, depth + 1):
        for before in range(1, layer):
            least, most = Fraction(layer - before, layer), Fraction(layer - before, layer - 1)
            found += min(max((share - least) / (most - least), Fraction(0)), Fraction(1)) / (layer * (layer - 1))
    return found


def expected_ratio(
    depth: int, samples: int = 1, config: TrafficConfig | None = None, blocks: int | None = None
) -> Fraction:
    """Return the mean bytes of immediate mode over those of binned mode, targets alone.

    Without ``blocks``, those of the screen, nothing is found in the caches: H_d at one sample, 2 H_d at four.
    """
    config = config or TrafficConfig()
    total = Fraction(0)
    sizes = (config.colour_cache, config.depth_cache)
    for size, times, moves in zip(sizes, config.compression(samples), (1, 2), strict=True):
        held = size // (LINE_BYTES * samples)
        reuse = expected_reuse(depth, Fraction(held, blocks)) if blocks is not None else 0
        known = config.fast_clear and moves == 2
        total += Fraction(SAMPLE_BYTES * samples, times) * (moves * (harmonic(depth) - reuse) - known)
    return total / SAMPLE_BYTES


def random_layers(blocks: int, depth: int, seed: int) -> np.ndarray:
    """Return depths of layers at blocks, every order of the layers equally likely at each: int64[layer, block]."""
    return np.random.default_rng(seed).permuted(np.tile(np.arange(depth)[:, None], (1, blocks)), axis=0)


def layer_accesses(depths: np.ndarray, samples: int = 1) -> Accesses:
    """Return the accesses of layers that each fill the screen block after block, each block at one depth.

    ``depths`` is int64[layer, block]; the nearer one is seen, the first of equals.
    """
    nearest = np.minimum.accumulate(depths, axis=0)
    seen = np.ones(depths.shape, bool)
    seen[1:] = depths[1:] < nearest[:-1]
    layer, block = np.nonzero(seen)
    yes, no = np.ones(len(block), bool), np.zeros(len(block), bool)
    nothing = np.zeros(len(block) + 1, np.int64)
    return Accesses(samples, block, np.zeros_like(block), layer, yes, yes, no, yes, nothing, nothing[:0])


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
