"""Four threads on a core in the renderer's time: queues, fibers, the texture unit, caches."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from larrabee_bridge.pipeline.back_end import BackEnd, render_back_end
from larrabee_bridge.pipeline.texture_unit import TextureConfig
from larrabee_bridge.vpu.config import CoreConfig
from larrabee_bridge.vpu.ring import mean_ride
from pixelflow.simd.drawing import Blend, Draw, Frame, ScreenTriangles, State, draw_frame, snap
from tests.larrabee_backend.soups import HEIGHT, WIDTH, soup, texture

REAL = CoreConfig(caches=True)
FRAME = Frame(WIDTH, HEIGHT, (0, 0, 0), (Draw("plain", soup(6, 40)), Draw("t", soup(7, 40), State(texture=texture(1)))))


@cache
def drawn(config: CoreConfig = REAL, texture: TextureConfig | None = None) -> BackEnd:
    return render_back_end(FRAME, tile=32, config=config, texture=texture)


def cycles(config: CoreConfig = REAL, texture: TextureConfig | None = None) -> int:
    return int(drawn(config, texture).cycles.sum())


@pytest.mark.parametrize("config", [CoreConfig(), REAL, CoreConfig(caches=True, queued_quads=1)])
def test_everything_that_was_carried_out_issued_once(config: CoreConfig) -> None:
    found = drawn(config)
    carried_out = sum(core.issued + core.paired for core in found.accounts.shared.values())
    assert carried_out == sum(found.instructions.values())
    assert found.picture.equals(draw_frame(FRAME))


def test_texels_are_waited_for_where_fibers_do_not_fill_their_latency() -> None:
    one, many = (TextureConfig(fibers=fibers) for fibers in (1, 16))
    slow_one, slow_many = (replace(each, latency=2000) for each in (one, many))
    assert cycles(texture=many) < cycles(texture=one) < cycles(texture=slow_one)
    assert cycles(texture=slow_many) < cycles(texture=slow_one)
    # A quad of a queue at a time: each request is waited for whole.
    requests = drawn(texture=one).texture.requests
    longer = cycles(texture=slow_one) - cycles(texture=one)
    assert longer >= 0.9 * 1800 * int(requests.max(axis=1).sum())


def test_ideal_memory_waits_for_no_line() -> None:
    ideal = drawn(CoreConfig())
    assert cycles(CoreConfig()) < cycles()
    assert all(core.l1_misses is None for core in ideal.accounts.shared.values())
    assert sum(core.l2_misses or 0 for core in drawn().accounts.shared.values()) > 0


def test_the_ring_is_a_mean_ride() -> None:
    """`ring_cycles`: sixteen agents, each to each other one, clocks of both parities."""
    assert round(mean_ride(16)) == CoreConfig().ring_cycles


@pytest.mark.parametrize(("key", "value"), [("l2_bytes", 131072), ("gather_line_cycles", 3)])
def test_sorted_layers_fill_the_slice_and_scatter(key: str, value: int) -> None:
    """With four samples and eight layers a tile of 64x64 is more than eight times the slice."""
    glass = State(blend=Blend.SORTED, alpha=90, depth_write=False)
    frame = Frame(64, 64, (0, 0, 0), (Draw("glass", sized_soup(), glass),), samples=4)
    usual, other = (
        int(render_back_end(frame, tile=64, config=each).cycles.sum()) for each in (REAL, replace(REAL, **{key: value}))
    )
    assert usual < other


def sized_soup() -> ScreenTriangles:
    """Two triangles that cover a tile, eight times."""
    corners = np.tile(np.array([[(0, 0), (64, 0), (0, 64)], [(64, 0), (64, 64), (0, 64)]], float), (8, 1, 1))
    return snap(corners, np.full((16, 3), 0.5), np.full((16, 3, 3), 50))


@pytest.mark.parametrize(
    "config", [replace(REAL, warm_caches=True), replace(REAL, ways=1, l1_bytes=8192, l2_bytes=131072)]
)
@pytest.mark.parametrize("samples", [1, 4])
def test_no_cycle_depends_on_how_many_tiles_run_side_by_side(samples: int, config: CoreConfig) -> None:
    """Lists, triangles, pixels and fragments are where they are with all tiles in one memory, and fibers as many."""
    draws = [Draw(name, soup(seed, 40, width=130, height=70)) for seed, name in enumerate(("a", "b"))]
    draws.append(Draw("t", soup(7, 30, width=130, height=70), State(texture=texture(1))))
    glass = State(blend=Blend.SORTED, alpha=90, depth_write=False)
    draws += [Draw("glass", soup(9, 30, width=130, height=70), glass)] * (samples == 1)
    frame = Frame(130, 70, (0, 0, 0), tuple(draws), samples)
    whole, cut = (render_back_end(frame, tile=32, config=config, most_tiles=most) for most in (512, 2))
    assert len(whole.accounts.shared) == 15 and cut.accounts.shared == whole.accounts.shared
    assert cut.picture.equals(whole.picture) and cut.memory_bytes.tolist() == whole.memory_bytes.tolist()
