"""Is a picture the same, to the pixel and to the cycle, whoever simulates its regions?"""

from __future__ import annotations

import gc
import pickle
import re
import weakref
from collections.abc import Callable, Iterator, Sequence

import pytest

from pixelflow.node import Node
from pixelflow.simd.drawing import ScreenTriangles
from pixelflow.simd.workers import Sealed, WorkerPool
from tessellation.rendering import Rendering, render
from tests.rendering.test_node import HEIGHT, WIDTH, family


class Elsewhere:
    """Another process, without one: what goes there and comes back is copied, and every region has a fresh node."""

    def each(self, work: Callable, items: Sequence, name: Callable = str, weight: Callable | None = None) -> Iterator:
        for item in items:
            yield pickle.loads(pickle.dumps(work(pickle.loads(pickle.dumps(item)))))


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


def test_a_region_is_drawn_elsewhere_as_it_is_here(triangles: ScreenTriangles) -> None:
    lines: list[str] = []
    here = render(triangles, WIDTH, HEIGHT, background=(1, 2, 3))
    there = render(triangles, WIDTH, HEIGHT, background=(1, 2, 3), workers=Elsewhere(), progress=lines.append)
    assert same(there, here) and here.cycles == sum(each.run.cycles for each in there.regions)
    assert there.cycles_by_stage == here.cycles_by_stage and there.drawn == here.drawn
    assert [re.findall(r"\d+", line) for line in lines] == [["0", "63", "100"], ["64", "99", "100"]]


@pytest.mark.slow
def test_several_processes_draw_pictures_as_one_does(triangles: ScreenTriangles) -> None:
    with WorkerPool(2).kept() as workers:
        for each in (triangles, family("small")):
            assert same(render(each, WIDTH, HEIGHT, workers=workers), render(each, WIDTH, HEIGHT))


def test_who_watches_the_node_has_it_here(triangles: ScreenTriangles) -> None:
    class Nobody:
        def each(
            self, work: Callable, items: Sequence, name: Callable = str, weight: Callable | None = None
        ) -> Iterator:
            raise AssertionError("this goes nowhere else")

    watched: list[Node] = []
    render(triangles, 128, 64, watch=watched.append, workers=Nobody())
    render(triangles, 128, 64, node=watched[0], workers=Nobody())
    assert len(watched) == 1


class Unpacked:
    """Counts how often one of it is unpacked."""

    times = 0

    def __setstate__(self, state: dict[str, object]) -> None:
        Unpacked.times += 1


def test_what_is_sent_sealed_is_unpacked_where_somebody_asks_and_once() -> None:
    value = Unpacked()
    value.__dict__["kept"] = True
    sent = pickle.loads(pickle.dumps(Sealed(value)))
    sent = pickle.loads(pickle.dumps(sent))  # from one process to the next
    assert Unpacked.times == 0
    assert sent.value is sent.value and isinstance(sent.value, Unpacked) and Unpacked.times == 1


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
