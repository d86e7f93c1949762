"""Do the EMCs cut triangles by the near plane and the guard band as Sutherland and Hodgman do?"""

import numpy as np
import pytest

from pixelflow.config import TINY
from pixelflow.node import Node
from pixelflow.simd.drawing import DEPTH_GUARD, FAR, ScreenTriangles, doubled_areas, draw
from tessellation import LIBRARIES, load
from tessellation.picture import Standpoint, View
from tessellation.plan.memory_map import memory_map
from tessellation.rendering import Projection
from tessellation.rendering.instruction_words import InstructionWords, draw_words, generate_words
from tessellation.rendering.projection import sampled_points
from tessellation.rendering.word_clipping import Clipping, ClipPlane, clip_program
from tessellation.rendering.word_sending import WordPlaces

GREY = (222, 224, 230)
F = np.float32
PLAIN = Projection(np.zeros((3, 4), F), F([160, 120]), F([-0.5, 1]))


def cut(records: list[list[float]], planes: tuple[ClipPlane, ...], near: float, reach: float) -> np.ndarray:
    """Cut a triangle given as X, Y, W, red, green, blue a corner; return corners: x, y in pixels, depth, colour."""
    places = WordPlaces.after(memory_map(4, 4), len(planes))
    node = Node(TINY)
    for slot, record in enumerate(records):
        at = places.corners + 15 * slot
        for index, value in enumerate(record[:3]):
            node.write_float(at + 4 * index, np.full(node.lanes, value, F))
        node.write_memory(at + 12, np.tile(np.uint8(record[3:])[:, None], (1, node.lanes)))
    node.run(clip_program(places, Clipping(planes, near, reach), PLAIN, LIBRARIES["tuned"]))
    found = []
    for slot in range(places.slots):
        data = node.read_memory(places.corners + 12 * slot, 12)[:, 0].astype(int).tolist()
        x, y, z = (sum(data[at + index] << 8 * index for index in range(3)) for at in (0, 3, 6))
        x, y = (each - (each >> 23 << 24) for each in (x, y))
        found.append([x / 256, y / 256, z, *data[9:]])
    return np.array(found)


def depth_of(w: float) -> int:
    """The depth that the camera above gives: 1 - 1 / 2W, in steps."""
    return DEPTH_GUARD + round((1 - 0.5 / w) * (FAR - 2 * DEPTH_GUARD))


def test_one_corner_before_the_near_plane_by_hand() -> None:
    # Distances from W = 2: 2, 2 and -2. The edges to the last corner are cut in their middles.
    records = [[64, 0, 4, 100, 0, 50], [0, 32, 4, 200, 10, 50], [0, 0, 0, 0, 255, 50]]
    found = cut(records, (ClipPlane.NEAR,), 2, 1e4)
    assert found.tolist() == [
        [160 + 16, 120, depth_of(4), 100, 0, 50],
        [160, 120 + 8, depth_of(4), 200, 10, 50],
        [160, 120 + 8, depth_of(2), 100, 133, 50],  # (0, 16, 2); 10 + 245 / 2 = 132.5, halves upwards
        [160 + 16, 120, depth_of(2), 50, 128, 50],  # (32, 0, 2); 255 / 2 = 127.5
    ]


def test_two_corners_before_the_near_plane_by_hand() -> None:
    # Corner 1 alone is inside: it comes first, then the cut of the edge from it, twice, and that of the edge to it.
    records = [[0, 0, 1, 0, 0, 0], [64, 64, 5, 80, 160, 240], [0, 32, 1, 0, 0, 0]]
    found = cut(records, (ClipPlane.NEAR,), 2, 1e4)
    # A quarter of the way from a corner at W = 1 to the one at W = 5: (16, 16) and (16, 40) at W = 2, a quarter of the
    # colour.
    first = [160 + 64 / 5, 120 + 64 / 5, depth_of(5), 80, 160, 240]
    assert found[0].tolist() == pytest.approx(first, abs=1 / 512)
    to_third, to_first = [160 + 8, 120 + 20, depth_of(2), 20, 40, 60], [160 + 8, 120 + 8, depth_of(2), 20, 40, 60]
    assert found[1:].tolist() == [to_third, to_third, to_first]


