"""A minute of the machine in the terminal: a teapot, the Mandelbrot set, a step back in time, and a race.

A space goes to the next part, q ends the show. Without a terminal the same work is done and its figures are printed.
With -o it is recorded as an animated picture of a terminal of 80 x 24 characters.
"""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from rich.color import Color
from rich.console import Console, Group
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from pixelflow.cli.dash import Keys
from pixelflow.cli.live import FrameDrawing, InPlaceDisplay, takes_live
from pixelflow.cli.picture_files import ANIMATED, check_picture, write_animation
from pixelflow.cli.programs import read_program
from pixelflow.cli.screen import Progress, Screen
from pixelflow.config import THESIS
from pixelflow.isa.program import PIXELFLOW
from pixelflow.node import Node, Recorder, Replay
from pixelflow.node.kernels import choose
from pixelflow.node.pe_map import grid
from pixelflow.simd.drawing import Frame, draw_frame
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.machine import commands_of_machines, machine_named
from pixelflow.simd.report import Column, Fact, Part, Report, Table, machine_time, number
from tessellation import Mesh, load, tessellate
from tessellation.picture import BACKGROUND, View
from tessellation.scenes import Body, SceneSource, draws_of, load_scene

EXAMPLES = ("pixelflow demo", "pixelflow demo -o demo.png")

Colours = NDArray[np.uint8]
"""A picture: uint8[row, column, 3]."""

_FRAME_SECONDS = 0.08
_RECORDED_SECONDS = 0.5
"""Seconds of the show between two recorded pictures."""
_PICTURE_MS = 200
"""For which a recorded picture is shown."""
_CLOCK = THESIS.clock_mhz * 1e6
_NEXT = (" ", "right", "\r", "\n")
_TITLE, _DIM = Style(color="white", bgcolor="color(24)", bold=True), Style(dim=True)
_SHADES = " .:-=+*#%@"
_SCENE, _SIZE = "enneper", (48, 32)
_THEN = (
    ("pixelflow view teapot", "turn it in the browser, drawn by the simulated machine"),
    ("pixelflow examples", "programs to run, change and learn from"),
    ("pixelflow verify table6", "a table of the thesis, printed and measured"),
)


class _Ended(Exception):
    """A key ended the show."""


class RecordedShow:
    """Display, keyboard and clock in one: keeps every picture, and time passes with each alone."""

    def __init__(self, width: int = 80, height: int = 24) -> None:
        self._size, self._seconds = (width, height), 0.0
        self._console = Console(width=width, height=height, color_system="truecolor", legacy_windows=False)
        self.pictures: list[list[list[Segment]]] = []

    def __enter__(self) -> None:
        """Nothing has to be prepared."""

    def __exit__(self, *_: object) -> None:
        """Nothing has to be restored."""

    close = __exit__

    def show(self, drawing: FrameDrawing) -> None:
        """Keep a picture."""
        options = self._console.options.update(height=self._size[1])
        self.pictures.append(self._console.render_lines(drawing(*self._size), options))

    def pressed(self, seconds: float) -> None:
        """Let time pass until the next picture."""
        self._seconds += _RECORDED_SECONDS

    def now(self) -> float:
        """Return the time in seconds."""
        return self._seconds

    def images(self) -> list[Colours]:
        """Return the pictures in pixels, in the letters of Pillow's own font."""
        return [_pixels(lines, *self._size) for lines in self.pictures]


_CELL, _ENLARGED = (6, 12), 2
_INK, _PAPER, _FAINT = (208, 212, 220), (16, 20, 28), (110, 116, 128)


def _pixels(lines: Sequence[Sequence[Segment]], width: int, height: int) -> Colours:
    """Return characters as pixels: half and whole blocks as they are meant, others by the font."""
    from PIL import Image, ImageDraw, ImageFont

    (wide, high), font = _CELL, ImageFont.load_default_imagefont()
    image = Image.new("RGB", (wide * width, high * height), _PAPER)
    draw = ImageDraw.Draw(image)
    for row, line in enumerate(lines):
        column = 0
        for text, style, _ in line:
            ink = _rgb(style.color if style else None, _FAINT if style and style.dim else _INK)
            paper = _rgb(style.bgcolor if style else None, _PAPER)
            for character in text:
                x, y = column * wide, row * high
                below = high // 2 if character == "▀" else high
                draw.rectangle((x, y, x + wide - 1, y + high - 1), paper)
                if character in "▀█":
                    draw.rectangle((x, y, x + wide - 1, y + below - 1), ink)
                elif character != " ":
                    draw.text((x, y), character, ink, font)
                column += 1
    return np.asarray(image).repeat(_ENLARGED, axis=0).repeat(_ENLARGED, axis=1)


