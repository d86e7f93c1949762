"""The room of the machine alive: which patches there are, and frames of them as the page asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from pixelflow.config import THESIS
from pixelflow.node import Node
from pixelflow.node.replay.saved_run import Recorder, SavedRun
from pixelflow.simd.errors import Fault, InputError, SimulatorError
from pixelflow.simd.machine import commands_of_machines
from pixelflow.simd.report import Json
from pixelflow.simd.workers import HERE, Workers
from pixelflow.view.alive.frames import PIXELFLOW, DrawnPatches, FrameMaker, FrameOrder
from pixelflow.view.server.messages import LONGEST, Answer, Field, Given, PageRequest, RealField, TextField, WholeField
from tessellation import BUILT_IN, LIBRARIES, Patch, load, parse_bpt, tessellate
from tessellation.microprogram.method import SCHEDULES, Method
from tessellation.picture import View

__all__ = ["DROPPED", "DrawingRoom"]

_DRAW = "draw"
"""The thread that draws."""
DROPPED = "dropped"
"""How a file is called that was dropped on the page."""
_AUTO = "auto"
_MOST_PATCHES = 1000
"""Of a file that is dropped: a pass takes up to 512 patches."""
_SAMPLES = (2, 16)
_VIEW = View()
"""Where the camera stands at first."""
_SIZES = ("160x120", "320x240", "640x480")


class _Left(SimulatorError):
    """The page has gone while something was drawn for it."""


class DrawingRoom:
    """Draws one frame after the other, the latest that was asked for."""

    def __init__(
        self,
        named: tuple[str, Sequence[Patch]] | None,
        explore: Callable[[SavedRun], None],
        workers: Workers = HERE,
    ) -> None:
        """``named`` patches are shown beside those that ship; ``explore`` takes a run that is to be looked into.

        ``workers`` simulate the regions of a picture.
        """
        self._explore, self._workers = explore, workers
        self._models: dict[str, FrameMaker | None] = dict.fromkeys(BUILT_IN)
        """Those without a maker have not been loaded yet."""
        self._first = next(iter(BUILT_IN))
        if named is not None:
            self._first = named[0]
            self._models[self._first] = FrameMaker(*named, workers)
        self._machines = tuple(name for name, each in commands_of_machines().items() if each.drawing is not None)
        self._closed = False

    @property
    def requests(self) -> Mapping[str, PageRequest]:
        """What can be asked."""
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
        }
        return {
            "draw.offers": PageRequest(self._offers),
            "draw.patches": PageRequest(self._patches, {"name": TextField(200), "text": TextField(LONGEST)}, _DRAW),
            "draw.frame": PageRequest(self._frame, frame, _DRAW, latest=True),
            "draw.record": PageRequest(self._record, {**frame, "pass": WholeField(0, 1000)}, _DRAW, latest=True),
        }

    @property
    def idle(self) -> Mapping[str, Callable[[], bool]]:
        """Nothing is drawn that nobody has asked for."""
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
        }
        return Answer(head)

    def _patches(self, given: Given) -> Answer:
        """Take a patch file that was dropped on the page."""
        file = parse_bpt(given.text("text").encode(), given.text("name"))
        if len(file.patches) > _MOST_PATCHES:
            raise InputError(Fault(f"{len(file.patches)} patches in one file", hint=f"up to {_MOST_PATCHES} here"))
        self._models[DROPPED] = FrameMaker(DROPPED, file.patches, self._workers)
        return Answer({"model": DROPPED, "patches": len(file.patches), "notes": list(file.notes)})

    def _frame(self, given: Given) -> Answer:
        made = self._maker(given).draw(_order_of(given), self._go_on)
        return _picture(made)

    def _record(self, given: Given) -> Answer:
        """Hand a run over to whoever looks into runs: pass 0 is the tessellation, N the drawing of region N."""
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
        maker = self._models[name]
        if maker is None:
            maker = self._models[name] = FrameMaker(name, load(name).patches, self._workers)
        return maker

    def _go_on(self, step: object, share: float | None = None) -> None:
        """Take what is told between steps as an occasion to end."""
        if self._closed:
            _leave()


def _leave() -> NoReturn:
    raise _Left("the page was closed")


def _order_of(given: Given) -> FrameOrder:
    width, _, height = given.text("size").partition("x")
    library = given.text("library")
    view = View(
        azimuth=given.real("azimuth"),
        elevation=given.real("elevation"),
        zoom=given.real("zoom"),
        width=int(width),
        height=int(height),
    )
    chosen = None if library == _AUTO else library
    flat = bool(given.whole("flat"))
    return FrameOrder(given.whole("samples"), given.text("schedule"), chosen, given.text("machine"), view, flat)


def _picture(made: DrawnPatches) -> Answer:
    colours = made.picture.colours
    height, width = colours.shape[:2]
    return Answer({**made.head(), "width": width, "height": height}, colours.tobytes())
