"""The machine alive: patches that a mouse turns, tessellated and drawn on simulated machines, picture by picture."""

from __future__ import annotations

import contextlib
import pickle
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from pixelflow.config import THESIS
from pixelflow.node import Node, stages_of
from pixelflow.node.kernels import MACRO
from pixelflow.node.replay import Recorder, SavedRun
from pixelflow.simd.attendance import Telling
from pixelflow.simd.drawing import Frame, Picture
from pixelflow.simd.errors import Fault, InputError, SimulatorError
from pixelflow.simd.machine import commands_of_machines, machine_named
from pixelflow.simd.report import Json
from pixelflow.simd.workers import KeptProcesses
from pixelflow.view.server import (
    LONGEST,
    Answer,
    Field,
    Given,
    Overtaken,
    PageRequest,
    RealField,
    TextField,
    WholeField,
)
from pixelflow.view.server import Telling as PageTelling
from tessellation import (
    BUILT_IN,
    LIBRARIES,
    Method,
    Patch,
    PatchManager,
    PatchSamples,
    build_mesh,
    load,
    parse_bpt,
    tessellate,
)
from tessellation.host.session import PassBegins
from tessellation.microprogram.method import SCHEDULES, library_for
from tessellation.picture import BACKGROUND, View
from tessellation.plan.schedule import without_configuration
from tessellation.rendering import draw_on_nodes
from tessellation.rendering.account import uncounted_pixels, uncounted_work
from tessellation.scenes import Body, draws_of

# Frames: patches tessellated by a node that keeps them, and drawn by a machine, with what each step took.


PIXELFLOW = "pixelflow"
"""The machine whose node tessellates for every machine."""


class FrameOrder(NamedTuple):
    """How a frame is made: samples along u and along v, ways of the tessellation, who draws, and from where."""

    samples: int
    schedule: str
    library: str | None
    machine: str
    view: View
    flat: bool
    samples_a_pixel: int = 1
    """1, or 4 where the machine antialiases."""


def _step(who: str, clock_mhz: float, cycles: int, stages: Mapping[str, int], whose: str = "") -> dict[str, Json]:
    """Return the work of one machine for a frame: cycles, those of each stage, and the clock.

    ``whose`` says over which units cycles by stage are added up, where there are several.
    """
    shown: list[Json] = [[name, cycles] for name, cycles in stages.items() if cycles]
    return {"who": who, "clock_mhz": clock_mhz, "cycles": cycles, "stages": shown, "whose": whose}


def _unheard(text: object, /, share: float | None = None) -> None:
    """Report nothing."""