def _rgb(colour: Color | None, default: tuple[int, int, int]) -> tuple[int, ...]:
    return default if colour is None or colour.is_default else tuple(colour.get_truecolor())


class Show:
    """The terminal during the show: pictures in place, and keys. Without a terminal nothing is shown and time stops."""

    def __init__(self, screen: Screen, recording: RecordedShow | None = None) -> None:
        self.live = recording is not None or (takes_live() and screen.format == "text" and not screen.quiet)
        self.colour = recording is not None or screen.color
        self._display, self._keys = recording or InPlaceDisplay(screen), recording or Keys()
        self._now = recording.now if recording is not None else time.monotonic
        self._progress = Progress(screen)
        self._skipped = False
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Show:
        if self.live:
            self._open.callback(self._display.close)
        self._open.enter_context(self._keys if self.live else self._progress)
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def begin(self) -> None:
        """Begin a part."""
        self._skipped = False

    def passing(self, seconds: float) -> Iterator[float]:
        """Yield the share of ``seconds`` that has passed, up to 1, until a key skips the part; without a terminal 1."""
        began = self._now()
        while self.live and not self._skipped:
            share = (self._now() - began) / seconds
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
        self._display.show(lambda width, height: self._frame(width, height, title, colours, lines))
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
    if args.output is not None:
        check_picture(None, args.output, ANIMATED)
    recording = None if args.output is None else RecordedShow()
    engine, facts, race = choose(AUTO).engine, list[tuple[str, int, str]](), list[tuple[str, int, float]]()
    show = Show(screen, recording)
    try:
        with show:
            acts: tuple[Callable[[], None], ...] = (
                lambda: facts.append(teapot(show, engine)),
                lambda: facts.extend(mandelbrot(show, engine)),
                lambda: race.extend(racing(show)),
            )
            for act in acts:
                show.begin()
                act()
    except _Ended:
        pass
    if recording is not None:
        write_animation(args.output, recording.images(), _PICTURE_MS)
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
    shown: list[Part] = [*tables, then]
    if args.output is not None:
        shown.append(Fact(f"wrote {args.output}", key="written", value=args.output))
    parts: list[Part] = [part for each in shown for part in (each, "")][:-1]
    return Report("pixelflow demo", (f"engine {engine}",), results=parts, schema="pixelflow.demo/1")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add where to record it."""
    parser.add_argument("-o", "--output", metavar="FILE.png", help="record the show as an animated PNG or GIF")


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
    return draw_frame(Frame(view.width, view.height, BACKGROUND, tuple(draws_of([body], view)), 4)).colours


def mandelbrot(show: Show, engine: str) -> list[tuple[str, int, str]]:
    """Show the Mandelbrot set fill the array, then go back in time; return names, cycles and times."""
    title = "2 of 4   the Mandelbrot set: one point of the plane in every processor"
    show.doing(title, "assembling the microcode ...")
    node = Node(engine=engine)
    replay = Replay(node, read_program("mandelbrot", (), PIXELFLOW))
    for cycle, end, _ in _replayed(show, replay, 12):
        rounds = node["count"]
        left = number(int((rounds == rounds.max()).sum()))
        now = f"z = z * z + c, in binary32 microcode: cycle {number(cycle)} of {number(end)}"
        show.picture(title, _counts(node), now, f"{left} of 8,192 processors still iterate")
    show.begin()
    end = replay.position
    title = "3 of 4   back in time: every cycle can be reached again, in both directions"
    replay.back(1, None)
    back = replay.position
    for _ in show.passing(2):
        if show.live:
            show.picture(title, _counts(node), f"one step back: cycle {number(back)} of {number(end)}", "")
    for share in show.passing(6):
        if show.live:
            replay.goto(int(end * (1 - share)))
            now = f"cycle {number(replay.position)}"
            show.picture(title, _counts(node), now, "the debugger does the same: back, goto")
    steps = (("Mandelbrot set, 24 rounds", end), ("back in time by one step, to cycle", back))
    return [(name, cycle, machine_time(cycle / _CLOCK)) for name, cycle in steps]


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
