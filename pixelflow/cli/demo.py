"""A minute of the machine in the terminal: a teapot, the Mandelbrot set, a step back in time, and a race.

A space goes to the next part, q ends the show. Without a terminal the same work is done and its figures are printed.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType

import numpy as np
from numpy.typing import NDArray
from rich.console import Group
from rich.style import Style
from rich.text import Text

from pixelflow.cli.dash import Keys
from pixelflow.cli.live import InPlaceDisplay, takes_live
from pixelflow.cli.programs import read_program
from pixelflow.cli.screen import Progress, Screen
from pixelflow.config import THESIS
from pixelflow.node import Node, Recorder, Replay
from pixelflow.node.kernels import choose
from pixelflow.node.pe_map import grid
from pixelflow.simd.dashboard import FrameDrawing
from pixelflow.simd.drawing import Frame, draw_frame
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.machine import commands_of_machines, machine_named
from pixelflow.simd.report import Column, Report, Table, machine_time, number
from tessellation import Mesh, load, tessellate
from tessellation.picture import BACKGROUND, View
from tessellation.scenes import Body, SceneSource, draws_of, load_scene

EXAMPLES = ("pixelflow demo",)

Colours = NDArray[np.uint8]
"""A picture: uint8[row, column, 3]."""

_FRAME_SECONDS = 0.08
_CLOCK = THESIS.clock_mhz * 1e6
_NEXT = (" ", "right", "\r", "\n")
_TITLE, _DIM = Style(color="white", bgcolor="color(24)", bold=True), Style(dim=True)
_SHADES = " .:-=+*#%@"
_SCENE, _SIZE = "enneper", (48, 32)
_THEN = (
    ("pixelflow view teapot", "turn it in the browser, drawn by the simulated machine"),
    ("pixelflow examples", "programs to run, change and learn from"),
    ("pixelflow verify table7", "a table of the thesis, printed and measured"),
)


class _Ended(Exception):
    """A key ended the show."""


class Show:
    """The terminal during the show: pictures in place, and keys. Without a terminal nothing is shown and time stops."""

    def __init__(self, screen: Screen) -> None:
        self.live = takes_live() and screen.format == "text" and not screen.quiet
        self.colour = screen.color
        self._display, self._keys, self._progress = InPlaceDisplay(screen), Keys(), Progress(screen)
        self._skipped = False

    def __enter__(self) -> Show:
        if self.live:
            self._keys.__enter__()
        else:
            self._progress.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live:
            self._keys.__exit__(kind, error, trace)
            self._display.close()
        else:
            self._progress.__exit__(kind, error, trace)

    def begin(self) -> None:
        """Begin a part."""
        self._skipped = False

    def passing(self, seconds: float) -> Iterator[float]:
        """Yield the share of ``seconds`` that has passed, up to 1, until a key skips the part; without a terminal 1."""
        began = time.monotonic()
        while self.live and not self._skipped:
            share = (time.monotonic() - began) / seconds
            if share >= 1:
                break
            yield share
        yield 1.0

    def doing(self, title: str, text: str, colours: Colours | None = None) -> None:
        """Say what takes a while."""
        if self.live:
            self.picture(title, colours, text, "")
        else:
            self._progress.doing(text)

    def picture(self, title: str, colours: Colours | None, *lines: str) -> None:
        """Show a picture with a title and lines below it, and take a key."""
        if not self.live:
            return
        self._display.show(FrameDrawing(title, lambda width, height: self._frame(width, height, title, colours, lines),
                                        lambda width: title))  # fmt: skip
        key = self._keys.pressed(_FRAME_SECONDS)
        if key == "q":
            raise _Ended
        self._skipped = self._skipped or key in _NEXT

    def _frame(self, width: int, height: int, title: str, colours: Colours | None, lines: Sequence[str]) -> Group:
        room = max(1, height - len(lines) - 4)
        drawn = [] if colours is None else blocks(colours, width, room, colour=self.colour)
        above = max(0, (room - len(drawn)) // 2)
        below = room - len(drawn) - above if drawn else 0
        said = [Text(each[:width].center(width).rstrip()) for each in lines]
        body = [Text("")] * (above + 1) + drawn + [Text("")] * (below + 1) + said
        keys = Text("space: next   q: end".center(width).rstrip(), style=_DIM)
        return Group(*[Text(f" {title}"[:width].ljust(width), style=_TITLE), *body, keys][:height])


def blocks(colours: Colours, width: int, lines: int, *, colour: bool) -> list[Text]:
    """Return a picture as half blocks, two pixels a character, in at most this many columns and lines.

    Without colour a character is a shade. A large picture loses columns and rows evenly, a small one is repeated.
    """
    rows, columns = colours.shape[:2]
    scale = min(width / columns, 2 * lines / rows)
    across, down = max(1, int(columns * scale)), max(2, int(rows * scale) // 2 * 2)
    shown = colours[np.arange(down) * rows // down][:, np.arange(across) * columns // across]
    indent = " " * ((width - across) // 2)
    found = []
    for upper, lower in zip(shown[::2], shown[1::2], strict=True):
        line = Text(indent)
        for top, bottom in zip(upper.tolist(), lower.tolist(), strict=True):
            if colour:
                line.append("▀", Style(color=_hex(top), bgcolor=_hex(bottom)))
            else:
                line.append(_SHADES[sum(top + bottom) * len(_SHADES) // (6 * 256)])
        found.append(line)
    return found


def _hex(rgb: Sequence[int]) -> str:
    return f"#{bytes(rgb).hex()}"


def palette(values: NDArray[np.uint8], most: int) -> Colours:
    """Return a colour for each value: from dark blue over orange to white, and black for ``most``."""
    share = np.minimum(values / max(1, most), 1.0)[..., None]
    stops = np.array([[0, 7, 60], [32, 107, 203], [237, 255, 255], [255, 170, 0], [120, 10, 20]], float)
    at = share * (len(stops) - 1)
    low = np.minimum(at.astype(int), len(stops) - 2)
    colours = stops[low[..., 0]] * (1 - (at - low)) + stops[low[..., 0] + 1] * (at - low)
    return np.where(share >= 1, 0, colours).astype(np.uint8)


def plane(node: Node, values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return one value of every PE as rows and columns of the array."""
    x, y = node.coordinates()
    order = grid(np.arange(len(x)), x, y)
    assert order is not None  # the machine of the thesis is a plane
    return values[order]


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Show the parts one after the other; return what they took."""
    engine, facts, race = choose(AUTO).engine, list[tuple[str, int, str]](), list[tuple[str, int, float]]()
    show = Show(screen)
    try:
        with show:
            parts: tuple[Callable[[], None], ...] = (
                lambda: facts.append(teapot(show, engine)),
                lambda: facts.extend(mandelbrot(show, engine)),
                lambda: race.extend(racing(show)),
            )
            for part in parts:
                show.begin()
                part()
    except _Ended:
        pass
    done = Table(
        [Column("done", fixed=True, key="part"), Column("cycles", number, "cycles"), Column("at 100 MHz", key="time")],
        facts,
        key="parts",
    )
    raced = Table(
        [Column("drew the same scene", fixed=True, key="machine"), Column("cycles", number, "cycles"),
         Column("time", lambda ms: machine_time(ms / 1e3), "milliseconds")],
        race,
        key="race",
    )  # fmt: skip
    then = Table([Column("continue with", key="command", fixed=True), Column("", key="what")], _THEN, key="then")
    tables = [each for each in (done, raced) if each.rows]
    parts_shown = [part for table in (*tables, then) for part in (table, "")][:-1]
    return Report("pixelflow demo", (f"engine {engine}",), results=parts_shown, schema="pixelflow.demo/1")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the show has no options."""


