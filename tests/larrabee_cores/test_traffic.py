"""Bytes of frames: binned mode exactly from counts, immediate mode against slow counts, both on known frames."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from larrabee_bridge.pipeline.back_end import render_back_end
from larrabee_bridge.pipeline.bins import Quads, quads_of
from larrabee_bridge.pipeline.traffic import (
    RenderTarget,
    TileSizes,
    TrafficConfig,
    accesses_of,
    bin_contents,
    binned_traffic,
    corners_of,
    default_targets,
    immediate_traffic,
)
from pixelflow.simd.drawing import (
    Blend,
    DepthTest,
    Draw,
    Frame,
    ScreenTriangles,
    State,
    Stencil,
    StencilStep,
    StencilTest,
    Texture,
    draw_frame,
    snap,
)
from pixelflow.simd.errors import InputError

WIDTH, HEIGHT = 100, 70


def scattered(count: int, size: float, seed: int) -> ScreenTriangles:
    rng = np.random.default_rng(seed)
    middle = rng.uniform((-10, -10), (WIDTH + 10, HEIGHT + 10), (count, 1, 2))
    points = middle + rng.uniform(-size, size, (count, 3, 2))
    colours = np.repeat(8 * rng.integers(1, 30, (count, 1, 3)), 3, axis=1)
    texels = rng.uniform(-20, 20, (count, 3, 2))
    return snap(points, rng.uniform(0, 1, (count, 3)), colours.astype(np.uint8), texels)


def rectangle(width: int, height: int, depth: float = 0.5, texels: float | None = None) -> ScreenTriangles:
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], float)
    points = corners[[[0, 1, 2], [0, 2, 3]]]
    coordinates = None if texels is None else points * texels
    return snap(points, np.full((2, 3), depth), np.full((2, 3, 3), 200, np.uint8), coordinates)


def contents_of(frame: Frame, tile: int = 64):
    found = [quads_of(draw.triangles, frame.width, frame.height, tile, frame.samples) for draw in frame.draws]
    return bin_contents(found, [len(draw.triangles) for draw in frame.draws])


def test_tiles_end_with_the_screen() -> None:
    assert TileSizes.of(100, 70, 64).pixels.tolist() == [64 * 64, 36 * 64, 64 * 6, 36 * 6]
    assert TileSizes.of(1600, 1200, 64).pixels.sum() == 1600 * 1200


@pytest.mark.parametrize("samples", [1, 4])
def test_targets_of_binned_mode_are_exact(samples: int) -> None:
    """A triangle in the first tile of six; 4 bytes a sample, of the tiles' pixels on the screen."""
    corner = snap(np.array([[[0, 0], [30, 0], [0, 30]]]), np.full((1, 3), 0.5), np.zeros((1, 3, 3), np.uint8))
    frame = Frame(150, 100, (0, 0, 0), (Draw("corner", corner),), samples)
    sizes, contents = TileSizes.of(150, 100, 64), contents_of(frame)
    every, filled = 150 * 100, 64 * 64

    def colour(config: TrafficConfig | None = None, **change: bool) -> tuple[int, int]:
        found = binned_traffic(sizes, contents, [RenderTarget("colour")._replace(**change)], config=config)
        return found.read["colour"], found.written["colour"]

    assert colour() == (0, filled * 4 * samples)
    assert colour(resolved=True) == (0, filled * 4)
    assert colour(TrafficConfig(clears_written=True)) == (0, every * 4 * samples)
    assert colour(TrafficConfig(clears_written=True), cleared=False)[1] == filled * 4 * samples
    assert colour(cleared=False) == (filled * 4 * samples, filled * 4 * samples)
    assert colour(needed=False) == (0, 0)
    usual = binned_traffic(sizes, contents, default_targets(samples))
    assert usual.targets == filled * 4


