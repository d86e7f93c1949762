"""Layers: full screens drawn over each other in random order, where the bytes of both renderers are known beforehand.

Of d layers in random order, layer l passes the depth test at a place with probability 1/l: so a place is written
H_d = 1 + 1/2 + ... + 1/d times in the mean. With blocks in which a layer passes as a whole, and no reuse in the caches,
immediate mode moves for each pass 4/2 bytes of colour out, 4/4 of depth in and 4/4 out: 4 bytes a pixel. A binned frame
that is cleared and keeps its colours alone moves 4 bytes a pixel. The ratio is H_d. At four samples it is 16/4 + 16/8 +
16/8 = 8 bytes beside 4 resolved ones: 2 H_d. Where immediate mode knows cleared blocks, the first depth is not read:
less 1/4, at four samples 1/2.

What the caches still hold when a block is passed again is not moved twice. That the passes of a block at layers j and l
follow each other has probability 1/j * j/(l - 1) * 1/l = 1 / (l (l - 1)). For a block that comes after a share x of the
screen, a share x (l - j) / l + (1 - x) (l - j) / (l - 1) of all others is passed between them: of what lies before it
in layers j + 1 to l, of what lies past it in layers j to l - 1. If that is less than the share of the screen that a
cache holds, the block is still there. So late layers are found again, since few blocks are passed in them.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from larrabee_bridge.pipeline.traffic.accesses import Accesses
from larrabee_bridge.pipeline.traffic.settings import LINE_BYTES, SAMPLE_BYTES, TrafficConfig

__all__ = ["expected_ratio", "expected_reuse", "harmonic", "layer_accesses", "random_layers"]


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
