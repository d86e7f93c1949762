"""Do the EMCs make the very words of instructions that the host makes, and of coefficients that others can check?"""

import json
from fractions import Fraction
from math import floor

import numpy as np
import pytest

from pixelflow.cli.main import main
from pixelflow.config import THESIS, TINY
from pixelflow.node import Node
from pixelflow.simd.drawing import ScreenTriangles, doubled_areas, draw, edges_of, planes_of
from pixelflow.simd.errors import InputError
from tessellation import Method, load
from tessellation.picture import View
from tessellation.plan.memory_map import memory_map
from tessellation.rendering.instruction_words import (
    draw_words,
    generate_words,
    setup_program,
    triangle_program,
    word_programs,
)
from tessellation.rendering.instructions import TriangleData, region_program, regions
from tessellation.rendering.projection import sampled_points
from tessellation.rendering.word_sending import PART_BYTES, PARTS, WordPlaces

PLACES = WordPlaces.after(memory_map(4, 4))
EDGES, PLANES, REACH = (PLACES.coefficients + at for at in (0, 33, 72))
PLANE_BYTES = (4, 3, 3, 3)
WIDTH, HEIGHT = 640, 480
GREY = (222, 224, 230)


def write(node: Node, at: int, values: np.ndarray, size: int) -> None:
    for index in range(size):
        node.write_memory(at + index, (values >> 8 * index & 255).astype(np.uint8)[None])


def read(node: Node, at: int, size: int, *, signed: bool) -> np.ndarray:
    found = sum(byte.astype(np.int64) << 8 * index for index, byte in enumerate(node.read_memory(at, size)))
    return found - (found >> 8 * size - 1 << 8 * size) if signed else found


def set_up(corners: np.ndarray, depths: np.ndarray, colours: np.ndarray, config=THESIS, engine: str = "auto") -> Node:
    """Set up a triangle in each PE; arrays are those of `ScreenTriangles`, one row a PE."""
    node = Node(config, engine)
    for corner in range(3):
        at = PLACES.corners + 12 * corner
        for axis in range(2):
            write(node, at + 3 * axis, corners[:, corner, axis], 3)
        write(node, at + 6, depths[:, corner], 3)
        for channel in range(3):
            write(node, at + 9 + channel, colours[:, corner, channel], 1)
    write(node, PLACES.marks + 3, np.ones(node.lanes, np.int64), 1)
    node.run(triangle_program(PLACES, (0, 1, 2)))
    node.run(setup_program(PLACES, WIDTH, HEIGHT))
    return node


def coefficients(node: Node) -> tuple[np.ndarray, np.ndarray]:
    """Return edges, int64[lane, edge, a b c], and planes, int64[lane, plane, a b c]."""
    edges = [
        [read(node, EDGES + 11 * edge + at, size, signed=True) for at, size in ((0, 3), (3, 3), (6, 5))]
        for edge in range(3)
    ]
    planes, at = [], PLANES
    for size in PLANE_BYTES:
        planes.append([read(node, at + size * index, size, signed=False) for index in range(3)])
        at += 3 * size
    return np.array(edges).transpose(2, 0, 1), np.array(planes).transpose(2, 0, 1)


