"""The whole renderer: pictures against 64-bit integers, and the same for every number of cores and size of PrimSets."""

import numpy as np
import pytest

from larrabee_bridge.pipeline.bins import BinRule, bin_triangles, in_order, quads_of, sub_bins
from larrabee_bridge.pipeline.frame import merged, render_on_larrabee
from larrabee_bridge.vpu.isa import VectorFamily
from larrabee_bridge.vpu.program import shipped
from pixelflow.simd.drawing import Blend, DepthTest, Draw, Frame, State, draw_frame, snap
from pixelflow.simd.errors import InputError
from tests.larrabee_backend.soups import HEIGHT, WIDTH, soup

OVER = State(blend=Blend.OVER, alpha=120, depth_test=DepthTest.ALWAYS)
ORDERED = Frame(WIDTH, HEIGHT, (9, 8, 7), (Draw("plain", soup(1, 3)), Draw("over", soup(2, 9), OVER)))
EXPECTED = draw_frame(ORDERED)
QUADS = quads_of(soup(2, 9), WIDTH, HEIGHT, 32)


@pytest.mark.parametrize("samples", [1, 4])
def test_a_frame_from_its_triangles_on(samples: int) -> None:
    frame = Frame(WIDTH, HEIGHT, (9, 8, 7), ORDERED.draws, samples)
    found = render_on_larrabee(frame, tile=32, cores=3, primset=2)
    assert found.picture.equals(draw_frame(frame))
    assert found.setup_cycles > 0
    assert found.raster_cycles.shape == found.back_end.cycles.shape
    assert (found.raster_cycles > 0).tolist() == (found.back_end.quads > 0).tolist()
    counted = sum(raster.descent.cycles.sum() for raster in found.rasters)
    assert found.raster_cycles.sum() == counted
    # Planes alone divide, in floats.
    fused = sum(raster.planes.instructions[VectorFamily.FUSED] for raster in found.rasters)
    assert 0 < fused == found.instructions[VectorFamily.FUSED] < found.instructions[VectorFamily.INTEGER]
    free = render_on_larrabee(frame, tile=32, free_setup=True)
    assert free.picture.equals(found.picture) and free.instructions[VectorFamily.FUSED] == free.plane_cycles == 0


@pytest.mark.parametrize("rule", [BinRule.BOX, BinRule.EDGES])
def test_how_tiles_are_chosen_changes_no_pixel(rule: BinRule) -> None:
    assert render_on_larrabee(ORDERED, tile=32, rule=rule).picture.equals(EXPECTED)


@pytest.mark.parametrize("cores", range(1, 49))
@pytest.mark.parametrize("primset", [1, 2, 3, 1000])
def test_the_order_of_a_tile_is_restored_for_any_number_of_cores(cores: int, primset: int) -> None:
    """Whoever took a PrimSet: the quads come to the back end in the order of drawing, to the last one."""
    triangles = ORDERED.draws[1].triangles
    bins = bin_triangles(triangles, WIDTH, HEIGHT, 32)
    taken = np.random.default_rng(cores).integers(0, cores, -(-len(triangles) // primset)).tolist()
    found = merged(QUADS, bins, len(triangles), primset, taken)
    for name in ("tile", "triangle", "x", "y", "masks"):
        assert np.array_equal(getattr(found, name), getattr(QUADS, name))


@pytest.mark.parametrize(("cores", "primset"), [(48, 1), (5, 2), ([3, 0, 2, 1, 0], 2)])
def test_the_picture_is_the_same_for_any_number_of_cores(cores, primset: int) -> None:
    assert render_on_larrabee(ORDERED, tile=32, cores=cores, primset=primset).picture.equals(EXPECTED)


def test_sub_bins_without_their_sequence_ids_would_give_another_picture() -> None:
    """What the tests above would see: core after core instead of PrimSet after PrimSet."""
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


def test_what_cannot_be_rendered_is_refused() -> None:
    four = Frame(8, 8, (0, 0, 0), (), 4)
    with pytest.raises(InputError, match="bins by BOX with 4 samples"):
        render_on_larrabee(four, rule=BinRule.BOX)
    with pytest.raises(InputError, match="PrimSets of 0"):
        render_on_larrabee(four, primset=0)
    one = Frame(WIDTH, HEIGHT, (0, 0, 0), (Draw("one", soup(1, 6)),))
    for cores, said in (
        (0, "0 cores"),
        (-1, "-1 cores"),
        (1.5, "1.5 cores"),
        ([], "0 cores for 3 PrimSets"),
        ([0, 1], "2 cores for 3 PrimSets"),
        ([0, -1, 5], "a PrimSet taken by core -1"),
        ([0, 1.5, 2], "a PrimSet taken by core 1.5"),
    ):
        with pytest.raises(InputError, match=said):
            render_on_larrabee(one, tile=32, primset=2, cores=cores)
    with pytest.raises(InputError, match="bins of 0 draws, and the frame has 1"):
        render_on_larrabee(one, tile=32, bins=[])


@pytest.mark.parametrize("count", [1, 17])
def test_a_triangle_beside_the_screen_takes_its_set_up_alone(count: int) -> None:
    """One thread, or two for seventeen triangles: no pair, no tile, and all instructions are those of set-up."""
    away = np.tile(np.array([[(-40, -40), (-30, -40), (-40, -30)]], float), (count, 1, 1))
    triangles = snap(away, np.zeros((count, 3)), np.zeros((count, 3, 3)))
    found = render_on_larrabee(Frame(4, 4, (0, 0, 0), (Draw("away", triangles),)), tile=32)
    (raster,) = found.rasters
    assert raster.pairs == found.back_end.cycles.sum() == 0
    threads = 1 if count == 1 else 2
    assert len(raster.set_up.cycles) == threads
    # Without a loop: every instruction of the program once a thread.
    assert sum(found.instructions.values()) == threads * len(shipped("setup.mc").addresses)
    assert found.setup_cycles == threads * raster.set_up.cycles[0] > 0