def test_no_tile_is_read_or_written_twice_whatever_is_drawn() -> None:
    """More triangles leave the bytes of targets as they are; those of bins grow."""
    sizes = TileSizes.of(WIDTH, HEIGHT, 64)
    targets = [RenderTarget("colour", cleared=False), RenderTarget("depth", cleared=False)]
    found = []
    for layers in (1, 2, 5, 20):
        everywhere = [Draw(str(n), rectangle(WIDTH, HEIGHT, 1 - n / layers)) for n in range(layers)]
        found.append(binned_traffic(sizes, contents_of(Frame(WIDTH, HEIGHT, (0, 0, 0), tuple(everywhere))), targets))
    assert {each.targets for each in found} == {4 * WIDTH * HEIGHT * 4}
    sums = [each.read["bins"] for each in found]
    assert sums == sorted(set(sums))


def test_bins_by_hand() -> None:
    """A rectangle of 20x16 pixels in one tile: its diagonal crosses five 4x4 blocks across, so the two triangles are
    counted block by block; a square that is one triangle's inside holds a whole block of 16x16."""
    config = TrafficConfig(entry_bytes=100, position_bytes=10, mask_bytes=1, vertex_bytes=7)
    big = snap(np.array([[[0, 0], [60, 0], [0, 60]]]), np.full((1, 3), 0.5), np.zeros((1, 3, 3), np.uint8))
    contents = contents_of(Frame(64, 64, (0, 0, 0), (Draw("big", big),)))
    # x + y <= 60 at the blocks' last pixels: blocks of 16 at (0, 0), (16, 0), (0, 16) lie inside (31 + 15 < 60), and
    # (16, 16) (31 + 31) does not; of the 4x4 blocks, 14 + 13 + ... + 1 are whole and 15 on the diagonal are not.
    assert contents.full_16 == 3
    assert contents.full_4 == 14 * 15 // 2 - 3 * 16
    assert contents.partial_4 == 15
    assert contents.bytes(config) == 100 + 10 * (3 + 57 + 15) + 15
    found = binned_traffic(TileSizes.of(64, 64, 64), contents, [], config=config)
    assert (found.written["bins"], found.read["bins"]) == (865, 865)
    assert (found.written["vertices"], found.read["vertices"]) == (21, 21)


def test_vertices_are_written_once_and_read_once_a_tile() -> None:
    """Two triangles with a common edge over four tiles: 4 vertices; in each tile those of the triangles in it."""
    frame = Frame(128, 128, (0, 0, 0), (Draw("both", rectangle(128, 128)),))
    contents = contents_of(frame)
    corners = corners_of(frame)
    assert [len(np.unique(corners)), len(np.unique(corners[0])), len(np.intersect1d(*corners))] == [4, 3, 2]
    found = binned_traffic(TileSizes.of(128, 128, 64), contents, [], corners=corners)
    # Both triangles lie in the tiles on the diagonal, one in each of the others: 4 + 3 + 3 + 4.
    assert contents.entries.tolist() == [[0, 0], [0, 1], [1, 0], [2, 1], [3, 0], [3, 1]]
    assert (found.written["vertices"], found.read["vertices"]) == (4 * 32, 14 * 32)


@pytest.mark.parametrize("apart", [False, True])
def test_corners_are_one_where_all_that_they_are_made_of_is_alike(apart: bool) -> None:
    """Corners from few places, depths, colours and texels, or from the ends of all ranges, which fill several words."""
    rng = np.random.default_rng(5)
    points = rng.choice([-16384.0, 3.5, 16383.0] if apart else [0.0, 1, 2, 3], (400, 3, 2))
    texels = rng.choice([-16383.0, 0.25, 16383.0], (400, 3, 2))
    depths, colours = rng.integers(0, 2, (400, 3)), rng.choice([0, 255], (400, 3, 3))
    first, second = snap(points, depths, colours, texels), snap(points[:50], depths[:50], colours[:50])
    frame = Frame(64, 64, (0, 0, 0), (Draw("first", first), Draw("second", second)))
    found = corners_of(frame).ravel().tolist()
    expected: dict[tuple, int] = {}
    made = []
    for number, part in enumerate((first, second)):
        for t, c in np.ndindex(len(part), 3):
            texel = () if part.coordinates is None else part.coordinates[t, c].tolist()
            place, colour = part.corners[t, c].tolist(), part.colours[t, c].tolist()
            made.append((number, *place, int(part.depths[t, c]), *colour, *texel))
    for corner, vertex in zip(made, found, strict=True):
        assert expected.setdefault(corner, vertex) == vertex
    assert sorted(expected.values()) == list(range(len(expected)))