def teapot(show: Show, engine: str) -> tuple[str, int, str]:
    """Show the array while the teapot is tessellated on it, then the mesh, turned; return name, cycles and time."""
    title = "1 of 4   the Utah teapot: 32 Bezier patches on 8,192 processors"
    show.doing(title, "assembling and tessellating ...")
    recorders: list[Recorder] = []

    def record(node: Node) -> None:
        recorders.append(Recorder(node, "pixelflow demo", 1))
        recorders[-1].attach(node.bus)

    patches = load("teapot").patches
    found = tessellate(patches, 16, engine=engine, watch=record)
    saved = recorders[0].saved
    assert saved is not None  # as it has run
    for cycle, end, node in _replayed(show, saved.replay(engine), 9):
        colours = palette(plane(node, node.register("R")), 255)
        now = f"register R of every processor, cycle {number(cycle)} of {number(end)}"
        show.picture(title, colours, now, f"a point of a patch in each: {machine_time(cycle / _CLOCK)}")
    cycles, mesh = found.runs[0].total_cycles, found.mesh(weld=True)
    for share in show.passing(7):
        if show.live:
            took = f"{number(cycles)} cycles, {machine_time(cycles / _CLOCK)} of the machine at 100 MHz"
            show.picture(title, turned(mesh, share), "the mesh that came out, turned", took)
    return "teapot tessellated", cycles, machine_time(cycles / _CLOCK)


