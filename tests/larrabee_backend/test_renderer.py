"""The whole renderer: pictures against 64-bit integers, and the order of sub-bins, on which they depend."""

import numpy as np
import pytest

from larrabee_bridge.pipeline.bins import bin_triangles, in_order, quads_of, sub_bins
from larrabee_bridge.pipeline.frame import FrameSetting, render_on_larrabee
from larrabee_bridge.vpu.isa import VectorFamily
from larrabee_bridge.vpu.program import shipped
from pixelflow.simd.drawing import Blend, DepthTest, Draw, Frame, State, draw_frame, snap
from tests.larrabee_backend.soups import HEIGHT, WIDTH, soup

OVER = State(blend=Blend.OVER, alpha=120, depth_test=DepthTest.ALWAYS)
ORDERED = Frame(WIDTH, HEIGHT, (9, 8, 7), (Draw("plain", soup(1, 3)), Draw("over", soup(2, 9), OVER)))
EXPECTED = draw_frame(ORDERED)
QUADS = quads_of(soup(2, 9), WIDTH, HEIGHT, 32)


@pytest.mark.parametrize("samples", [1, 4])
def test_a_frame_from_its_triangles_on(samples: int) -> None:
    frame = Frame(WIDTH, HEIGHT, (9, 8, 7), ORDERED.draws, samples)
    found = render_on_larrabee(frame, FrameSetting(tile=32, primset=2))
    assert found.picture.equals(draw_frame(frame))
    assert found.setup_cycles > 0
    assert found.raster_cycles.shape == found.back_end.cycles.shape
    assert (found.raster_cycles > 0).tolist() == (found.back_end.quads > 0).tolist()
    counted = sum(raster.descent.cycles.sum() for raster in found.rasters)
    assert found.raster_cycles.sum() == counted
    # Planes alone divide, in floats.
    fused = sum(raster.planes.instructions[VectorFamily.FUSED] for raster in found.rasters)
    assert 0 < fused == found.instructions[VectorFamily.FUSED] < found.instructions[VectorFamily.INTEGER]
    free = render_on_larrabee(frame, FrameSetting(tile=32, free_setup=True))
    assert free.picture.equals(found.picture) and free.instructions[VectorFamily.FUSED] == free.plane_cycles == 0


def test_sub_bins_without_their_sequence_ids_would_give_another_picture() -> None:
    """Core after core instead of PrimSet after PrimSet."""
    from larrabee_bridge.pipeline.back_end import render_back_end

    triangles = ORDERED.draws[1].triangles
    bins = bin_triangles(triangles, WIDTH, HEIGHT, 32)
    place = {}
    for tile in range(bins.columns * bins.rows):
        parts = sub_bins(bins, tile, len(triangles), 1, [2, 1, 0, 2, 1, 0, 2, 1, 0])
        assert list(in_order(parts)) == bins.of(tile).tolist()
        order = [triangle for part in parts for _, triangle in part.entries]
        place |= {(tile, triangle): at for at, triangle in enumerate(order)}
    keys = [place[pair] for pair in zip(QUADS.tile.tolist(), QUADS.triangle.tolist(), strict=True)]
    order = np.lexsort((keys, QUADS.tile))
    mixed = type(QUADS)(*(each[order] for each in (QUADS.tile, QUADS.triangle, QUADS.x, QUADS.y, QUADS.masks)))
    plain = quads_of(ORDERED.draws[0].triangles, WIDTH, HEIGHT, 32)
    assert not render_back_end(ORDERED, [plain, mixed], tile=32).picture.equals(EXPECTED)


@pytest.mark.parametrize("count", [1, 17])
def test_a_triangle_beside_the_screen_takes_its_set_up_alone(count: int) -> None:
    """One thread, or two for seventeen triangles: no pair, no tile, and all instructions are those of set-up."""
    away = np.tile(np.array([[(-40, -40), (-30, -40), (-40, -30)]], float), (count, 1, 1))
    triangles = snap(away, np.zeros((count, 3)), np.zeros((count, 3, 3)))
    found = render_on_larrabee(Frame(4, 4, (0, 0, 0), (Draw("away", triangles),)), FrameSetting(tile=32))
    (raster,) = found.rasters
    assert raster.pairs == found.back_end.cycles.sum() == 0
    threads = 1 if count == 1 else 2
    assert len(raster.set_up.cycles) == threads
    # Without a loop: every instruction of the program once a thread.
    assert sum(found.instructions.values()) == threads * len(shipped("setup.mc").addresses)
    assert found.setup_cycles == threads * raster.set_up.cycles[0] > 0
