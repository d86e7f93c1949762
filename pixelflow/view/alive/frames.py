"""Frames: patches tessellated by a node that keeps them, and drawn by a machine, with what each step took."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pixelflow.config import THESIS
from pixelflow.node import Node
from pixelflow.simd.drawing import DrawnFrame, Frame
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.machine import machine_named
from pixelflow.simd.report import Json
from pixelflow.simd.telling import Telling
from tessellation import Method, Patch, PatchManager, PatchSamples, build_mesh
from tessellation.host.session import PassBegins
from tessellation.microprogram.libraries import library_for
from tessellation.picture import BACKGROUND, View
from tessellation.scenes import Body, draws_of

__all__ = ["PIXELFLOW", "DrawnPatches", "FrameMaker", "FrameOrder"]

PIXELFLOW = "pixelflow"
"""The machine whose node tessellates for every machine."""


@dataclass(frozen=True, slots=True)
class FrameOrder:
    """How a frame is made: samples along u and along v, ways of the tessellation, who draws, and from where."""

    samples: int
    schedule: str
    library: str | None
    machine: str
    view: View
    flat: bool


@dataclass(frozen=True, slots=True, eq=False)
class DrawnPatches:
    """A frame, and what it took: on the machines, and here (seconds of the host by step)."""

    drawn: DrawnFrame
    tessellation_cycles: int
    tessellation_stages: dict[str, int]
    tessellation_mhz: int
    passes: int
    samples: int
    triangles: int
    not_counted: tuple[str, ...]
    library: str
    engine: str
    seconds: dict[str, float]

    @property
    def milliseconds(self) -> float:
        """Machine time: the tessellation on its node, then the picture."""
        return self.tessellation_cycles / self.tessellation_mhz / 1e3 + self.drawn.milliseconds

    def head(self) -> dict[str, Json]:
        """Return the account as a page shows it."""
        drawn = self.drawn
        steps: list[Json] = [
            {"who": "tessellation, PixelFlow", "clock_mhz": self.tessellation_mhz, "cycles": self.tessellation_cycles,
             "stages": _pairs(self.tessellation_stages)},
            {"who": f"drawing, {drawn.machine}", "clock_mhz": drawn.clock_mhz, "cycles": drawn.cycles,
             "stages": _pairs(drawn.stages), "whose": drawn.whose_stages},
        ]  # fmt: skip
        return {
            "steps": steps,
            "machine_ms": self.milliseconds,
            "host_seconds": dict(self.seconds),
            "passes": self.passes,
            "samples": self.samples,
            "triangles": self.triangles,
            "library": self.library,
            "engine": self.engine,
            "facts": [list(fact) for fact in drawn.facts],
            "not_counted": list(self.not_counted),
            "own_arithmetic": drawn.own_arithmetic,
        }


class FrameMaker:
    """Makes frames of one set of patches; the node with the patches is kept from frame to frame."""

    def __init__(self, name: str, patches: Sequence[Patch]) -> None:
        self.name = name
        self.patches = tuple(patches)
        self._manager: PatchManager | None = None
        self._made: tuple[str, str] | None = None
        """Schedule and library of the node that is kept."""

    def draw(self, order: FrameOrder, telling: Telling, watch: Callable[[Node], None] | None = None) -> DrawnPatches:
        """Tessellate all patches and draw them; ``telling`` may raise what is to end the work.

        ``watch`` is called with the nodes that draw, where PixelFlow does. Raises InputError for what the machines
        cannot do.
        """
        begin = time.perf_counter()
        manager = self._kept(order)
        for handle in manager.handles:
            handle.mark(order.samples)

        def tell(step: PassBegins) -> None:
            telling(str(step))

        handles = manager.tessellate(tell)
        tessellated = time.perf_counter()
        found: list[PatchSamples] = [each.result for each in handles if each.result is not None]
        mesh = build_mesh(found, weld=True)
        points, normals = (np.asarray(values, np.float64) for values in (mesh.points, mesh.normals))
        body = Body(self.name, points, normals, np.asarray(mesh.triangles, np.int64), flat=order.flat)
        view = order.view
        frame = Frame(view.width, view.height, BACKGROUND, tuple(draws_of([body], view)))
        ready = time.perf_counter()
        drawn = self._drawn(frame, order, telling, watch)
        ended = time.perf_counter()
        stages: Counter[str] = Counter()
        for run in manager.runs:
            stages.update(run.by_stage)
        session = manager.session
        return DrawnPatches(
            drawn,
            manager.cycles,
            dict(stages),
            session.config.clock_mhz,
            len(manager.runs),
            sum(each.samples**2 for each in found),
            len(mesh.triangles),
            session.method.not_counted,
            session.library.name,
            session.node.engine,
            {"tessellation": tessellated - begin, "camera and light": ready - tessellated, "drawing": ended - ready},
        )

    def _drawn(
        self, frame: Frame, order: FrameOrder, telling: Telling, watch: Callable[[Node], None] | None
    ) -> DrawnFrame:
        machine = machine_named(order.machine)
        if machine.draw is None:
            raise InputError(Fault(f"{machine.title} draws nothing"))
        if watch is not None:
            if machine.name != PIXELFLOW:
                raise InputError(Fault(f"runs of {machine.title} are not looked into here"))
            return machine.draw(frame, progress=telling, watch=watch)  # type: ignore[call-arg]
        return machine.draw(frame, progress=telling)

    def _kept(self, order: FrameOrder) -> PatchManager:
        """Return the manager with all patches in texture memory, another one where the ways have changed."""
        method = Method(schedule=order.schedule)
        library = library_for(order.library, self.patches, finite=method.shares_columns).name
        if self._manager is None or self._made != (order.schedule, library):
            maximum: dict[int | tuple[int, int], int] = {}
            for patch in self.patches:
                maximum[patch.degrees] = maximum.get(patch.degrees, 0) + 1
            self._manager = PatchManager(maximum, config=THESIS, library=library, method=method)
            for patch in self.patches:
                self._manager.add(patch)
            self._made = order.schedule, library
        return self._manager


def _pairs(stages: dict[str, int]) -> list[list[Json]]:
    return [[name, cycles] for name, cycles in stages.items() if cycles]
