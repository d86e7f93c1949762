"""How long is it from a drag to the picture that shows it? Printed (`-s`), with the load of the host; never asserted.

The page measures it: from the time stamp of the browser's event to the frame after the one in which the timeline was
drawn with what the server gave for the window, or with the cycle that the run was taken to. What is asserted is that
every drag had a picture, and that it was the one that was asked for.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pixelflow.cli.main import main
from tests.attila.recorded import drawn, quad, scene_body
from tests.view.conftest import ROOT, served
from tests.view.test_traces import LOOP

pytestmark = pytest.mark.slow

TIMES = 60
"""Drags of each kind."""
LEAST = 100_000
"""Cycles of a run, at least."""
SUM = 104_000
"""Cycles of a bicubic pass of 512 patches, as tests/tessellation counts them."""
GEN6_LOOP = LOOP.replace("1, 2, 3, 4, 5, 6, 7, 8", "8000, 8001, 8002, 8003, 8004, 8005, 8006, 8007")


def of_pixelflow(folder: Path) -> list[str]:
    """A saved pass over the 32 patches of the teapot, sixteen times, at 4x4 samples."""
    from tessellation import format_bpt, load

    (folder / "patches.bpt").write_text(format_bpt([*load("teapot").patches] * 16), encoding="utf-8")
    run = ["tessellate", str(folder / "patches.bpt"), "--samples", "4", "--schedule", "thesis", "--library", "plain"]
    assert main([*run, "--record", str(folder / "pass.npz"), "-q"]) == 0
    return [str(folder / "pass.npz")]


def of_larrabee(folder: Path) -> list[str]:
    """Sixteen rays against a triangle, again and again."""
    return ["--machine", "larrabee", str(ROOT / "larrabee_bridge/programs/ray.mc"), "-P", "TRIANGLES=4000"]


def of_gen6(folder: Path) -> list[str]:
    """A loop in four threads."""
    (folder / "loop.mc").write_text(GEN6_LOOP, encoding="utf-8")
    return ["--machine", "gen6", str(folder / "loop.mc"), "-D", "count=4"]


def of_attila(folder: Path) -> list[str]:
    """A frame of 150 rectangles at 320x240."""
    quads = [quad(at, at / 2, at + 150, at / 2 + 100, (at + 1) / 200) for at in range(150)]
    scene = scene_body(*(drawn(each) for each in quads), size=(320, 240), clear={"color": [0, 0, 0, 1], "depth": 1.0})
    (folder / "scene.json").write_text(json.dumps(scene), encoding="utf-8")
    return ["--machine", "attila", str(folder / "scene.json")]


def of_a_file(folder: Path) -> list[str]:
    """The Perfetto trace of PixelFlow's pass."""
    pytest.importorskip("perfetto", reason="needs perfetto: pip install 'pixelflow-sim[trace]'")
    of_pixelflow(folder)
    run = ["tessellate", str(folder / "patches.bpt"), "--samples", "4", "--schedule", "thesis", "--library", "plain"]
    assert main([*run, "--trace", f"perfetto:{folder / 'pass.pftrace'}", "-q"]) == 0
    return [str(folder / "pass.pftrace")]


RUNS = {"PixelFlow": of_pixelflow, "Larrabee": of_larrabee, "Gen6": of_gen6, "ATTILA": of_attila, "file": of_a_file}


@pytest.fixture(params=RUNS)
def page_of_a_long_run(request, require_server: None, tmp_path: Path) -> Iterator[tuple[str, str]]:
    with served(*RUNS[request.param](tmp_path), folder=tmp_path) as (address, _):
        yield request.param, address.removesuffix("#run") + "#run"