def test_triangles_are_numbered_through_all_draws() -> None:
    """Three squares over each other on one tile: six entries, and twelve vertices, four of each square."""
    frame = Frame(64, 64, (0, 0, 0), tuple(Draw(str(n), rectangle(64, 64, n / 4)) for n in (3, 2, 1)))
    contents = contents_of(frame)
    assert contents.entries.tolist() == [[0, number] for number in range(6)]
    found = binned_traffic(TileSizes.of(64, 64, 64), contents, [], corners=corners_of(frame))
    assert found.written["vertices"] == found.read["vertices"] == 12 * 32
    # Each triangle of a square has six whole blocks of 16x16, and on its diagonal four with six whole blocks of 4x4
    # and four that the diagonal cuts.
    assert (contents.full_16, contents.full_4, contents.partial_4) == (6 * 6, 6 * 24, 6 * 16)
    assert found.written["bins"] == 6 * (16 + (6 + 24 + 16) * 2 + 16 * 2)


def test_counts_of_draws_fit_their_quads() -> None:
    frame = Frame(64, 64, (0, 0, 0), ())
    quads = quads_of(rectangle(9, 9), frame.width, frame.height)
    with pytest.raises(InputError, match="quads of 2 draws, and triangles of 0"):
        bin_contents([quads, quads])
    with pytest.raises(InputError, match="quads of triangle 1, and its draw has 1"):
        bin_contents([quads, quads], [1, 2])


def test_masks_of_four_samples_by_hand() -> None:
    """A block is whole where all samples of all pixels are covered; others have a mask for each sample."""
    whole, less = [0xFFFF] * 4, [0xFFFF, 0xFFFF, 0xFFFF, 0x7FFF]
    zero = np.zeros(2, np.int64)
    contents = bin_contents([Quads(zero, zero, np.array([0, 4]), zero, np.array([whole, less], np.uint16))])
    assert (contents.full_16, contents.full_4, contents.partial_4, contents.samples) == (0, 1, 1, 4)
    config = TrafficConfig(entry_bytes=100, position_bytes=10, mask_bytes=1)
    assert contents.bytes(config) == 100 + 2 * 10 + 4 * 1


HOLES = np.full((16, 16, 4), 255, np.uint8)
HOLES[..., 3] = np.random.default_rng(1).choice([0, 255], (16, 16))

STATES = {
    "plain": State(),
    "no depth write": State(depth_write=False),
    "always": State(depth_test=DepthTest.ALWAYS),
    "over": State(blend=Blend.OVER, alpha=128, depth_write=False),
    "volume": State(
        colour_write=False,
        depth_write=False,
        stencil=Stencil(hidden=StencilStep.UP),
    ),
    "cutout": State(texture=Texture(HOLES), cutout=128),
    "where equal": State(stencil=Stencil(test=StencilTest.EQUAL, reference=1, passed=StencilStep.ZERO)),
    "where different": State(stencil=Stencil(test=StencilTest.DIFFERENT, reference=0, failed=StencilStep.UP)),
}


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize(
    "names", [("plain", "over"), ("plain", "cutout"), ("plain", "volume", "where equal"), tuple(STATES)]
)
def test_blocks_that_are_written_are_those_where_the_picture_changes(samples: int, names: tuple[str, ...]) -> None:
    """The frame is drawn triangle by triangle, by the reference; what differs afterwards was written.

    At four samples its depth is the first sample's: only colours are compared there.
    """
    triangles = scattered(14, 30, len(names) + samples)
    parts = [triangles.part(np.array([number])) for number in range(len(triangles))]
    draws = tuple(Draw(names[n % len(names)], part, STATES[names[n % len(names)]]) for n, part in enumerate(parts))
    frame = Frame(WIDTH, HEIGHT, (0, 0, 0), draws, samples)
    found = accesses_of(frame)
    assert (np.diff(found.triangle) >= 0).all()
    before = draw_frame(replace(frame, draws=()))
    for number in range(len(draws)):
        after = draw_frame(replace(frame, draws=draws[: number + 1]))
        mine = found.triangle == number
        changed = (after.colours != before.colours).any(axis=-1)
        assert set(found.block[mine & found.colour_written].tolist()) == blocks(changed)
        if samples == 1 and draws[number].state.stencil is None:
            assert set(found.block[mine & found.depth_written].tolist()) == blocks(after.depths != before.depths)
        before = after
    assert not (found.colour_read & ~found.colour_written).any()
    assert found.colour_read.any() == ("over" in names)