class FrameMaker:
    """Makes frames of one set of patches; the node with the patches is kept from frame to frame."""

    def __init__(self, name: str, patches: Sequence[Patch]) -> None:
        self.name = name
        self.patches = tuple(patches)
        self._packed = pickle.dumps((name, self.patches))
        self._busy = threading.Lock()
        self._manager: PatchManager | None = None
        self._made: tuple[str, str] | None = None
        """Schedule and library of the node that is kept."""
        self._configuring = 0
        """Cycles in which its LEE was configured, by its first pass."""

    def draw(
        self, order: FrameOrder, progress: Telling = _unheard, watch: Callable[[Node], None] | None = None
    ) -> Answer:
        """Tessellate all patches and draw them: the account of both, and the pixels; ``progress`` may raise to end it.

        ``watch`` is called with the node that draws, where PixelFlow does. Raises InputError for what the machines
        cannot do.
        """
        with self._busy:
            return self._drawn(order, progress, watch)

    def draw_apart(self, order: FrameOrder, processes: KeptProcesses) -> Answer:
        """Make the frame in another process, for several at once; raises what `draw` does, and WorkerLost."""
        return processes.one(_drawn_apart, (self._packed, order), "a picture")

    def _drawn(self, order: FrameOrder, progress: Telling, watch: Callable[[Node], None] | None) -> Answer:
        begin = time.perf_counter()
        manager = self._kept(order)
        for handle in manager.handles:
            handle.mark(order.samples)

        def tell(step: PassBegins) -> None:
            progress(str(step))

        handles = manager.tessellate(tell)
        stages, configuring = without_configuration(stages_of(manager.runs))
        cycles = manager.cycles - configuring
        self._configuring = configuring or self._configuring
        tessellated = time.perf_counter()
        found: list[PatchSamples] = [each.result for each in handles if each.result is not None]
        mesh = build_mesh(found, weld=True)
        points, normals = (np.asarray(values, np.float64) for values in (mesh.points, mesh.normals))
        body = Body(self.name, points, normals, np.asarray(mesh.triangles, np.int64), flat=order.flat)
        view = order.view
        frame = Frame(view.width, view.height, BACKGROUND, tuple(draws_of([body], view)), order.samples_a_pixel)
        ready = time.perf_counter()
        if order.machine == PIXELFLOW:
            picture, drawing, milliseconds, notes = _by_pixelflow(frame, progress, watch)
        else:
            picture, drawing, milliseconds, notes = _by_another(frame, order.machine, progress, watch)
        ended = time.perf_counter()
        session, (height, width) = manager.session, picture.colours.shape[:2]
        steps = [_step("tessellation, PixelFlow", session.config.clock_mhz, cycles, stages), drawing]
        head: dict[str, Json] = {
            "steps": [*steps],
            "lee_configuration_cycles": self._configuring,
            "machine_ms": cycles / session.config.clock_mhz / 1e3 + milliseconds,
            "host_seconds": {
                "tessellation": tessellated - begin,
                "camera and light": ready - tessellated,
                "drawing": ended - ready,
            },
            "side": order.samples,
            "samples": sum(each.samples**2 for each in found),
            "samples_a_pixel": frame.samples,
            "triangles": len(mesh.triangles),
            "library": session.library.name,
            "engine": session.node.engine,
            "notes": [*session.method.not_counted, *notes],
            "width": width,
            "height": height,
        }
        return Answer(head, picture.colours.tobytes())

    def _kept(self, order: FrameOrder) -> PatchManager:
        """Return the manager with all patches in texture memory, another one where the ways have changed."""
        method = Method(schedule=order.schedule)
        library = library_for(order.library, self.patches, finite=method.shares_columns).name
        if self._manager is None or self._made != (order.schedule, library):
            maximum: dict[int | tuple[int, int], int] = {}
            for patch in self.patches:
                maximum[patch.degrees] = maximum.get(patch.degrees, 0) + 1
            self._manager = PatchManager(maximum, config=THESIS, library=library, method=method, engine=MACRO)
            for patch in self.patches:
                self._manager.add(patch)
            self._made = order.schedule, library
        return self._manager


def _drawn_apart(asked: tuple[bytes, FrameOrder]) -> Answer:
    """Make a frame in a process that is one of several."""
    packed, order = asked
    return _maker_of(packed).draw(order)


@lru_cache(maxsize=2)
def _maker_of(packed: bytes) -> FrameMaker:
    """Return this process's maker of patches that have come with their name."""
    return FrameMaker(*pickle.loads(packed))


def _warm_up(maker: FrameMaker, order: FrameOrder, processes: KeptProcesses) -> None:
    """Have one process after the other make a picture; an error is reported for one that is asked for."""
    with contextlib.suppress(SimulatorError):
        for _ in range(processes.jobs):
            maker.draw_apart(order, processes)


_Drawing = tuple[Picture, dict[str, Json], float, Sequence[str]]
"""The picture, the account of its step, machine time in ms, and what is to be said of it."""


def _by_pixelflow(frame: Frame, progress: Telling, watch: Callable[[Node], None] | None) -> _Drawing:
    """Draw on one node, region by region."""
    composed = draw_on_nodes(frame, progress=progress, watch=watch)
    (node,) = composed.nodes
    account = _step("drawing, PixelFlow", THESIS.clock_mhz, node.cycles, node.cycles_by_stage)
    notes = (
        f"regions: {node.places} of 128x64 pixels, {node.drawn:,} pairs of a triangle and a region",
        f"not counted: {uncounted_work()}; {uncounted_pixels(frame.width, frame.height, composed=False)}",
    )
    return composed.picture, account, node.cycles / THESIS.clock_mhz / 1e3, notes