def test_what_is_inside_stays_and_what_is_outside_goes() -> None:
    records = [[8, 0, 4, 1, 2, 3], [0, 8, 4, 4, 5, 6], [0, 0, 8, 7, 8, 9]]
    inside = cut(records, (ClipPlane.NEAR, ClipPlane.RIGHT), 2, 100)
    expected = [
        [162, 120, depth_of(4), 1, 2, 3], [160, 122, depth_of(4), 4, 5, 6], [160, 120, depth_of(8), 7, 8, 9],
    ]  # fmt: skip
    # The slots of both planes hold the last corner again.
    assert inside.tolist() == [*expected, expected[2], expected[2]]
    outside = cut([[each[0], each[1], each[2] / 8, *each[3:]] for each in records], (ClipPlane.NEAR,), 2, 100)
    assert (outside == outside[0]).all()


def test_the_guard_band_by_hand() -> None:
    # X is at most 100 W: the edges from (0, 0, 1) and (0, 100, 1) to (400, 0, 1) are cut at a quarter of them.
    records = [[0, 0, 1, 0, 0, 0], [400, 0, 1, 40, 80, 4], [0, 100, 1, 0, 0, 0]]
    found = cut(records, (ClipPlane.RIGHT,), 0.1, 100)
    near = depth_of(1)
    # The polygon is turned so that the corner after the one outside comes first.
    expected = [[160, 220, near, 0, 0, 0], [160, 120, near, 0, 0, 0]]
    assert found.tolist() == [*expected, [260, 120, near, 10, 20, 1], [260, 195, near, 10, 20, 1]]


def close_by(name: str, samples: int, share: float, near: float) -> tuple[list, View]:
    """Return patches, and a camera that has moved by a share of its way to their middle."""
    patches = load(name).patches
    points = sampled_points(patches, samples, single=True)
    standpoint = Standpoint.of(points, View(width=160, height=120))
    low, high = points.min(axis=0), points.max(axis=0)
    away = standpoint.origin + standpoint.extent * standpoint.camera.eye
    eye = away + share * ((low + high) / 2 - away)
    look_at = eye - standpoint.camera.axes[2]
    return patches, View(width=160, height=120, eye=tuple(eye), look_at=tuple(look_at), near=near * standpoint.extent)


def host_way(tessellation, words: InstructionWords, samples: int) -> ScreenTriangles:
    """Cut, divide and round the samples of patches here, triangle after triangle, in binary32."""
    matrix, middle, depth = (getattr(Projection.of(words.standpoint), name) for name in ("matrix", "middle", "depth"))
    columns = {}
    for plan in tessellation.plans:
        columns |= {place.patch: place for place in plan.work.placements}
    found = []
    for number, patch in enumerate(tessellation.patches):
        points = patch.points.reshape(-1, 3)
        rows = (((r[0] * points[:, 0] + r[1] * points[:, 1]) + r[2] * points[:, 2]) + r[3] for r in matrix)
        clip = np.stack(list(rows), axis=-1).reshape(samples, samples, 3)
        first = number * samples**2
        colours = words.colours[first : first + samples**2].astype(int).reshape(samples, samples, 3)
        place = columns[number]
        for i in range(samples - 1):
            for j in range(samples - 1):
                for half, others in enumerate((((1, 0), (1, 1)), ((1, 1), (0, 1)))):
                    corners = [(i, j), *((i + a, j + b) for a, b in others)]
                    polygon = [(clip[at], colours[at]) for at in corners]
                    for plane in words.clipping.planes:
                        polygon = sutherland_hodgman(polygon, plane, words.clipping)
                    order = (128 * (place.y + j) + place.x + i, half)
                    screen = [on_screen(each, middle, depth) for each in polygon]
                    found += [(order, (screen[0], *screen[at : at + 2])) for at in range(1, len(screen) - 1)]
    values = np.array([corners for _, corners in sorted(found, key=lambda each: each[0])])
    turned = doubled_areas(values[..., :2]) < 0
    values[turned, 1:] = values[turned, :0:-1]
    kept = values[doubled_areas(values[..., :2]) != 0]
    return ScreenTriangles(kept[..., :2], kept[..., 2], kept[..., 3:])


