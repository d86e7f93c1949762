"""Is the vertex program's arithmetic what it says: one rounding a term, a true division, halves to even?"""

from fractions import Fraction

import numpy as np
import pytest

from larrabee_bridge.pipeline.front_end import program_of
from larrabee_bridge.vpu.issue import Core
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.simd.drawing import DEPTH_GUARD, FAR, SUBPIXELS, snap
from pixelflow.simd.lanes.words import ByteMemory
from tessellation import evaluate, load
from tests.larrabee_front.meshes import camera, colours, front_end, grid, sphere

STEPS = FAR - 2 * DEPTH_GUARD
LIST, FIRST_POINT, FIRST_BLOCK = 1 << 15, 1 << 16, 1 << 18


def float32(value: Fraction) -> Fraction:
    """Round to the nearest float32, ties to even: on integers only, without the range's ends."""
    if value == 0:
        return value
    exponent = 0
    while abs(value) * Fraction(2) ** -exponent >= 2:
        exponent += 1
    while abs(value) * Fraction(2) ** -exponent < 1:
        exponent -= 1
    unit = Fraction(2) ** (exponent - 23)
    return round(value / unit) * unit  # Python rounds halves of fractions to even


def listed(memory: ByteMemory, sixteens: int) -> None:
    """Write where the blocks of clip-space points are."""
    places = (FIRST_POINT + 256 * np.arange(sixteens)).astype(np.uint32)
    memory.data[0, LIST : LIST + places.nbytes] = places.view(np.uint8)