def _by_another(frame: Frame, machine: str, progress: Telling, watch: Callable[[Node], None] | None) -> _Drawing:
    """Draw on another machine, as it is by default."""
    record = machine_named(machine)
    if record.draw is None or watch is not None:
        raise InputError(Fault(f"runs of {record.title} are not looked into here"))
    drawn = record.draw(frame, progress=progress)
    account = _step(f"drawing, {drawn.machine}", drawn.clock_mhz, drawn.cycles, drawn.stages, drawn.whose_stages)
    notes = [f"{name}: {text}" for name, text in drawn.facts]
    notes += [f"pixels: {drawn.own_arithmetic}"] if drawn.own_arithmetic else []
    return drawn.picture, account, drawn.cycles / drawn.clock_mhz / 1e3, notes


# The room of the machine alive: which patches there are, and frames of them as the page asks.


_DRAW, _RECORD = "draw", "record"
"""The threads that draw, and the one that reads patches and records what is looked into."""
DROPPED = "dropped"
"""How a file is called that was dropped on the page."""
_AUTO = "auto"
_MOST_PATCHES = 1000
"""Of a file that is dropped: a pass takes up to 512 patches."""
_SAMPLES = (2, 16)
_VIEW = View()
"""Where the camera is at first."""
_SIZES = ("160x120", "320x240", "640x480")


class _Left(SimulatorError):
    """The page has gone while something was drawn for it."""


