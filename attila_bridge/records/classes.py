"""Classes of acceptance: which figures of a recorded run must be equal here, and how far the others may be off.

The classes and their limits are those that were set before anything was measured here; none is chosen by what came out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from attila_bridge.records.files import RecordedRun
from attila_bridge.records.measured import RunFigures
from attila_bridge.scene.model import AttilaScene

__all__ = ["CLASSES", "Class", "RecordRow", "rows_of_run"]


@dataclass(frozen=True, slots=True)
class Class:
    """A class of figures."""

    name: str
    about: str


CLASSES = {
    each.name: each
    for each in (
        Class("A1", "pictures: no pixel different; by 1 in 255 with powers, logarithms, sines, mip maps, anisotropy"),
        Class("A2", "counts that no time changes: equal"),
        Class("A3", "compulsory counts of caches, where no line came in twice: equal"),
        Class("A4", "counts that time changes: within 5 %, those past hierarchical Z within 10 %"),
        Class("A5", "slopes: cycles a layer, triangle, quad, instruction, read, vertex: within 10 %"),
        Class("A6", "fixed cost of an empty triangle: within 25 %"),
        Class("A7", "cycles of drawing, scene by scene: within 25 %, the median of their sizes within 8 %"),
        Class("A8", "the same for mixed scenes, frames of 512 and sweeps: within 35 %, sweeps in the same order"),
        Class("A9", "cycles of whole frames: within 25 %"),
        Class("A10", "the machine of section 5: ratios within 15 %, in the same order"),
    )
}


@dataclass(frozen=True, slots=True)
class RecordRow:
    """A figure of a recorded run beside the one of this machine."""

    kind: str
    """The class of acceptance."""
    run: str
    figure: str
    recorded: float
    here: float
    limit: float
    """The largest deviation, as a share; 0 where both must be equal. For A1: the largest difference of a colour."""
    held: bool

    @property
    def deviation(self) -> float:
        """By how much the figure here is off, as a share of the recorded one (of 1 where that is 0)."""
        return (self.here - self.recorded) / (abs(self.recorded) or 1)


def within(kind: str, run: str, figure: str, recorded: float, here: float, limit: float) -> RecordRow:
    """Return the row of a figure that may be off by a share ``limit`` of the recorded one, or by one unit."""
    apart = abs(here - recorded)
    held = apart <= limit * abs(recorded) or (limit > 0 and apart <= 1)
    return RecordRow(kind, run, figure, recorded, here, limit, held)


_FIRST = (
    "IndexesSent_StF", "Triangles_PA", "OutputTriangles_CLP", "InputTriangles_TS", "InputTriangles_TT",
    "GeneratedFragments_TT", "CulledOutsideFragments_HZ",
)  # fmt: skip
"""Counts before anything that time changes."""
_PAST_HZ = (
    "OutputFragments_HZ", "InputFragments_FFU", "ShadedFragments_FFU", "OutputFragments_FFU", "texture_requests",
    "bilinear_samples", "z_tested", "z_passed", "color_operated_quads", "color_blended",
)  # fmt: skip
"""Counts past hierarchical Z, which time changes where it may cull."""
_HZ = ("CulledHZFragments_HZ",)
_SHADED = ("shader_inputs", "executed_instructions")
"""Counts that vertices take part in, so the cache of shaded vertices too."""
_VERTICES = ("Hits_StOC", "Misses_StOC")
_MEMORY = {
    "z_read_bytes": "z", "z_write_bytes": "z", "color_read_bytes": "color", "color_write_bytes": "color",
    "texture_fetch_misses_ok": "texture", "texture_bytes": "texture",
}  # fmt: skip
"""Counts of caches, by the cache."""
_FIRST_STATISTICS = (
    "Degenerated_PA", "Vertices_PA", "CulledTriangles_TS", "BackFacingTriangles_TS", "FrontFacingTriangles_TS",
    "OutsideTriangleFragments_HZ", "OutsideViewportFragments_HZ", "Stamps0Fragment_TT", "Stamps1Fragment_TT",
    "Stamps2Fragment_TT", "Stamps3Fragment_TT", "Stamps4Fragment_TT", "ClippedTriangles_CLP",
)  # fmt: skip
"""Statistics that are counts before anything that time changes."""
_LESS = ("less", "lequal", "equal")
_INEXACT = ("EX2", "LG2", "SIN", "COS", "SCS", "POW", "EXP", "LOG")


def rows_of_run(run: RecordedRun, scene: AttilaScene, found: RunFigures) -> Iterator[RecordRow]:
    """Yield the rows of a run by itself; those of families of runs are in `families`."""
    if found.different is not None:
        most = 1 if _inexact(scene) else 0
        yield RecordRow("A1", run.name, "pixels different", 0, found.different, most / 255, found.worst <= most)
    if run.machine == "paper":
        yield from _counts(run, scene, found)
    yield from _cycles(run, scene, found)


def _counts(run: RecordedRun, scene: AttilaScene, found: RunFigures) -> Iterator[RecordRow]:
    culls = _changed(run, "DisableHZ") != "TRUE" and any(
        draw.state.depth is not None and draw.state.depth.func.value in _LESS for draw in scene.draws
    )
    reuse = any(draw.indices is not None for draw in scene.draws)
    limits: dict[str, tuple[str, float]] = dict.fromkeys(_FIRST, ("A2", 0.0))
    limits |= dict.fromkeys((*_PAST_HZ, *_HZ), ("A4", 0.10) if culls else ("A2", 0.0))
    limits |= dict.fromkeys(_VERTICES, ("A4", 0.05) if reuse else ("A2", 0.0))
    limits |= dict.fromkeys(_SHADED, ("A4", 0.10) if culls else ("A4", 0.05) if reuse else ("A2", 0.0))
    for name, cache in _MEMORY.items():
        again = found.refilled.get(cache, 0)
        limits[name] = ("A4", 0.10) if culls else ("A4", 0.05) if again else ("A3", 0.0)
    for name, (kind, limit) in limits.items():
        if name in run.columns:
            yield within(kind, run.name, name, run.columns[name], found.columns.get(name, float("nan")), limit)
    for name in _FIRST_STATISTICS:
        if name in run.statistics:
            yield within("A2", run.name, name, run.statistics[name], found.statistics.get(name, float("nan")), 0.0)


def _cycles(run: RecordedRun, scene: AttilaScene, found: RunFigures) -> Iterator[RecordRow]:
    for figure, recorded in ((key, run.columns.get(key)) for key in ("cycles_drawing", "cycles")):
        if recorded is None:
            continue
        here = found.columns.get(figure, float("nan"))
        drawing = figure == "cycles_drawing"
        if run.machine != "paper":
            continue
        if run.columns.get("ShadedFragments_FFU") == 0 and run.columns.get("IndexesSent_StF") == 3:
            yield within("A6", run.name, figure, recorded, here, 0.25)
        if not drawing:
            yield within("A9", run.name, figure, recorded, here, 0.25)
        elif run.overrides or run.group == "mixed" or max(scene.size) > 256:
            yield within("A8", run.name, figure, recorded, here, 0.35)
        else:
            yield within("A7", run.name, figure, recorded, here, 0.25)


def _changed(run: RecordedRun, parameter: str) -> str:
    """Return the value of a parameter that a run changes, whatever section it is of; empty where it does not."""
    return {key.rpartition(".")[2]: value for key, value in run.overrides.items()}.get(parameter, "")


def _inexact(scene: AttilaScene) -> bool:
    """Return whether colours may differ in the last place: functions past sums and products, or levels of detail."""
    if any(word in text for text in scene.programs.values() for word in _INEXACT):
        return True
    return any(each.min.levels != "none" or each.anisotropy > 1 for each in scene.textures.values())
