"""Show the dashboard of a saved run, or of a scene on another machine, at any cycle.

FILE is what `pixelflow run PROG --record FILE.npz` or `pixelflow tessellate ... --record FILE.npz` has written. The
run is executed again up to the cycle, so everything in the frame is as it was then, the history before it too. With
--machine FILE is what `pixelflow run --machine` takes: it is run up to the cycle.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import select
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from pixelflow.cli.arguments import count, count_or_zero
from pixelflow.cli.live import InPlaceDisplay, console_of, draw_frame, opener_of, state_at, takes_live
from pixelflow.cli.machine_values import PIXELFLOW, add_machine_option, configured
from pixelflow.cli.programs import map_view, read_program, scene_file
from pixelflow.cli.screen import STANDARD_STREAM, Screen, check_writable, output_file, refuse_overwrite
from pixelflow.cli.snapshot import NodeDashboard, Watch
from pixelflow.config import PRESETS
from pixelflow.node import Replay
from pixelflow.node.kernels import ENGINES
from pixelflow.node.pe_map import MapView
from pixelflow.node.replay import SavedRun
from pixelflow.observe.dashboard_frame import DashboardState
from pixelflow.simd.dashboard import FrameState
from pixelflow.simd.errors import UsageError
from pixelflow.simd.machine import machine_named
from pixelflow.simd.report import Json, Made, Report, number

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

# Keys of a terminal, one at a time and without waiting, for what plays in it.


_NAMES = {"\x1b[C": "right", "\x1b[D": "left", "\x1bOC": "right", "\x1bOD": "left"}
_MOST = 16
"""Bytes read at once: an arrow key sends three."""


class Keys:
    """A context in which keys come as they are pressed; none come where standard input is not a terminal."""

    def __init__(self) -> None:
        self._descriptor: int | None = None
        self._before: list[int | list[bytes | int]] = []

    def __enter__(self) -> Keys:
        try:
            import termios
            import tty
        except ImportError:  # no such terminals here
            return self
        try:
            descriptor = sys.stdin.fileno()
            self._before = termios.tcgetattr(descriptor)
            tty.setcbreak(descriptor)  # Ctrl-C still interrupts
            self._descriptor = descriptor
        except (OSError, ValueError, AttributeError, termios.error):
            self._descriptor = None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            import termios

            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)

    def pressed(self, seconds: float) -> str | None:
        """Return the key that is pressed within some time, arrows by name; None where none is."""
        if self._descriptor is None:
            select.select([], [], [], seconds)
            return None
        ready, _, _ = select.select([self._descriptor], [], [], seconds)
        if not ready:
            return None
        text = os.read(self._descriptor, _MOST).decode("utf-8", "replace")
        return _NAMES.get(text, text[:1] or None)


# ``dash --play``: frame after frame of a run of any machine in the terminal, with keys.


_FRAME_SECONDS = 0.1
"""Between two frames."""


def play(
    args: argparse.Namespace, screen: Screen, state_at: Callable[[int, str], FrameState], ended: Callable[[], bool]
) -> None:
    """Show the frames of cycles that do not go back, ``--play`` cycles a second, up to ``--at`` or the end of the run.

    ``state_at`` takes the cycle and what is said of a run that has not ended there. Where a key ends it, its cycle
    becomes ``args.at``. An interrupt ends it too and leaves the terminal as it was.
    """
    speed, until, cycle, halted = args.play, args.at, 0.0, False
    now = time.perf_counter()
    with contextlib.closing(InPlaceDisplay(screen)) as picture, Keys() as keys:
        while not ended():
            shown = int(cycle) if until is None else min(int(cycle), until)
            picture.show(state_at(shown, "paused" if halted else "playing").frame)
            if until is not None and cycle >= until:
                break
            match keys.pressed(_FRAME_SECONDS):
                case " ":
                    halted = not halted
                case "right" | ".":
                    halted, cycle = True, shown + 1.0
                case "+":
                    speed *= 2
                case "-":
                    speed = max(1, speed // 2)
                case "q":
                    args.at = shown
                    break
            before, now = now, time.perf_counter()
            cycle += 0.0 if halted else (now - before) * speed


EXAMPLES = (
    "pixelflow run triangle --record triangle.npz",
    "pixelflow dash triangle.npz --at 12",
    "pixelflow dash triangle.npz --show depth --width 100 --svg triangle.svg",
)

_HEIGHT = 24
_END = 1 << 62
"""Beyond the end of any run."""
_STOPPED = "stopped here"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the saved run, the cycle, the map, and where the frame goes."""
    add = parser.add_argument
    add("file", metavar="FILE", help="saved run (.npz): pixelflow run PROG --record FILE; with --machine a scene")
    add(
        "--at", type=count_or_zero, metavar="CYCLE", help="all that begins before this cycle is done (default: the end)"
    )
    add("--show", metavar="WHAT",
        help="the map: enable (default), carry, R, S, M, a range NAME or NAME[i], or a byte: 0 to 383")  # fmt: skip
    add("--height", type=_height, metavar="N", default=_HEIGHT, help=f"lines of the frame (default: {_HEIGHT})")
    add("--svg", metavar="FILE", help="write the frame as a picture (.svg) instead of printing it")
    add("--play", type=count, metavar="N",
        help="play the run in the terminal, N cycles a second, up to --at; blank halts, . or right goes one cycle on, "
        "+ and - change the speed, q ends")  # fmt: skip
    add("--engine", choices=ENGINES, help="lane engine (default: rows)")
    add_machine_option(parser)
    add("--preset", metavar="NAME", help="of another machine: a configuration with a name")
    add("-D", dest="overrides", action="append", default=[], metavar="KEY=VALUE",
        help="of another machine: a value of its configuration (repeatable)")  # fmt: skip