def many() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Triangles of all sizes: as in pictures, as large as coordinates can be, and a few 1/256 pixel small."""
    rng = np.random.default_rng(5)
    lanes, half = THESIS.lanes, THESIS.lanes // 2
    corners = rng.integers(-(1 << 22), 1 << 22, (lanes, 3, 2))
    corners[:half] = rng.integers(-20000, 180000, (half, 1, 2)) + rng.integers(-3000, 3000, (half, 3, 2))
    corners[half : half + 500] = rng.integers(0, 3, (500, 3, 2))
    corners[-1] = [(-(1 << 22), -(1 << 22)), ((1 << 22) - 1, -(1 << 22)), (-(1 << 22), (1 << 22) - 1)]
    depths = rng.integers(128, (1 << 24) - 128, (lanes, 3))
    return corners, depths, rng.integers(0, 256, (lanes, 3, 3))


def turned(*values: np.ndarray) -> tuple[np.ndarray, ...]:
    """Turn triangles that run the other way, as `snap` does; the first array holds the corners."""
    found = tuple(each.copy() for each in values)
    other = doubled_areas(found[0]) < 0
    for each in found:
        each[other, 1:] = each[other, :0:-1]
    return found


def test_a_triangle_by_hand() -> None:
    # Corners (2, 1), (10, 1), (2, 5) pixels: area 8 x 4 / 2. Depth rises by 64 a pixel to the right and by 256 a pixel
    # downwards, red falls by 20 a pixel downwards, green and blue stay.
    corners = np.tile(np.array([(2, 1), (10, 1), (2, 5)]) * 256, (TINY.lanes, 1, 1))
    depths = np.tile([1000, 1512, 2024], (TINY.lanes, 1))
    colours = np.tile([(100, 7, 9), (100, 7, 9), (20, 7, 9)], (TINY.lanes, 1, 1))
    edges, planes = coefficients(set_up(corners, depths, colours, TINY))
    # From (2, 1) to (10, 1), a top edge: 0 x - 2048 (y + 1/2 - 1) less the 1 that owns it, over 256: rounded down.
    assert edges[0, 0].tolist() == [0, -2048, -2048 * -128 // 256 - 1]
    # From (10, 1) to (2, 5): dy = 1024, dx = -2048.
    assert edges[0, 1].tolist() == [1024, 2048, (1024 * (128 - 2560) + 2048 * (128 - 256)) // 256]
    # From (2, 5) to (2, 1), a left edge.
    assert edges[0, 2].tolist() == [-1024, 0, (-1024 * (128 - 512) - 1) // 256]
    # Depth at (1/2, 1/2): 1000 - 1.5 x 64 - 0.5 x 256 = 776, in 1/256, and half a step.
    assert planes[0, 0].tolist() == [64 * 256, 256 * 256, 776 * 256 + 128]
    # Red there: 100 + 0.5 x 20 = 110, in 1/65536; its slope downwards is negative, modulo 2^24.
    assert planes[0, 1].tolist() == [0, (1 << 24) - 20 * 65536, 110 * 65536 + 32768]
    assert planes[0, 2].tolist() == [0, 0, 7 * 65536 + 32768]


def test_coefficients_are_those_of_the_host() -> None:
    given = many()
    node = set_up(*given)
    kept = doubled_areas(given[0]) != 0
    triangles = ScreenTriangles(*(each[kept] for each in turned(*given)))
    edges, planes = coefficients(node)
    for found, expected in ((edges, edges_of(triangles)), (planes, planes_of(triangles))):
        assert (found[kept] == np.stack([expected.a, expected.b, expected.c], axis=-1)).all()
    lanes = np.flatnonzero(kept)
    accepted, pairs = np.zeros(THESIS.lanes, bool), 0
    reach = node.read_memory(REACH, 7).astype(int)
    for region in regions(triangles, WIDTH, HEIGHT):
        there = lanes[region.triangles]
        accepted[there] = True
        pairs += len(there)
        column, row = region.left // 128, region.top // 64
        assert ((reach[0] <= column) & (column <= reach[1]) & (reach[2] <= row) & (row <= reach[3]))[there].all()
    assert (accepted == (reach[6] == 1)).all()
    boxes = (reach[1] - reach[0] + 1) * (reach[3] - reach[2] + 1)
    assert boxes[accepted].sum() == pairs


@pytest.mark.parametrize(
    "engine", ["rows", "macro", *(pytest.param(each, marks=pytest.mark.slow) for each in ("compiled", "bit-serial"))]
)
def test_every_engine_makes_the_same_coefficients(engine: str) -> None:
    given = tuple(each[-TINY.lanes :] for each in many())
    node = set_up(*given, TINY, engine)
    triangles = ScreenTriangles(*turned(*given))
    edges, planes = coefficients(node)
    for found, expected in ((edges, edges_of(triangles)), (planes, planes_of(triangles))):
        assert (found == np.stack([expected.a, expected.b, expected.c], axis=-1)).all()


def test_planes_are_those_of_exact_fractions() -> None:
    given = many()
    _, planes = coefficients(set_up(*given))
    corners, depths, colours = turned(*given)
    lanes = [lane for lane in range(0, THESIS.lanes, 251) if doubled_areas(corners[lane : lane + 1])[0]]
    assert len(lanes) > 25
    for lane in lanes:
        (x0, y0), (x1, y1), (x2, y2) = corners[lane].tolist()
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        left, top = min(x0, x1, x2) // 256, min(y0, y1, y2) // 256
        values = [depths[lane].tolist(), *colours[lane].T.tolist()]
        for plane, (bits, step) in enumerate(((32, 256), (24, 65536), (24, 65536), (24, 65536))):
            v0, v1, v2 = values[plane]
            across = Fraction((v1 - v0) * (y2 - y0) - (v2 - v0) * (y1 - y0), area)
            down = Fraction((v2 - v0) * (x1 - x0) - (v1 - v0) * (x2 - x0), area)
            there = v0 + across * (256 * left + 128 - x0) + down * (256 * top + 128 - y0)
            a, b, anchor = (floor(value * step + Fraction(1, 2)) for value in (256 * across, 256 * down, there))
            expected = [each % (1 << bits) for each in (a, b, anchor - a * left - b * top + step // 2)]
            assert planes[lane, plane].tolist() == expected


@pytest.mark.parametrize(
    ("name", "samples", "size", "method"),
    [
        pytest.param("teapot", 4, (320, 240), Method(), marks=pytest.mark.slow),  # 12 regions; patches inside a panel
        ("enneper", 5, (200, 150), Method()),  # squares of 8: neighbours in other panels
        pytest.param("enneper", 16, (130, 70), Method(schedule="shared-columns"), marks=pytest.mark.slow),
        pytest.param("enneper", 9, (96, 64), Method(gps=2, results="gp"), marks=pytest.mark.slow),
    ],
)
def test_words_are_those_of_the_host(name: str, samples: int, size: tuple[int, int], method: Method) -> None:
    view = View(width=size[0], height=size[1])
    _, words = generate_words(load(name).patches, samples, view, method=method)
    triangles = words.triangles
    plain = np.zeros(len(triangles), bool)
    data = TriangleData(edges_of(triangles), planes_of(triangles), plain, None, plain)
    programs = zip(regions(triangles, *size), word_programs(words, GREY), strict=True)
    for expected, (region, found) in programs:
        assert (region.left, region.top) == (expected.left, expected.top)
        assert found.words == region_program(data, expected, GREY).words
    assert draw_words(words, background=GREY).picture.equals(draw(triangles, *size, GREY))
    # 240 bytes of 256 are words: 59 of them, and a header.
    assert words.bytes_sent == len(words.words) * PARTS * PART_BYTES == 256 * len(words.words)
    assert words.light.steps <= 1


def test_what_is_rejected_sends_nothing() -> None:
    # A magnified picture: most of the surface lies outside, and the longest time on the path is that of what is inside.
    patches = load("enneper").patches
    _, whole = generate_words(patches, 4, View(width=96, height=64))
    _, part = generate_words(patches, 4, View(width=96, height=64, zoom=6))
    assert (whole.accepted, whole.cells) == (72, 72)
    assert part.accepted < 40
    stage = "words to the GPs"
    assert {name for run in part.runs if run.beside for name in run.beside.by_stage} == {stage}
    assert part.cycles_by_stage[stage] < whole.cycles_by_stage[stage] - 2000
    assert draw_words(part).picture.equals(draw(part.triangles, 96, 64))


@pytest.mark.slow
def test_the_command(tmp_path, capsys) -> None:
    output = tmp_path / "out.png"
    run = ["render", "enneper", "--samples", "4", "--size", "96x64", "--projection", "emc-words", "-o", str(output)]
    assert main([*run, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["equals_reference"] and output.exists()
    assert found["words"]["triangles"] == {"made": 72, "places": 72, "accepted": 72, "times_regions": 72}
    assert found["words"]["bytes"] == 72 * 256
    assert sum(found["words"]["stages"].values()) == found["words"]["cycles"]


def corners_outside() -> list[int]:
    """Return of each triangle how many corners lie before the near plane, by the surfaces in 64 bits.

    One corner outside leaves two pieces, two leave one, three none.
    """
    view = View(width=96, height=64, eye=(0.5, -0.4, 0.6), look_at=(0, 0.2, 0), near=0.2, field_of_view=60)
    patches = load("enneper").patches
    _, words = generate_words(patches, 4, view)
    camera, points = words.standpoint.camera, words.standpoint.placed(sampled_points(patches, 4, single=False))
    before = ((camera.eye - points) @ camera.axes[2] < words.standpoint.near).reshape(-1, 4, 4)
    at = [(slice(i, i + 3), slice(j, j + 3)) for i, j in ((0, 0), (0, 1), (1, 1), (1, 0))]
    a, b, c, d = (before[:, rows, columns].astype(int) for rows, columns in at)
    return [*(a + b + c).reshape(-1).tolist(), *(a + c + d).reshape(-1).tolist()]


NEAR = ["--camera", "eye=0.5/-0.4/0.6,look_at=0/0.2/0,near=0.2,field_of_view=60"]


@pytest.mark.slow
def test_a_camera_close_by_reaches_the_cutting(tmp_path, capsys) -> None:
    run = ["render", "enneper", "--samples", "4", "--size", "96x64", *NEAR, "-o", str(tmp_path / "out.png")]
    assert main([*run, "--projection", "emc-words", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["equals_reference"] and found["words"]["cut_by"] == ["near"]
    assert found["words"]["stages"]["clipping"] > 0
    # A triangle that a plane cuts has places for two pieces; what has none left was cut away or has no area.
    words, triangles = found["words"]["triangles"], found["triangles"]
    assert (words["made"], words["places"]) == (72, 144)
    outside = corners_outside()
    assert triangles["without_area"] == outside.count(3) == 4
    assert triangles["drawn"] == 72 - outside.count(3) + outside.count(1) == 74
    assert main([*run, "--projection", "emc"]) == 3
    error = " ".join(capsys.readouterr().err.split())
    assert "64 samples" in error and "emc-words" in error


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--flat"], "the EMCs light samples, not facets"),
        (["--nodes", "2"], "the words are drawn by the node that made them"),
        (["--machine", "larrabee"], "EMCs are PixelFlow's"),
    ],
)
def test_what_has_no_words_is_refused(more: list[str], message: str, tmp_path, capsys) -> None:
    output = str(tmp_path / "out.png")
    run = ["render", "enneper", "--samples", "4", "--size", "96x64", "--projection", "emc-words", "-o", output]
    assert main([*run, *more]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_long_mantissas_and_all_planes_leave_no_room() -> None:
    assert WordPlaces.after(memory_map(4, 4), 5).end <= THESIS.array.memory_bytes
    with pytest.raises(InputError, match="320 are there"):
        WordPlaces.after(memory_map(4, 4, value_bytes=7), 5)


def test_what_the_node_does_not_have_is_refused() -> None:
    patches, view = load("enneper").patches, View(width=96, height=64)
    with pytest.raises(InputError, match="a region of 128x64 pixels needs as many PEs"):
        generate_words(patches, 4, view, config=TINY)
    with pytest.raises(InputError, match="results to 3 GPs"):
        generate_words(patches, 4, view, gps=3)
