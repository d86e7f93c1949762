"""Does the front end leave out only what cannot be seen?"""

import numpy as np
import pytest

from larrabee_bridge.pipeline.front_end import FrontEndResult, HierarchicalDepth
from pixelflow.simd.drawing import DEPTH_GUARD, FAR, Picture, State, draw
from tests.larrabee_front.meshes import colours, front_end, in_pixels, soup

WIDTH, HEIGHT, TILE = 100, 90, 32
COLUMNS, ROWS = 4, 3


def stack(count: int, size: float, seed: int) -> np.ndarray:
    """Return triangles at many depths, large enough to hide whole tiles: clip space."""
    rng = np.random.default_rng(seed)
    middle = rng.uniform((0, 0, 0.1), (WIDTH, HEIGHT, 0.9), (count, 1, 3))
    points = middle + rng.uniform(-1, 1, (count, 3, 3)) * (size, size, 0.05)
    return in_pixels(points, WIDTH, HEIGHT)


def by_tiles(result: FrontEndResult, before: Picture | None = None) -> Picture:
    """Draw each tile from its bin alone."""
    picture = Picture.empty(WIDTH, HEIGHT)
    for tile in range(COLUMNS * ROWS):
        row, column = divmod(tile, COLUMNS)
        part = np.s_[row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE]
        drawn = draw(result.triangles.part(result.bins.of(tile)), WIDTH, HEIGHT)
        picture.colours[part], picture.depths[part] = drawn.colours[part], drawn.depths[part]
    return picture


@pytest.mark.parametrize(("size", "primset", "threads"), [(40, 1000, 4), (400, 1000, 1), (400, 16, 4)])
def test_the_picture_stays_the_same(size: float, primset: int, threads: int) -> None:
    points = stack(32, size, int(size))
    how = {"tile": TILE, "primset": primset, "threads": threads}
    plain = soup(points, WIDTH, HEIGHT, **how)
    result = soup(points, WIDTH, HEIGHT, hierarchical=HierarchicalDepth(), **how)
    assert by_tiles(result).equals(draw(plain.triangles, WIDTH, HEIGHT))
    assert result.bins.entries + result.left_out == plain.bins.entries
    if size == 400:
        assert result.left_out > 10
    for tile in range(COLUMNS * ROWS):
        assert set(result.bins.of(tile).tolist()) <= set(plain.bins.of(tile).tolist())


def wall(depth: float) -> list[tuple[float, float, float]]:
    """Return a triangle that covers the whole screen."""
    return [(-10, -10, depth), (400, -10, depth), (-10, 400, depth)]


def test_behind_a_wall_nothing_goes_to_the_bins() -> None:
    """By hand: twelve tiles; what is drawn before the wall, and what is nearer, stays."""
    small = [(1.0, 1.0), (70.0, 1.0), (1.0, 70.0)]
    before, hidden, nearer = ([(*each, depth) for each in small] for depth in (0.9, 0.6, 0.4))
    rows = [before, wall(0.5), hidden, nearer]
    result = soup(in_pixels(rows, WIDTH, HEIGHT), WIDTH, HEIGHT, tile=TILE, hierarchical=HierarchicalDepth())
    assert result.bins.of(0).tolist() == [0, 1, 3] and result.left_out == 9
    assert result.bins.of(11).tolist() == [1]


def test_pieces_hide_and_are_hidden_too() -> None:
    """Walls that reach beyond the guard band are cut; what is behind them goes."""
    rows = [wall(0.7), wall(0.5), wall(0.6)]
    rows = [[(1000 * x, 1000 * y, z) for x, y, z in each] for each in rows]
    points = in_pixels(rows, WIDTH, HEIGHT)
    result = soup(points, WIDTH, HEIGHT, tile=TILE, hierarchical=HierarchicalDepth())
    plain = soup(points, WIDTH, HEIGHT, tile=TILE)
    assert result.cut == 3 and result.left_out >= 8
    assert by_tiles(result).equals(draw(plain.triangles, WIDTH, HEIGHT))


@pytest.mark.parametrize(("steps", "hidden"), [(2 * DEPTH_GUARD, True), (2 * DEPTH_GUARD - 1, False)])
def test_rounding_of_planes_is_allowed_for(steps: int, hidden: bool) -> None:
    """The wall may be drawn farther than its corners by the guard, and what follows nearer."""
    least = 1 << 22
    scale = FAR - 2 * DEPTH_GUARD
    depths = [(least - DEPTH_GUARD) / scale, (least + steps - DEPTH_GUARD) / scale]
    rows = [wall(depths[0]), [(1.0, 1, depths[1]), (9, 1, depths[1]), (1, 9, depths[1])]]
    result = soup(in_pixels(rows, WIDTH, HEIGHT), WIDTH, HEIGHT, tile=TILE, hierarchical=HierarchicalDepth())
    assert result.triangles.depths[:, 0].tolist() == [least, least + steps]
    assert result.left_out == int(hidden)