def run(args: argparse.Namespace, screen: Screen) -> Report | int:
    """Execute the run up to the cycle and show the frame."""
    _check_outputs(args)
    if args.machine != PIXELFLOW:
        return _run_other(args, screen)
    if args.preset is not None or args.overrides:
        option = "--preset" if args.preset is not None else "-D"
        raise UsageError(option, "a saved run has its configuration", "leave it out")
    saved = SavedRun.load(args.file)
    view = map_view(args.show or "enable", saved.program, option="--show", addresses=True)
    player = Player(saved, args.engine or "rows", view)
    if args.play is not None:
        play(args, screen, player.at, lambda: player.ended)
    return _shown(args, screen, player.at(_END if args.at is None else args.at))


def _run_other(args: argparse.Namespace, screen: Screen) -> Report | int:
    """Run a file of another machine up to the cycle and show the frame."""
    machine = machine_named(args.machine)
    opener = opener_of(machine, f"--machine {machine.name}")
    for option in ("show", "engine"):
        if getattr(args, option) is not None:
            raise UsageError(f"--{option}", f"is PixelFlow's; this is {machine.title}")
    if args.preset is not None and args.preset not in machine.presets:
        raise UsageError(f"--preset {args.preset}", f"{machine.title} has no such preset")
    config = configured(machine.configuration, "-D", args.overrides, machine.presets.get(args.preset))
    if machine.read is None:
        program: object = read_program(args.file, [], machine.target)
    elif args.file == STANDARD_STREAM:
        raise UsageError("-", f"{machine.title} takes no standard input", "name a file")
    else:
        program = machine.read(scene_file(args.file, machine.target))
    watched = opener(program, config=config)
    if args.play is not None:
        play(args, screen, partial(state_at, watched), lambda: watched.ended)
    return _shown(args, screen, state_at(watched, _END if args.at is None else args.at, _STOPPED))


def _shown(args: argparse.Namespace, screen: Screen, state: FrameState) -> Report | int:
    """Show a frame as a picture, an object, or lines."""
    if args.at is not None and args.at > state.cycle:
        screen.note(f"note: the run ends at cycle {number(state.cycle)}")
    if args.svg is not None:
        color = args.color != "never" and not os.environ.get("NO_COLOR")
        with output_file(args.svg) as stream:
            stream.write(_svg(screen._replace(color=color), state, args.height))
        screen.note(f"wrote {args.svg}")
    elif screen.format == "text":
        draw_frame(screen, state.frame, args.height)
    figure = Made(lambda: _Frame(_svg(screen, state, args.height)))
    report = Report("pixelflow dash", (state.title,), figures=[figure])
    if screen.format != "text" and args.svg is None:
        return replace(report, schema="pixelflow.frame/1", data=_object(state) if screen.json else {})
    screen.write_page(report)
    return 0