def blocks(changed: np.ndarray) -> set[int]:
    row, column = np.nonzero(changed)
    return set((row // 4 * (WIDTH // 4) + column // 4).tolist())


def test_what_each_state_touches() -> None:
    """One rectangle over another: of 12x8 pixels, six blocks; behind it, before it."""

    def second(state: State, depth: float) -> dict[str, int]:
        draws = (Draw("first", rectangle(12, 8)), Draw("second", rectangle(12, 8, depth), state))
        found = accesses_of(Frame(16, 16, (0, 0, 0), draws))
        mine = found.triangle >= 2
        names = ("depth_read", "depth_written", "colour_read", "colour_written")
        return {name: len(np.unique(found.block[mine & getattr(found, name)])) for name in names}

    assert list(second(STATES["plain"], 0.25).values()) == [6, 6, 0, 6]
    assert list(second(STATES["plain"], 0.75).values()) == [0, 0, 0, 0]
    assert list(second(STATES["over"], 0.25).values()) == [6, 0, 6, 6]
    assert list(second(STATES["always"], 0.75).values()) == [0, 6, 0, 6]
    # A volume counts where it is hidden, so nothing may be dropped before the depth is read.
    assert list(second(STATES["volume"], 0.75).values()) == [6, 6, 0, 0]
    assert list(second(STATES["volume"], 0.25).values()) == [6, 0, 0, 0]
    assert list(second(STATES["where equal"], 0.25).values()) == [6, 0, 0, 0]
    # The stencil lies beside the depth: it is read where that is not.
    alone = State(depth_test=DepthTest.ALWAYS, depth_write=False, stencil=Stencil(test=StencilTest.EQUAL, reference=1))
    assert list(second(alone, 0.75).values()) == [6, 0, 0, 0]


@pytest.mark.parametrize("samples", [1, 4])
def test_a_screen_drawn_once_in_immediate_mode(samples: int) -> None:
    """128x64 pixels once: each block's depth is read and written, its colour written, at the printed compression.

    Blocks on the diagonal belong to both triangles, and the cache joins their accesses.
    """
    frame = Frame(128, 64, (0, 0, 0), (Draw("all", rectangle(128, 64)),), samples)
    found = immediate_traffic(accesses_of(frame))
    depth, colour = (128 * 64 * 4 * samples // times for times in ((4, 2) if samples == 1 else (8, 4)))
    assert (found.read["depth"], found.written["depth"], found.written["colour"]) == (depth, depth, colour)
    assert found.read["colour"] == found.read["texture"] == 0
    cleared = immediate_traffic(accesses_of(frame), TrafficConfig(fast_clear=True))
    assert cleared.read["depth"] == 0
    assert cleared.total == found.total - depth


def test_texture_lines_once_with_a_cache_and_again_without() -> None:
    """One texel a pixel on a texture of 64x32: 128 lines of 4x4 texels; drawn twice, from front to back and back."""
    texture = Texture(np.full((32, 64, 4), 255, np.uint8))
    state = State(texture=texture)
    near, far = (Draw("x", rectangle(64, 32, depth, texels=1.0), state) for depth in (0.2, 0.8))

    def bytes_read(*draws: Draw, cache: int) -> int:
        accesses = accesses_of(Frame(64, 32, (0, 0, 0), draws))
        return immediate_traffic(accesses, TrafficConfig(texture_cache=cache)).read["texture"]

    assert bytes_read(far, cache=1 << 17) == 128 * 64
    assert bytes_read(far, near, cache=1 << 17) == 128 * 64
    assert bytes_read(far, near, cache=1 << 11) > 2 * 128 * 64 - (1 << 11)
    # What is hidden reads no texture.
    assert bytes_read(near, far, cache=1 << 11) == bytes_read(near, cache=1 << 11)


def test_textures_lie_apart() -> None:
    """Two textures of a line each, over the same pixels."""
    draws = tuple(
        Draw("x", rectangle(64, 32, depth, texels=1.0), State(texture=Texture(np.full((4, 4, 4), 255, np.uint8))))
        for depth in (0.8, 0.2)
    )
    assert immediate_traffic(accesses_of(Frame(64, 32, (0, 0, 0), draws))).read["texture"] == 2 * 64


NOISE = Texture(np.random.default_rng(9).integers(0, 256, (64, 64, 4)).astype(np.uint8))
DARK = {"colour_write": False}


@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize(
    ("state", "asks"),
    [
        (State(texture=NOISE), True),
        (State(texture=NOISE, **DARK), False),
        (State(texture=NOISE, cutout=100, **DARK), True),
        (State(texture=NOISE, stencil=Stencil(test=StencilTest.EQUAL, reference=1)), False),
        (State(texture=NOISE, stencil=Stencil(test=StencilTest.EQUAL, reference=0, hidden=StencilStep.UP)), True),
    ],
)
def test_texels_are_read_where_the_back_end_asks_for_them(state: State, asks: bool, samples: int) -> None:
    """One square with one texel a pixel, a half of which lies behind another one."""
    front = Draw("front", rectangle(16, 32, 0.2))
    square = Draw("square", rectangle(32, 32, 0.5, texels=1.0), state)
    frame = Frame(32, 32, (0, 0, 0), (front, square), samples)
    found = accesses_of(frame, 32)
    unit = render_back_end(frame, tile=32).texture
    # A cutout's texel comes before its depth in the back end, and behind perfect hierarchical depth here.
    assert (len(found.lines) > 0) == (unit.misses.sum() > 0) == asks
    if asks and not state.cutout:
        read = binned_traffic(TileSizes.of(32, 32, 32), contents_of(frame, 32), [], accesses=found).read["texture"]
        assert len(found.lines) == unit.hits.sum() + unit.misses.sum()
        assert read == unit.bytes.sum()


def test_a_cutout_reads_texture_and_may_leave_the_rest_alone() -> None:
    texels = np.full((32, 64, 4), 255, np.uint8)
    texels[:, 32:, 3] = 0
    draw = Draw("fence", rectangle(64, 32, 0.5, texels=1.0), State(texture=Texture(texels), cutout=255))
    found = accesses_of(Frame(64, 32, (0, 0, 0), (draw,)))
    assert len(np.unique(found.lines)) == 128
    assert set((found.block[found.colour_written] % 16).tolist()) == set(range(8))


def test_each_tile_begins_with_an_empty_texture_cache() -> None:
    """A texture of one line on four tiles: a line for each."""
    texture = Texture(np.full((4, 4, 4), 255, np.uint8))
    frame = Frame(128, 128, (0, 0, 0), (Draw("x", rectangle(128, 128, texels=1.0), State(texture=texture)),))
    accesses = accesses_of(frame)
    found = binned_traffic(TileSizes.of(128, 128, 64), contents_of(frame), [], accesses=accesses)
    assert found.read["texture"] == 4 * 64
    assert immediate_traffic(accesses).read["texture"] == 64


def test_a_frame_of_nothing() -> None:
    found = accesses_of(Frame(64, 64, (0, 0, 0), ()))
    assert len(found) == 0
    assert immediate_traffic(found).total == 0