class Dragging:
    """Acts on the timeline one at a time, each after the picture of the one before."""

    def __init__(self, page) -> None:
        self.page = page
        box = page.locator("#timeline").bounding_box()
        self.left, self.right, self.top = box["x"] + 130, box["x"] + box["width"] - 10, box["y"]

    def window(self) -> tuple[int, int]:
        begin, end = self.page.locator("#timeline").get_attribute("data-window").split(":")
        return int(begin), int(end)

    def times(self, measure: str) -> list[float]:
        """Return what the page has measured, in ms."""
        return self.page.evaluate(f"performance.getEntriesByName('{measure}').map((each) => each.duration)")

    def until_measured(self, measure: str, count: int) -> None:
        limit = time.monotonic() + 30
        while len(self.times(measure)) < count:
            assert time.monotonic() < limit, f"{measure}: {len(self.times(measure))} pictures of {count}"
            self.page.wait_for_timeout(5)

    def each(self, measure: str, acts: list[Callable[[], object]]) -> list[float]:
        """Return how long it took to the picture of each act."""
        self.page.evaluate(f"performance.clearMeasures('{measure}')")
        for number, act in enumerate(acts, 1):
            act()
            self.until_measured(measure, number)
        return self.times(measure)

    def drags(self) -> list[float]:
        """Move the timeline by the mouse, to and fro."""
        mouse, middle = self.page.mouse, (self.left + self.right) / 2
        mouse.move(middle, self.top + 32)
        mouse.down()
        places = [middle + (1 if at % 2 else -1) * (20 + 5 * at) for at in range(TIMES)]
        found = self.each("drag-to-picture", [lambda to=to: mouse.move(to, self.top + 32) for to in places])
        mouse.up()
        return found

    def zooms(self) -> list[float]:
        """Turn the wheel towards, then away, over several places."""
        mouse, found = self.page.mouse, []
        for at in range(6):
            mouse.move(self.left + (self.right - self.left) * (at + 1) / 7, self.top + 32)
            turns = [-120] * (TIMES // 12) + [120] * (TIMES // 12)
            found += self.each("drag-to-picture", [lambda by=by: mouse.wheel(0, by) for by in turns])
        return found

    def scrubs(self) -> list[float]:
        """Drag along the ruler, to and fro: the run itself goes there."""
        mouse = self.page.mouse
        places = [self.left + (self.right - self.left) * (at * 37 % 100) / 100 for at in range(TIMES + 1)]
        mouse.move(places[0], self.top + 8)
        found = self.each("scrub-to-picture", [mouse.down])
        found = self.each("scrub-to-picture", [lambda to=to: mouse.move(to, self.top + 8) for to in places[1:]])
        mouse.up()
        return found

    def flow(self) -> list[float]:
        """Drag in one movement, as fast as the events can be given: one picture may show several."""
        mouse, middle = self.page.mouse, (self.left + self.right) / 2
        self.page.evaluate("performance.clearMeasures('drag-to-picture')")
        mouse.move(middle, self.top + 32)
        mouse.down()
        for at in range(2 * TIMES):
            mouse.move(middle + 300 * (at % 40 - 20) / 20, self.top + 32)
            self.page.wait_for_timeout(8)
        mouse.up()
        self.page.wait_for_timeout(300)
        return self.times("drag-to-picture")


def told(name: str, kind: str, times: list[float]) -> None:
    load = os.getloadavg()[0]
    print(f"{name:<10} {kind:<28} {len(times):>4} {statistics.median(times):>8.1f} {max(times):>8.1f} {load:>6.2f}")


def test_every_drag_has_its_picture(page_of_a_long_run: tuple[str, str], opened) -> None:
    name, address = page_of_a_long_run
    page = opened(address)
    page.wait_for_selector("#timeline[data-known]", timeout=120_000)
    limit = time.monotonic() + 120
    while not re.fullmatch(r"0:(\d+)", found := page.locator("#timeline").get_attribute("data-window")) or (
        page.locator("#timeline").get_attribute("data-known") != found[2:]
    ):
        assert time.monotonic() < limit, "the trace never ends"
        page.wait_for_timeout(100)
    end = int(found[2:])
    assert end >= LEAST
    assert name not in ("PixelFlow", "file") or end == SUM
    act = Dragging(page)
    page.wait_for_timeout(500)
    print(f"\n{name}: {end:,} cycles; median and longest time from event to picture in ms, load of the host")
    page.mouse.move((act.left + act.right) / 2, act.top + 32)
    act.each("drag-to-picture", [lambda: page.mouse.wheel(0, -400)])
    begin, past = act.window()
    assert past - begin == pytest.approx(end / 2.718281828, abs=2)
    page.locator("#timeline").focus()
    act.each("drag-to-picture", [lambda: page.keyboard.press("ArrowRight")])
    assert act.window()[0] == pytest.approx(begin + 0.1 * (past - begin), abs=2)
    for kind, times in (
        ("drags", act.drags()), ("drags in one movement", act.flow()), ("turns of the wheel", act.zooms()),
        ("drags along the ruler", act.scrubs()),
    ):  # fmt: skip
        told(name, kind, times)
        assert len(times) >= (10 if kind == "drags in one movement" else TIMES)