class DrawingRoom:
    """Draws frames as they are asked for, always the latest one.

    While they are turned, each is made by one of several processes, as many at once as there are; those at rest by this
    one with all its threads. The others start after the first picture, and are used once each has made one.
    """

    def __init__(
        self,
        named: tuple[str, Sequence[Patch]] | None,
        explore: Callable[[SavedRun], None],
        processes: KeptProcesses | None = None,
        tell: PageTelling | None = None,
    ) -> None:
        """``named`` patches are offered with those that ship; ``explore`` receives a run to look into.

        ``processes`` make pictures that are turned. ``tell`` sends the page what is being done for its picture.
        """
        self._explore, self._processes, self._tell = explore, processes, tell
        self._warming: threading.Thread | None = None
        """Waits for the first pictures of all processes; None before the first one here."""
        self._lock = threading.Lock()
        self._models: dict[str, FrameMaker | None] = dict.fromkeys(BUILT_IN)
        """Those without a maker have not been loaded yet."""
        self._first = next(iter(BUILT_IN))
        if named is not None:
            self._first = named[0]
            self._models[self._first] = FrameMaker(*named)
        self._machines = tuple(name for name, each in commands_of_machines().items() if each.drawing is not None)
        self._closed = False

    @property
    def requests(self) -> Mapping[str, PageRequest]:
        """The requests of this room by name."""
        frame: dict[str, Field] = {
            "model": TextField(200),
            "samples": WholeField(*_SAMPLES, default=8),
            "schedule": TextField(words=SCHEDULES, default=SCHEDULES[0]),
            "library": TextField(words=(_AUTO, *LIBRARIES), default=_AUTO),
            "machine": TextField(words=self._machines, default=PIXELFLOW),
            "size": TextField(words=_SIZES, default=_SIZES[1]),
            "azimuth": RealField(-1e4, 1e4, _VIEW.azimuth),
            "elevation": RealField(-90, 90, _VIEW.elevation),
            "zoom": RealField(0.1, 20, _VIEW.zoom),
            "flat": WholeField(0, 1, 0),
            "antialias": WholeField(1, 4, 1),
            "turning": WholeField(0, 1, 0),
        }
        return {
            "draw.offers": PageRequest(self._offers),
            "draw.patches": PageRequest(self._patches, {"name": TextField(200), "text": TextField(LONGEST)}, _RECORD),
            "draw.frame": PageRequest(self._frame, frame, _DRAW, latest=True, threads=self._at_once),
            "draw.record": PageRequest(self._record, {**frame, "pass": WholeField(0, 1000)}, _RECORD, latest=True),
        }

    @property
    def _at_once(self) -> int:
        """How many pictures are made at once."""
        return 1 if self._processes is None else self._processes.jobs

    @property
    def idle(self) -> Mapping[str, Callable[[], bool]]:
        """Empty: pictures are drawn on request only."""
        return {}

    def close(self) -> None:
        """End what is drawn."""
        self._closed = True

    def _offers(self, given: Given) -> Answer:
        """Say what there is to choose from."""
        view = {"azimuth": _VIEW.azimuth, "elevation": _VIEW.elevation, "zoom": _VIEW.zoom}
        head: dict[str, Json] = {
            "models": list(self._models),
            "model": self._first,
            "samples": list(_SAMPLES),
            "schedules": list(SCHEDULES),
            "libraries": [_AUTO, *LIBRARIES],
            "machines": list(self._machines),
            "sizes": list(_SIZES),
            "view": view,
            "at_once": self._at_once,
        }
        return Answer(head)

    def _patches(self, given: Given) -> Answer:
        """Take a patch file that was dropped on the page."""
        file = parse_bpt(given.text("text").encode(), given.text("name"))
        if len(file.patches) > _MOST_PATCHES:
            raise InputError(Fault(f"{len(file.patches)} patches in one file", hint=f"up to {_MOST_PATCHES} here"))
        self._models[DROPPED] = FrameMaker(DROPPED, file.patches)
        return Answer({"model": DROPPED, "patches": len(file.patches), "notes": list(file.notes)})

    def _frame(self, given: Given) -> Answer:
        order = _order_of(given)

        def go_on(step: object, share: float | None = None) -> None:
            if order.samples_a_pixel > 1 and given.overtaken.is_set():
                raise Overtaken("the picture at rest is turned on")
            self._go_on(step)

        maker, processes = self._maker(given), self._processes
        if processes is None or order.machine != PIXELFLOW:
            return maker.draw(order, go_on)
        if given.whole("turning") and self._warming is not None and not self._warming.is_alive():
            return maker.draw_apart(order, processes)
        answer = maker.draw(order, go_on)
        with self._lock:
            if self._warming is None:
                warming = threading.Thread(target=_warm_up, args=(maker, order, processes), daemon=True)
                warming.start()
                self._warming = warming
        return answer

    def _record(self, given: Given) -> Answer:
        """Open a run in the explorer: pass 0 is the tessellation, N the drawing of region N."""
        maker, order, number = self._maker(given), _order_of(given), given.whole("pass")
        recorders: list[Recorder] = []

        def record(node: Node) -> None:
            recorder = Recorder(node, f"region {number} of a frame", max(1, number))
            recorder.attach(node.bus)
            recorders.append(recorder)

        if number:
            maker.draw(order, self._go_on, record)
        else:
            method = Method(schedule=order.schedule)
            tessellate(maker.patches, order.samples, library=order.library, config=THESIS, method=method, watch=record)
        saved = next((each.saved for each in recorders if each.saved is not None), None)
        if saved is None:
            raise InputError(Fault(f"there is no region {number}", hint=f"regions: 1 to {recorders[0].runs}"))
        self._explore(saved)
        return Answer({"run": saved.program.name})

    def _maker(self, given: Given) -> FrameMaker:
        name = given.text("model")
        if name not in self._models:
            raise InputError(Fault(f"there are no patches {name[:40]!r}", hint=f"models: {', '.join(self._models)}"))
        with self._lock:
            maker = self._models[name]
            if maker is None:
                maker = self._models[name] = FrameMaker(name, load(name).patches)
        return maker

    def _go_on(self, step: object, share: float | None = None) -> None:
        """End the work where the page has closed, else report the next step to it."""
        if self._closed:
            raise _Left("the page was closed")
        if self._tell is not None:
            self._tell("doing", Answer({"text": str(step)}))


def _order_of(given: Given) -> FrameOrder:
    width, height = map(int, given.text("size").split("x"))
    azimuth, elevation, zoom = map(given.real, ("azimuth", "elevation", "zoom"))
    view = View(azimuth=azimuth, elevation=elevation, zoom=zoom, width=width, height=height)
    library = given.text("library")
    chosen = None if library == _AUTO else library
    flat = bool(given.whole("flat"))
    return FrameOrder(
        given.whole("samples"), given.text("schedule"), chosen, given.text("machine"), view, flat,
        given.whole("antialias"),
    )  # fmt: skip
