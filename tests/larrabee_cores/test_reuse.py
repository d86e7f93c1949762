"""Caches that are counted for whole arrays of accesses, beside one that keeps its lines."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest

from larrabee_bridge.vpu import ring
from larrabee_bridge.vpu.ring import line_moves
from pixelflow.simd.lanes.native import plain


def slow_moves(lines: list[int], writes: list[bool], capacity: int) -> tuple[list[bool], int]:
    """Keep the lines themselves, from the least to the most recently used, and whether each was written."""
    kept: OrderedDict[int, bool] = OrderedDict()
    found, written = [], 0
    for line, writing in zip(lines, writes, strict=True):
        found.append(line in kept)
        kept[line] = kept.get(line, False) or writing
        kept.move_to_end(line)
        if len(kept) > capacity:
            written += kept.popitem(last=False)[1]
    return found, written + sum(kept.values())


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("lines", [3, 40, 2000])
@pytest.mark.parametrize("capacity", [0, 1, 2, 8, 100, 700])
def test_a_cache_counted_at_once_is_the_one_that_keeps_lines(
    lines: int, capacity: int, native: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At random, round and round, in walks that come back, and with some lines used all the time."""
    monkeypatch.setattr(plain, "NATIVE_AFTER", 0 if native else 1 << 20)
    monkeypatch.setattr(ring, "TOGETHER", 1000)  # of 3,000
    rng = np.random.default_rng(lines + capacity)
    count = 3000
    there = np.arange(count)
    walk = np.abs(np.cumsum(rng.integers(-3, 4, count))) % lines
    often = np.where(rng.random(count) < 0.5, rng.integers(0, 3, count), there % lines)
    for order in (rng.integers(0, lines, count), there % lines, walk, often):
        writes = rng.random(count) < 0.3
        expected = slow_moves(order.tolist(), writes.tolist(), capacity)
        for apart in (1, 1 << 40):  # names may be far from each other
            found, written = line_moves(order * apart, writes, capacity)
            assert (found.tolist(), written) == expected