def shaded(points: np.ndarray, width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    """Run clip-space points, float32[n, 4], through the second half of the program: int[n, (x, y, depth)], sides."""
    sixteens = -(-len(points) // 16)
    padded = np.ones((16 * sixteens, 4), np.float32)
    padded[: len(points)] = points
    memory = ByteMemory(FIRST_BLOCK + 512 * sixteens)
    unit = VectorUnit(program_of("transform", (("CUT", 1), ("WIDTH", width), ("HEIGHT", height))), 1, memory)
    laid = padded.reshape(-1, 16, 4).transpose(0, 2, 1).copy()
    memory.data[0, FIRST_POINT : FIRST_POINT + laid.nbytes] = laid.view(np.uint8).reshape(-1)
    listed(memory, sixteens)
    for register, value in {1: LIST, 2: FIRST_BLOCK, 3: sixteens}.items():
        unit.set_scalar(register, value)
    unit.run()
    words = memory.data[0, FIRST_BLOCK:].view(np.int32).reshape(-1, 8, 16).transpose(0, 2, 1).reshape(-1, 8)
    assert np.array_equal(words[:, 4:].view(np.float32).view(np.int32), padded.view(np.int32))
    return words[: len(points), :3].astype(np.int64), words[: len(points), 3]


def test_every_step_is_rounded_once() -> None:
    """Positions to integers in exact fractions, each operation rounded as the program promises."""
    rng = np.random.default_rng(5)
    positions = rng.normal(size=(24, 3)).astype(np.float32)
    _, matrix = camera(np.array([(-3.0, -3, -3), (3, 3, 3)]), 640, 480)
    rows = matrix.astype(np.float32)
    corners = np.arange(24).reshape(8, 3)
    result = front_end(positions, colours(24), corners, matrix, 640, 480)
    found = {}
    for triangle, (source, weights) in enumerate(zip(result.source, result.weights, strict=True)):
        for corner in range(3):
            vertex = int(corners[source, weights[corner].argmax()])
            found[vertex] = (*result.triangles.corners[triangle, corner], result.triangles.depths[triangle, corner])
    assert len(found) >= 18
    for vertex, (x, y, depth) in found.items():
        clip = []
        for row in rows:
            total = Fraction(float(row[3]))
            for term in range(3):
                total = float32(total + Fraction(float(row[term])) * Fraction(float(positions[vertex, term])))
            clip.append(total)
        across, down, near = (float32(value / clip[3]) for value in clip[:3])
        assert x == round(float32(across * 128 * 640 + 128 * 640))
        assert y == round(float32(-down * 128 * 480 + 128 * 480))
        assert depth == DEPTH_GUARD + round(near * STEPS)


def test_the_quotient_is_that_of_a_division() -> None:
    """A depth of 24 bits shows nearly every bit of z / w; numpy divides, and multiplies exactly in 64 bits."""
    rng = np.random.default_rng(7)
    w = rng.uniform(1, 2, 4000).astype(np.float32) * np.float32(2) ** rng.integers(-50, 50, 4000).astype(np.float32)
    bits = w.view(np.uint32)
    bits[:500] |= 0x7FFFFF  # the reciprocal of this fraction is the one that Newton's steps miss
    z = (w * rng.uniform(0, 1, 4000).astype(np.float32)).astype(np.float32)
    z[500:600], z[600:700] = w[500:600], 0
    points = np.stack([np.zeros_like(w), np.zeros_like(w), z, w], axis=1)
    found, sides = shaded(points, 256, 256)
    assert not sides.any()
    quotient = (z / w).astype(np.float64)
    assert np.array_equal(found[:, 2], DEPTH_GUARD + np.rint(quotient * STEPS).astype(np.int64))


@pytest.mark.parametrize(("width", "height"), [(256, 1024), (2048, 64)])
def test_integers_are_those_of_snap(width: int, height: int) -> None:
    """On screens whose sides are powers of two, numpy's float32 operations say where every vertex lies."""
    rng = np.random.default_rng(width)
    w = rng.uniform(0.5, 3, 900).astype(np.float32)
    x, y, z = (w * rng.uniform(low, 1, 900).astype(np.float32) for low in (-1, -1, 0))
    points = np.stack([x, y, z, w], axis=1)
    found, _ = shaded(points, width, height)
    half_width, half_height = np.float32(width / 2), np.float32(height / 2)
    across = (x / w) * half_width + half_width
    down = half_height - (y / w) * half_height
    pixels = np.stack([across, down], axis=1)
    assert pixels.dtype == np.float32
    steps = np.rint(pixels.astype(np.float64) * SUBPIXELS)
    assert np.array_equal(found[:, :2], steps)
    assert np.array_equal(found[:, 2], DEPTH_GUARD + np.rint((z / w).astype(np.float64) * STEPS))
    triangles = snap(pixels.reshape(-1, 3, 2), (z / w).reshape(-1, 3), np.zeros((300, 3, 3), np.uint8))
    assert np.array_equal(triangles.corners[:, 0], found[::3, :2]) and len(triangles) == 300


def test_ties_go_to_even() -> None:
    """On a screen of two pixels x is 256 (x + 1) steps: halves of a step are exact."""
    steps = np.array([0.5, 1.5, 2.5, 509.5, 510.5])
    points = np.zeros((5, 4), np.float32)
    points[:, 0], points[:, 3] = steps / 256 - 1, 1
    assert shaded(points, 2, 2)[0][:, 0].tolist() == [0, 2, 2, 510, 510]


def test_sides_of_the_view() -> None:
    """Left 1, right 2, top 4, bottom 8, near 16, beyond 32, and 64 where the screen's numbers end."""
    limit = np.float32(2 * 16383 / 256 - 1)
    past = np.nextafter(limit, np.float32(1000))
    rows = [
        *(((0, 0, 0.5, 1), 0), ((1, -1, 0, 1), 0), ((-1, 1, 1, 1), 0), ((-1.5, 0, 0.5, 1), 1), ((1.5, 0, 0.5, 1), 2)),
        *(((0, 1.5, 0.5, 1), 4), ((0, -1.5, 0.5, 1), 8), ((0, 0, -1e-30, 1), 16), ((0, 0, -0.0, 1), 0)),
        *(((0, 0, 1.5, 1), 32), ((limit, 0, 0, 1), 2), ((past, 0, 0, 1), 66), ((-past, 0, 0, 1), 65)),
        *(((0, past, 0, 1), 68), ((0, -past, 0, 1), 72), ((0, 0, 0, 0), 64), ((0, 0, 0, 2.0**-60), 0)),
        # Behind the eye x <= -w and x >= w contradict nothing: every side is its own half space.
        ((0, 0, -2, -1), 1 + 2 + 4 + 8 + 16 + 64),
    ]
    found, sides = shaded(np.array([point for point, _ in rows], np.float32), 256, 256)
    assert sides.tolist() == [expected for _, expected in rows]
    assert found[10, 0] == 256 * 16383


def test_a_vertex_costs_what_its_sixteenth_costs() -> None:
    """Cycles of a further sixteen do not depend on what is in them."""
    cycles = []
    for sixteens in (1, 2, 5):
        program = program_of("transform", (("CUT", 1), ("WIDTH", 640), ("HEIGHT", 480)))
        memory = ByteMemory(1 << 19)
        unit, core = VectorUnit(program, 1, memory), Core(program)
        listed(memory, sixteens)
        for register, value in {1: LIST, 2: FIRST_BLOCK, 3: sixteens}.items():
            unit.set_scalar(register, value)
        unit.run(core)
        cycles.append(int(core.cycles[0]))
    assert cycles[2] - cycles[1] == 3 * (cycles[1] - cycles[0])


U = 2.0**-24
"""Half the distance of two float32 numbers from 1 on."""


def within_the_bound(points: np.ndarray, corners: np.ndarray, width: int, height: int) -> None:
    """Check every vertex against the camera in float64, within what the operations' roundings allow.

    A sum of three products has five roundings a term: of its two factors, and three that follow. With errors dx, dw of
    x and w, |x/w| is off by (dx + |x/w| dw) / (w - dw), and by u of itself for the division; the step to the screen
    adds u of its result, and the last one half a step of 1/256 pixel.
    """
    view, matrix = camera(points, width, height)
    result = front_end(points, colours(len(points)), corners, matrix, width, height, primset=40)
    x, y, _ = view.project(points).T
    clip = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ matrix.T
    sums = np.concatenate([np.abs(points), np.ones((len(points), 1))], axis=1) @ np.abs(matrix.T)
    off, w = 5.01 * U * sums, clip[:, 3]
    quotients = clip[:, :3] / w[:, None]
    spread = (off[:, :3] + np.abs(quotients) * off[:, 3:]) / (w - off[:, 3])[:, None]
    spread += U * (np.abs(quotients) + spread)
    scale = np.array([128 * width, 128 * height, STEPS])
    exact = np.stack([256 * x, 256 * y, DEPTH_GUARD + STEPS * quotients[:, 2]], axis=1)
    bound = scale * spread + U * np.abs(exact) * (1, 1, 0) * 1.01 + 0.5
    assert bound[:, :2].max() < 0.75
    vertex = np.take_along_axis(corners[result.source], result.weights.argmax(axis=2), axis=1)
    found = np.concatenate([result.triangles.corners, result.triangles.depths[..., None]], axis=-1)
    assert (np.abs(found - exact[vertex]) <= bound[vertex]).all()
    assert len(result.triangles) > 0.5 * len(corners)


def test_a_sphere_is_where_float64_says() -> None:
    within_the_bound(*sphere(16, 9), 640, 480)


def test_the_teapot_is_where_float64_says() -> None:
    """32 patches of 3 x 3 squares, evaluated in float64 and rounded to float32."""
    nets = np.stack([patch.points for patch in load("teapot").patches])
    points = evaluate(nets, 4).points.reshape(-1, 3)
    points = (points - points.min(axis=0)) / np.ptp(points, axis=0).max()
    corners = np.concatenate([grid(4, 4) + 16 * patch for patch in range(len(nets))])
    within_the_bound(points, corners, 960, 720)