def distance(corner: np.ndarray, plane: ClipPlane, clipping: Clipping) -> np.float32:
    x, y, w = corner
    if plane is ClipPlane.NEAR:
        return w - F(clipping.near)
    value = x if plane in (ClipPlane.LEFT, ClipPlane.RIGHT) else y
    band = w * F(clipping.reach)
    return band + value if plane in (ClipPlane.LEFT, ClipPlane.TOP) else band - value


def sutherland_hodgman(polygon: list, plane: ClipPlane, clipping: Clipping) -> list:
    """Cut a polygon; what comes out begins with the corner after the last one outside."""
    away = [distance(corner, plane, clipping) for corner, _ in polygon]
    if all(each < 0 for each in away):
        return []
    found, begin = [], 0
    for at, (one, two) in enumerate(zip(away, [*away[1:], away[0]], strict=True)):
        following = (at + 1) % len(polygon)
        if one >= 0:
            found.append(polygon[at])
        if (one < 0) != (two < 0):
            inner, outer = (at, following) if one >= 0 else (following, at)
            share = away[inner] / (away[inner] - away[outer])
            (a, c), (b, d) = polygon[inner], polygon[outer]
            corner = a + (b - a) * share
            if plane is ClipPlane.NEAR:
                corner[2] = F(clipping.near)
            steps = int(np.rint(share * F(65536)))
            found.append((corner, c + ((d - c) * steps + 32768 >> 16)))
            begin = len(found) if one < 0 else begin
    return found[begin:] + found[:begin]


def on_screen(each: tuple[np.ndarray, np.ndarray], middle: np.ndarray, depth: np.ndarray) -> tuple[int, ...]:
    (x, y, w), colour = each
    inverse = F(1) / w
    place = [int(np.rint(np.float64(value * inverse + half) * 256)) for value, half in zip((x, y), middle, strict=True)]
    steps = (inverse * depth[0] + depth[1]) * F(FAR - 2 * DEPTH_GUARD)
    return (*place, DEPTH_GUARD + int(np.rint(steps)), *colour.tolist())


@pytest.mark.parametrize(
    ("name", "share", "near", "planes"),
    [
        pytest.param("enneper", 0.6, 0.5, 1, marks=pytest.mark.slow),
        pytest.param("teapot", 0.6, 0.5, 1, marks=pytest.mark.slow),  # the front is cut away
        pytest.param(
            "teapot", 0.97, 0.005, 3, marks=pytest.mark.slow
        ),  # the eye is inside, the guard band cuts as well
        pytest.param("teapot", 0.97, 0.001, 5, marks=pytest.mark.slow),
    ],
)
def test_the_picture_is_that_of_the_host(name: str, share: float, near: float, planes: int) -> None:
    patches, view = close_by(name, 4, share, near)
    tessellation, words = generate_words(patches, 4, view)
    assert len(words.clipping.planes) == planes
    expected = host_way(tessellation, words, 4)
    uncut = sum(patch.samples**2 - 2 * patch.samples + 1 for patch in tessellation.patches) * 2
    assert len(expected) != uncut
    assert len(expected) == len(words.triangles)
    picture = draw_words(words, background=GREY).picture
    assert picture.equals(draw(expected, 160, 120, GREY))
    assert (picture.colours != GREY).any()
