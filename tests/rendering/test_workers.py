"""Is a picture the same, to the pixel and to the cycle, whatever its node did before, and does it leave nothing?"""

from __future__ import annotations

import gc
import re
import weakref

import pytest

from pixelflow.node import Node
from pixelflow.simd.drawing import ScreenTriangles
from tessellation.rendering import Rendering, render
from tests.rendering.test_node import HEIGHT, WIDTH, family


def same(one: Rendering, other: Rendering) -> bool:
    """Whether pictures and accounts are equal, field by field: programs, cycles, stages, what executed how often."""
    accounts = [[(each.left, each.top, each.triangles, each.run) for each in found.regions] for found in (one, other)]
    return one.picture.equals(other.picture) and accounts[0] == accounts[1]


@pytest.fixture(scope="module")
def triangles() -> ScreenTriangles:
    return family("large", 40)


@pytest.mark.parametrize("engine", ["compiled", "macro", pytest.param("rows", marks=pytest.mark.slow)])
def test_a_region_does_not_depend_on_what_its_node_did_before(engine: str, triangles: ScreenTriangles) -> None:
    kept = Node(engine=engine)
    kept.write_memory(0, 255 - kept.read_memory(0, 256))
    render(family("slivers", 40), WIDTH, HEIGHT, node=kept, background=(9, 99, 200))
    fresh = render(triangles, WIDTH, HEIGHT, node=Node(engine=engine))
    assert same(render(triangles, WIDTH, HEIGHT, node=kept), fresh)
    assert same(render(triangles, WIDTH, HEIGHT, engine=engine), fresh)


def test_the_rows_of_a_picture_are_told(triangles: ScreenTriangles) -> None:
    lines: list[str] = []
    render(triangles, WIDTH, HEIGHT, progress=lines.append)
    assert [re.findall(r"\d+", line) for line in lines] == [["0", "63", "100"], ["64", "99", "100"]]


def test_a_node_that_was_interrupted_does_not_draw_the_next_picture(triangles: ScreenTriangles) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(line: str) -> None:
        if line.startswith("rows 64"):
            raise Interrupted

    expected = render(triangles, WIDTH, HEIGHT)
    with pytest.raises(Interrupted):
        render(family("slivers", 40), WIDTH, HEIGHT, progress=interrupt)
    assert same(render(triangles, WIDTH, HEIGHT), expected)


def test_what_a_region_leaves_goes_when_nobody_holds_it(triangles: ScreenTriangles) -> None:
    gc.collect()
    gc.disable()  # a cycle would stay
    try:
        drawn = render(triangles, 128, 64)
        program = weakref.ref(drawn.regions[0].run.program)
        again = render(family("small"), 128, 64)  # the kept node has another program now
        assert program() is drawn.regions[0].run.program
        del drawn
        assert program() is None and again.cycles
    finally:
        gc.enable()
