"""Do the example programs compute what they say, in the cycles that their table prints, on every engine?"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from microcode import assemble
from pixelflow.config import THESIS
from pixelflow.node import Node, Run
from pixelflow.simd.lanes import ENGINES
from tests.documents.marks import table_after

EXAMPLES = Path(__file__).parents[2] / "microcode" / "examples"
PRINTED = {
    name: int(cycles.replace(",", ""))
    for name, cycles in re.findall(r"^\| `(\w+\.mc)` .*\| ([\d,]+) \|$", (EXAMPLES / "README.md").read_text(), re.M)
}


@pytest.fixture(params=[pytest.param(each, marks=[pytest.mark.slow] * (each != "rows")) for each in ENGINES])
def node(request: pytest.FixtureRequest) -> Node:
    """A node of each engine; that they agree is asked of random programs (tests/differential)."""
    return Node(THESIS, engine=request.param)


def _run(node: Node, name: str) -> dict[str, int]:
    program = assemble(EXAMPLES / name)
    node.load(program)
    assert node.run(program).cycles == PRINTED[name]
    return {found.name: found.start for found in program.ranges}


def test_the_table_lists_every_example() -> None:
    assert set(PRINTED) == {path.name for path in EXAMPLES.glob("*.mc")}


def test_vector_add(node: Node) -> None:
    at = _run(node, "vector_add.mc")
    assert np.array_equal(node.read_word(at["c"], 4), np.arange(node.lanes) + 1_000_000)


def test_triangle(node: Node) -> None:
    at = _run(node, "triangle.mc")
    x, y = node.coordinates()

    def inner(x0: int, y0: int, x1: int, y1: int) -> np.ndarray:
        return (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) > 0

    inside = inner(10, 5, 110, 20) & inner(110, 20, 40, 60) & inner(40, 60, 10, 5)
    assert 1000 < inside.sum() < 4000
    assert np.array_equal(node.memory[at["colour"]], np.where(inside, 200, 0))
    assert np.array_equal(node.read_word(at["depth"], 2), np.where(inside, 40 * x + 15 * y + 1000, 0))


def test_texture_copy(node: Node) -> None:
    at = _run(node, "texture_copy.mc")
    x, y = node.coordinates()
    entry = 31 - x % 32
    written = entry % 8 + 1000 * (y // 16 * 16 + 4 * (entry // 8))
    assert np.array_equal(node.read_word(at["got"], 4), written)
    assert np.array_equal(node.read_word(at["sum"], 4), x + written)


def test_panel_sum(node: Node) -> None:
    at = _run(node, "panel_sum.mc")
    panels = np.arange(node.lanes).reshape(-1, 32)
    assert np.array_equal(
        node.read_word(at["total"], 4).reshape(-1, 32), np.broadcast_to(panels.sum(1)[:, None], panels.shape)
    )


def test_automata(node: Node) -> None:
    """Every generation of every rule, against numpy: rings of 32 cells, one living in the middle."""
    _run(node, "automata.mc")
    rules, cells = np.arange(256)[:, None], np.zeros((256, 32), np.int64)
    assert np.array_equal(node["rule"].reshape(256, 32), np.broadcast_to(rules, cells.shape))
    cells[:, 16] = 1
    for generation in node["history"]:
        assert np.array_equal(generation.reshape(256, 32), cells)
        seen = 4 * np.roll(cells, 1, axis=1) + 2 * cells + np.roll(cells, -1, axis=1)
        cells = rules >> seen & 1
    assert np.array_equal(node["cell"].reshape(256, 32), cells)


def test_mandelbrot(node: Node) -> None:
    at = _run(node, "mandelbrot.mc")
    x, y = node.coordinates()
    scale = np.float32(0.0234375)
    cr, ci = (x - 96).astype(np.float32) * scale, (y - 32).astype(np.float32) * scale
    zr, zi = np.zeros_like(cr), np.zeros_like(ci)
    count, alive = np.zeros(node.lanes, int), np.ones(node.lanes, bool)
    for _ in range(24):
        rr, ii = zr * zr, zi * zi
        alive &= rr + ii < 4
        t = zr * zi
        zi = np.where(alive, (t + t) + ci, zi)
        zr = np.where(alive, (rr - ii) + cr, zr)
        count += alive
    assert np.array_equal(node.memory[at["count"]], count)


def test_sort(node: Node) -> None:
    """The same bytes, by numpy."""
    _run(node, "sort.mc")
    lanes = np.arange(node.lanes)
    data = first = lanes % 256 ^ lanes // 256
    for _ in range(3):
        data = (5 * data + 49) % 256
    assert np.array_equal(np.sort(data.reshape(-1, 32)), node["value"].reshape(-1, 32))
    assert len(np.unique(first.reshape(-1, 32), axis=0)) == 256, "all panels differ"


def test_rings(node: Node) -> None:
    _run(node, "rings.mc")
    x, y = node.coordinates()
    light = [((x - at) ** 2 + (y - 32) ** 2) // 4 % 256 for at in (40, 88)]
    assert np.array_equal(node["light"], light[0] ^ light[1])


def test_munch(node: Node) -> None:
    _run(node, "munch.mc")
    x, y = node.coordinates()
    assert np.array_equal(node["light"], 2 * x ^ 4 * y)


def test_plasma(node: Node) -> None:
    _run(node, "plasma.mc")
    x, y = node.coordinates()

    def wave(phase: np.ndarray) -> np.ndarray:
        q = phase & 127
        return q * (127 - q) // 128 * np.where(phase & 128, -1, 1)

    bent = wave(2 * x + y)
    waves = bent + wave(x - 4 * y) + wave(3 * y - 3 * x) + wave(5 * y + 3 * bent)
    assert np.array_equal(node["light"], 127 + waves) and np.ptp(waves) > 150


LETTERS = [
    "####...###..#...#.#####.#....",
    "#...#...#...#...#.#.....#....",
    "#...#...#....#.#..#.....#....",
    "####....#.....#...####..#....",
    "#.......#....#.#..#.....#....",
    "#.......#...#...#.#.....#....",
    "#......###..#...#.#####.#####",
]


def test_marquee(node: Node) -> None:
    _run(node, "marquee.mc")
    seen = _plane(node, node["light"])[18:46:4, ::4] == 255
    assert np.array_equal(_plane(node, node["light"])[18:46], np.where(seen, 255, 40).repeat(4, 0).repeat(4, 1))
    assert ["".join(".#"[int(point)] for point in row[:29]) for row in seen] == LETTERS
    assert (_plane(node, node["light"])[[*range(18), *range(46, 64)]] == 40).all()


def test_newton(node: Node) -> None:
    """The same operations in binary32, in the same order, by numpy."""
    _run(node, "newton.mc")
    across, down = node.coordinates()
    single = np.float32
    x, y = (each.astype(single) * single(1 / 64) for each in (2 * across - 127, 63 - 2 * down))
    for _ in range(12):
        p, q = x * x - y * y, x * y + x * y
        m = (p * p + q * q) * single(3)
        x, y = x * single(0.6666667) + p / m, y * single(0.6666667) - q / m
    assert np.array_equal(node["root"], np.where(x >= 0, 250, np.where(y < 0, 130, 20)))


def _plane(node: Node, values: np.ndarray) -> np.ndarray:
    """Return a value of each PE at its x and y."""
    x, y = node.coordinates()
    plane = np.zeros((64, 128), np.int64)
    plane[y, x] = values
    return plane


def _stirred(low: np.ndarray, high: np.ndarray, rounds: int) -> np.ndarray:
    """Return the low byte of a 16-bit xorshift."""
    for _ in range(rounds):
        high, low = high ^ low >> 1, low ^ (low & 1) << 7
        low = low ^ high >> 1
        high = (high ^ low) + 29 & 255
    return low


def _around(cells: np.ndarray) -> np.ndarray:
    """Return how many of the four neighbours of each cell of four worlds are set."""
    return np.sum([np.roll(cells, by, (1, 2)) for by in ((1, 0), (-1, 0), (0, 1), (0, -1))], axis=0, dtype=np.int64)


def test_maze(node: Node) -> None:
    """Each room opens to the left or upwards, which makes a tree; every step takes its leaves but the two ends."""
    _run(node, "maze.mc")
    y, x = np.indices((64, 128))
    upwards = _stirred(x | 1, y | 1, 5) >> 1 & 1
    upwards[(x | 1) == 1] = 1
    upwards[(y % 16 | 1) == 1] = 0
    room, corridor = x & y & 1, (x ^ y) & (y ^ upwards) & 1
    maze = np.where(x > 0, room | corridor, 0)
    way, ends = maze.reshape(4, 16, 128), np.zeros((4, 16, 128), np.int64)
    assert (way.sum((1, 2)) == 2 * 64 * 8 - 1).all(), "as many corridors as rooms, but one"
    ends[:, 15, [49, 127]] = 1
    for _ in range(72):
        way = way & ((_around(way) >= 2) | ends)
    assert np.array_equal(_plane(node, node["light"]), np.where(way.reshape(64, 128), 255, 80 * maze))
    assert (_around(way)[way == 1] == 2 - ends[way == 1]).all(), "nothing but one way"


def test_waves(node: Node) -> None:
    _run(node, "waves.mc")
    lanes = np.arange(node.lanes)
    beginning = _stirred(lanes % 256, lanes // 256, 5) % 32
    age = _plane(node, np.where(beginning < 6, beginning, 0)).reshape(4, 16, 128)
    for _ in range(48):
        age = np.where(age == 0, _around(age == 1) > 0, (age + 1) % 6)
    assert np.array_equal(_plane(node, node["age"]), age.reshape(64, 128))


def test_life(node: Node) -> None:
    """Each module is a torus of 128 x 16 cells."""
    _run(node, "life.mc")
    lanes = np.arange(node.lanes)
    worlds = _plane(node, _stirred(lanes % 256, lanes // 256, 3) % 8 < 3).reshape(4, 16, 128)
    for _ in range(32):
        around = sum(np.roll(worlds, (dy, dx), (1, 2)) for dy in (-1, 0, 1) for dx in (-1, 0, 1))
        worlds = (around == 3) | (worlds & (around == 4))
    assert 500 < worlds.sum() < 2000
    assert np.array_equal(_plane(node, node["cell"]), worlds.reshape(64, 128))


def test_rays(node: Node) -> None:
    """The same operations in binary32, in the same order, by numpy."""
    _run(node, "rays.mc")
    x, y = node.coordinates()
    single = np.float32
    u, v = (
        (each * single(1 / 128)).astype(single) for each in ((2 * x - 127).astype(single), (63 - 2 * y).astype(single))
    )
    to = [single(each) for each in (-0.43643578, 0.87287156, -0.21821789)]
    a = u * u + v * v + single(1)
    light = 60 + np.trunc(v * single(120)).astype(int)

    with np.errstate(all="ignore"):
        t = single(-1) / v
        px = u * t
        square = np.trunc(px).astype(int) + (px < 0) ^ np.trunc(t).astype(int)
        floor = np.where(square & 1, 90, 170)
        nx, nz = -px, -t + single(3)
        b = nx * to[0] + to[1] * single(1) + nz * to[2]
        shadow = (b >= 0) & (b * b - nx * nx - nz * nz >= 0)
        light = np.where(v < 0, np.where(shadow, floor // 4, floor), light)
        root = single(9) - a * single(8)
        t = (single(3) - np.sqrt(root)) / a
        lit = u * t * to[0] + v * t * to[1] + (t + single(-3)) * to[2]
        ball = 25 + np.where(lit >= 0, np.trunc(lit * single(215)), 0)
    assert np.array_equal(node["light"], np.where(root >= 0, ball, light))


def test_the_gallery_prints_the_same_cycles() -> None:
    two, three = (_untouched(GENERATIONS=count) for count in (2, 3))
    own = [sum(use.own_cycles for name, use in run.by_routine.items() if name != "(main)") for run in (two, three)]
    found = {f"`{name[:-3]}`": cycles for name, cycles in PRINTED.items()}
    found |= {"`life`, a generation": three.cycles - two.cycles, "its arithmetic": own[1] - own[0]}
    _, _, *rows = table_after("docs/pages/gallery.md", "read by: tests/documents/test_examples.py")
    shown = dict(row.strip("| ").split(" | ") for row in rows)
    assert len(shown) == 13 and shown == {name: f"{found[name]:,}" for name in shown}


def _untouched(**parameters: int) -> Run:
    """Return a run of `life.mc` without data."""
    return Node(THESIS, "rows").run(assemble(EXAMPLES / "life.mc", **parameters), function=False)