class _Frame(NamedTuple):
    """A frame as a figure of a page: the picture that --svg writes."""

    svg: str

    def html(self) -> str:
        """Return the picture without what only a standalone file needs."""
        bare = re.sub(r"<!--.*?-->|\s*xmlns=\"[^\"]*\"", "", self.svg, flags=re.DOTALL)
        return f"<figure>{bare.strip()}</figure>"


def _height(text: str) -> int:
    lines = count(text)
    if not 6 <= lines <= 1000:
        raise argparse.ArgumentTypeError(f"expected 6 to 1000 lines, found {text[:40]!r}")
    return lines


def _check_outputs(args: argparse.Namespace) -> None:
    if args.play is not None and not takes_live():
        raise UsageError("--play", "there is no terminal to play in", "leave it out for one frame, or see --svg")
    if args.svg is None:
        return
    if args.svg == STANDARD_STREAM or not args.svg.lower().endswith(".svg"):
        raise UsageError(f"--svg {args.svg[:60]}", "the picture is an SVG file", "name a file that ends in .svg")
    refuse_overwrite(args.file, args.svg)
    check_writable(args.svg)


class Player:
    """A saved run that is executed again, and the frames of its cycles."""

    def __init__(self, saved: SavedRun, engine: str, view: MapView) -> None:
        self._saved = saved
        watch = Watch(enables=True, instructions=True)
        self._replay: Replay = saved.replay(engine, watch=watch.attach)
        title = "enabled PEs" if view.flag == "E" else view.text
        preset = next((name for name, config in PRESETS.items() if config.sha256 == saved.config.sha256), "own")
        self._dashboard = NodeDashboard(self._replay.node, watch, preset, title, view.values)
        view.values(self._replay.node)  # refuse a byte that no PE has before anything runs

    @property
    def ended(self) -> bool:
        """True if the run has ended."""
        return self._replay.ended

    def at(self, cycle: int, status: str = _STOPPED) -> DashboardState:
        """Return the frame of a cycle, which may not go back; of the end where that comes first."""
        self._dashboard.watch.until = cycle
        position = self._replay.advance(cycle)
        ahead = {name: self._replay.ahead(name) for name in self._replay.streams}
        end, stopped = self._saved.end, self._replay.stopped
        return self._dashboard.state(
            at=position,
            following={name: each.index for name, each in ahead.items() if each is not None},
            total=end.cycles if end is not None else None,
            status=None if self._replay.ended else status,
            notes=(str(stopped).splitlines()[0],) if stopped is not None else (),
        )


def _svg(screen: Screen, state: FrameState, height: int) -> str:
    """Return the frame as a picture."""
    console = console_of(screen, screen.width, height, io.StringIO(), terminal=True)
    console.record = True
    picture = state.frame(screen.width, height)
    console.print(picture if screen.color else _Colorless(picture))
    # A fixed identity: the same frame gives the same bytes.
    text = console.export_svg(title=f"pixelflow · {state.title}", unique_id="pixelflow")
    # The reader's own fonts: a picture fetches none from elsewhere.
    return re.sub(r"\s*@font-face \{.*?\}", "", text, flags=re.DOTALL).replace("Fira Code, monospace", "monospace")


class _Colorless:
    """Something to print, without its colours: what a console records still has them."""

    def __init__(self, renderable: RenderableType) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        from rich.segment import Segment

        yield from Segment.remove_color(console.render(self._renderable, options))


def _object(state: FrameState) -> dict[str, Json]:
    """Return a frame's values for JSON; the map as one text of hexadecimal digits, row after row."""
    values = asdict(state)
    if isinstance(state, DashboardState):
        values["seconds"] = state.seconds
        if state.array is not None:
            values["array"]["cells"] = state.array.cells.hex()
    return values