def turned(mesh: Mesh, share: float) -> Colours:
    """Return a picture of the mesh after a share of a whole turn."""
    points, normals = (np.asarray(values, np.float64) for values in (mesh.points, mesh.normals))
    body = Body("teapot", points, normals, np.asarray(mesh.triangles, np.int64))
    view = View(azimuth=-62 + 360 * share, elevation=20, width=112, height=64)
    return draw_frame(Frame(view.width, view.height, BACKGROUND, tuple(draws_of([body], view)))).colours


def mandelbrot(show: Show, engine: str) -> list[tuple[str, int, str]]:
    """Show the Mandelbrot set fill the array, then go back in time; return names, cycles and times."""
    title = "2 of 4   the Mandelbrot set: one point of the plane in every processor"
    show.doing(title, "assembling the microcode ...")
    node = Node(engine=engine)
    replay = Replay(node, read_program("mandelbrot", ()))
    for cycle, end, _ in _replayed(show, replay, 12):
        rounds = node["count"]
        left = number(int((rounds == rounds.max()).sum()))
        now = f"z = z * z + c, in binary32 microcode: cycle {number(cycle)} of {number(end)}"
        show.picture(title, _counts(node), now, f"{left} of 8,192 processors still iterate")
    show.begin()
    end = replay.position
    title = "3 of 4   back in time: every cycle can be reached again, in both directions"
    if show.live:
        replay.back(1, None)
        for _ in show.passing(2):
            show.picture(title, _counts(node), f"one step back: cycle {number(replay.position)} of {number(end)}", "")
    for share in show.passing(6):
        if show.live:
            replay.goto(int(end * (1 - share)))
            now = f"cycle {number(replay.position)}"
            show.picture(title, _counts(node), now, "the debugger does the same: back, goto")
    return [("Mandelbrot set, 24 rounds", end, machine_time(end / _CLOCK))]


def _counts(node: Node) -> Colours:
    return palette(plane(node, node["count"].astype(np.uint8)), 24)


def _replayed(show: Show, replay: Replay, seconds: float) -> Iterator[tuple[int, int, Node]]:
    """Yield cycle, the last cycle and the node of a run that is executed in this many seconds."""
    replay.advance(_END)
    end = replay.position
    if show.live:
        replay.goto(0)
    for share in show.passing(seconds):
        replay.goto(int(end * share))
        yield replay.position, end, replay.node


_END = 1 << 62


def racing(show: Show) -> list[tuple[str, int, float]]:
    """Draw one scene on every machine that draws, then show their times side by side; return machine, cycles, ms."""
    title = f"4 of 4   a race: the same {_SIZE[0]}x{_SIZE[1]} picture on every machine"
    frame = load_scene(_SCENE, SceneSource(size=_SIZE, patch_samples=4)).frame
    found, drawn = [], draw_frame(frame).colours
    for name, commands in commands_of_machines().items():
        record = machine_named(name)
        if commands.drawing is None or record.draw is None:
            continue
        show.doing(title, f"{record.title} draws ...", drawn)
        made = record.draw(frame)
        found.append((record.title, made.cycles, made.cycles / made.clock_mhz / 1e3))
    slowest = max(ms for _, _, ms in found)
    for share in show.passing(6):
        bars = [_bar(title, ms, share * slowest, slowest) for title, _, ms in found]
        show.picture(title, drawn, *bars, machine_time(share * slowest / 1e3))
    for _ in show.passing(4):
        bars = [_bar(title, ms, slowest, slowest) for title, _, ms in found]
        show.picture(title, drawn, *bars, "time of one picture on each, at its own clock")
    return sorted(found, key=lambda each: each[2])


def _bar(name: str, ms: float, now: float, slowest: float, width: int = 40) -> str:
    filled = round(width * min(now, ms) / slowest)
    done = machine_time(ms / 1e3) if now >= ms else ""
    return name.ljust(10) + ("█" * filled).ljust(width) + done.rjust(11)