@pytest.mark.parametrize("missing", [(0, 0), (99, 89), (64, 31), (63, 32)])
def test_one_pixel_is_enough_to_see_through(missing: tuple[int, int]) -> None:
    """A wall with an edge that leaves out one pixel of a tile hides nothing there, and everything elsewhere."""
    x, y = missing[0] + 0.5, missing[1] + 0.5
    # The edge passes 0.3 pixels inside of its centre, slantwise, and cuts off that quarter's outer corner.
    across, down = (1 if missing[0] > WIDTH / 2 else -1), (1 if missing[1] > HEIGHT / 2 else -1)
    beside = np.array([x - 0.3 * across, y - 0.3 * down])
    along = 900 * np.array([across, -down])
    far = np.array([WIDTH / 2, HEIGHT / 2]) - 600 * np.array([across, down])
    first, second = beside + along, beside - along
    rows = [[(*first, 0.3), (*second, 0.3), (*far, 0.3)], wall(0.6)]
    result = soup(in_pixels(rows, WIDTH, HEIGHT), WIDTH, HEIGHT, tile=TILE, hierarchical=HierarchicalDepth())
    depths = draw(result.triangles.part(np.array([0])), WIDTH, HEIGHT).depths
    assert depths[missing[1], missing[0]] == FAR
    for tile in range(COLUMNS * ROWS):
        row, column = divmod(tile, COLUMNS)
        there = depths[row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE]
        assert (1 in result.bins.of(tile)) == (there == FAR).any(), tile


@pytest.mark.parametrize("seed", range(4))
def test_the_least_step_beside_a_long_edge_is_seen(seed: int) -> None:
    """An edge 10000 pixels long, whose value at a tile's outermost pixel centre is 1: outside by as little as can be.

    The products in it have 42 bits, more than a float32 holds.
    """
    rng = np.random.default_rng(seed)
    x, y = 63 * 256 + 128, 32 * 256 + 128
    share = 0.0
    while not 0.3 < share < 0.7:
        across, down = (int(each) for each in rng.integers(1 << 20, 1 << 21, 2))
        if np.gcd(across, down) == 1:
            # down * u - across * v = 1
            u = pow(down, -1, across)
            v = (down * u - 1) // across
            share = u / across
    corners = np.array([(x - u, y - v), (x - u + across, y - v + down), (-16000 * 256, 16000 * 256)])
    points = np.concatenate([corners / 256, np.full((3, 1), 0.3)], axis=1)
    result = soup(in_pixels([points, wall(0.6)], 128, 128), 128, 128, tile=TILE, hierarchical=HierarchicalDepth())
    assert result.triangles.corners[0].tolist() == corners.tolist()
    depths = draw(result.triangles.part(np.array([0])), 128, 128).depths[32:64, 32:64]
    assert np.argwhere(depths == FAR).tolist() == [[0, 31]]
    assert 1 in result.bins.of(5) and 1 not in result.bins.of(8)


def test_depths_of_tiles_may_come_from_before() -> None:
    """After a pass that filled depth, each tile's largest depth is known exactly."""
    before = soup(stack(30, 60, 1), WIDTH, HEIGHT, tile=TILE)
    picture = draw(before.triangles, WIDTH, HEIGHT)
    padded = np.zeros((ROWS * TILE, COLUMNS * TILE), np.int64)
    padded[:HEIGHT, :WIDTH] = picture.depths
    coarse = padded.reshape(ROWS, TILE, COLUMNS, TILE).max(axis=(1, 3)).reshape(-1)
    coarse[5] = 1 << 23
    points = stack(30, 10, 2)
    state = State(depth_write=False)
    how = {"hierarchical": HierarchicalDepth(state, coarse), "tile": TILE}
    result, plain = soup(points, WIDTH, HEIGHT, **how), soup(points, WIDTH, HEIGHT, tile=TILE)
    for tile in range(COLUMNS * ROWS):
        members = plain.bins.of(tile)
        kept = plain.triangles.depths[members].min(axis=1) - DEPTH_GUARD < coarse[tile]
        assert result.bins.of(tile).tolist() == members[kept].tolist()
    assert result.left_out > 0


def test_a_draw_that_writes_no_depth_hides_nothing() -> None:
    rows = in_pixels([wall(0.3), wall(0.6)], WIDTH, HEIGHT)
    silent = HierarchicalDepth(State(depth_write=False))
    assert soup(rows, WIDTH, HEIGHT, tile=TILE, hierarchical=HierarchicalDepth()).left_out == 12
    assert soup(rows, WIDTH, HEIGHT, tile=TILE, hierarchical=silent).left_out == 0


def test_nothing_is_tested_unless_asked() -> None:
    rows = in_pixels([wall(0.3), wall(0.6)], WIDTH, HEIGHT)
    positions, corners = rows.reshape(-1, 3), np.arange(6).reshape(2, 3)
    result = front_end(positions, colours(6), corners, np.eye(4), WIDTH, HEIGHT)
    assert result.left_out == 0 and result.bins.entries == 2 * 4
