"""A folder of recorded runs of ATTILA, judged by class of acceptance."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil, isfinite, isnan, nan
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from attila_bridge.function.work import DrawWork
from attila_bridge.run import SceneRun, run_scene
from attila_bridge.scene import AttilaScene, load_scene, shown
from attila_bridge.time.config import PRESETS
from pixelflow.simd.attendance import Counting, unseen
from pixelflow.simd.errors import Fault, InputError, MachineFault, Place
from pixelflow.simd.files import TEXTURE, read_bytes, read_text
from pixelflow.simd.report import Column, Json, Part, Report, Table, number
from pixelflow.simd.workers import WorkerPool
from tests.recorded import HERE, RECORDS
from tests.recorded.attila_names import overridden

# Files of records: ``runs.csv``, tables of statistics, scenes and frames of a folder, read once and checked.


MACHINES = ("paper", "case")
"""The machines of records that are built here."""
_KEYS = ("run", "scene", "group", "machine")


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run that was recorded."""

    name: str
    scene: str
    group: str
    machine: str
    overrides: Mapping[str, str]
    """Values of the recorded machine's parameters, ``SECTION.Parameter``, that differ from its preset."""
    columns: Mapping[str, float]
    """The numbers of its row of ``runs.csv``."""
    frame: str
    """The file of its picture, in ``frames``; empty where none was recorded."""
    statistics: Mapping[str, float] = field(default_factory=dict)
    """Every statistic that was recorded, by name and instance."""


@dataclass(frozen=True, slots=True)
class Records:
    """What a folder has."""

    folder: Path
    runs: tuple[RecordedRun, ...]
    skipped: Mapping[str, str]
    """What is not judged, and why."""

    def scene(self, run: RecordedRun) -> Path:
        """Return the file of the scene of a run."""
        return self.folder / "scenes" / f"{run.scene}.json"

    def frame(self, run: RecordedRun) -> Path | None:
        """Return the file of the picture of a run; None where there is none."""
        path = self.folder / "frames" / run.frame
        return path if run.frame and path.is_file() else None


def read_records(folder: Path) -> Records:
    """Return what a folder has; raises InputError where it has no ``runs.csv``, or one that is damaged."""
    path = folder / "runs.csv"
    if not path.is_file():
        raise InputError(Fault("is no folder of records of ATTILA", Place(str(folder)), "it needs a runs.csv"))
    statistics, skipped = _statistics(folder)
    runs: list[RecordedRun] = []
    elsewhere: dict[str, int] = {}
    names: set[str] = set()
    for number, row in _table(path):
        if missing := [key for key in _KEYS if not row.get(key)]:
            raise InputError(Fault(f"has no {missing[0]}", Place(str(path), number), "columns: " + ", ".join(_KEYS)))
        if row["machine"] not in MACHINES:
            elsewhere[row["machine"]] = elsewhere.get(row["machine"], 0) + 1
            continue
        run = _run(path, number, row, statistics.get(row["run"], {}))
        if run.name in names:
            raise InputError(Fault(f"{run.name} is there twice", Place(str(path), number), "a row for each run"))
        names.add(run.name)
        if not (folder / "scenes" / f"{run.scene}.json").is_file():
            skipped[run.name] = f"there is no scene {run.scene}"
            continue
        runs.append(run)
    for machine, count in elsewhere.items():
        skipped[f"{count} runs of {machine}"] = "that machine is not built here"
    return Records(folder, tuple(runs), skipped)


def _run(path: Path, number: int, row: Mapping[str, str], statistics: Mapping[str, float]) -> RecordedRun:
    try:
        overrides = json.loads(row.get("overrides") or "{}")
        if not isinstance(overrides, dict):
            raise ValueError("overrides are no JSON object")
        columns = _numbers({key: text for key, text in row.items() if key not in (*_KEYS, "overrides", *_TEXTS)})
        if none := [key for key, value in columns.items() if key in _CYCLES and value <= 0]:
            raise ValueError(f"{none[0]} is {columns[none[0]]:g}, a run takes cycles")
    except (ValueError, RecursionError) as error:
        raise InputError(Fault(f"cannot be read: {error}", Place(str(path), number))) from None
    names = (row["run"], row["scene"], row["group"], row["machine"])
    for key in ("scene", "frame"):
        if not _FILE_NAME.fullmatch(row.get(key) or "none"):
            fault = f"{key} is {shown(row[key])}"
            raise InputError(
                Fault(fault, Place(str(path), number), f"a name in the folder {key}s: no /, no leading dot")
            )
    given = {str(key): str(value) for key, value in overrides.items()}
    return RecordedRun(*names, given, columns, row.get("frame") or "", statistics)


_TEXTS = ("frame", "frame_sha256", "seconds")
"""Columns that are no figures of the machine."""
_CYCLES = ("cycles", "cycles_drawing", "cycles_rendered")
_FILE_NAME = re.compile(r"[^/\\\0.][^/\\\0]{0,199}")
"""Names of scenes and pictures, which stay in their folders."""


def _numbers(row: Mapping[str, str]) -> dict[str, float]:
    """Return the numbers of a row; a cell is empty where the machine has no such unit. Raises ValueError."""
    found = {}
    for key, text in row.items():
        if key and text:
            try:
                found[key] = float(text)
            except ValueError:
                raise ValueError(f"{key} is {shown(text)}, a number is wanted here") from None
            if not isfinite(found[key]):
                raise ValueError(f"{key} is {text}, a finite number is wanted here")
    return found


def _statistics(folder: Path) -> tuple[dict[str, dict[str, float]], dict[str, str]]:
    found: dict[str, dict[str, float]] = {}
    skipped: dict[str, str] = {}
    for machine in MACHINES:
        path = folder / f"statistics_{machine}.csv"
        if not path.is_file():
            skipped[path.name] = "not in the folder"
            continue
        for number, row in _table(path):
            name = row.pop("run", "")
            try:
                found[name] = _numbers(row)
            except ValueError as error:
                raise InputError(Fault(f"cannot be read: {error}", Place(str(path), number))) from None
    return found, skipped


def _table(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a CSV file by the names in its first line, each with the number of its last line."""
    reader = csv.DictReader(io.StringIO(read_text(path, RECORDS)), restval="")
    try:
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise InputError(Fault(f"is no CSV: {error}", Place(str(path), max(1, reader.line_num)))) from None
    for number, row in rows:
        if None in row:
            raise InputError(Fault("has more cells than its first line has names", Place(str(path), number)))
    return rows


# Measures of records: each recorded scene drawn and timed here, and its picture laid beside the recorded one.


_BYTES_MOST = 255
_SHADERS = 4
"""More than any machine here has."""


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What a recorded run gives here."""

    columns: Mapping[str, float] = field(default_factory=dict)
    statistics: Mapping[str, float] = field(default_factory=dict)
    refilled: Mapping[str, int] = field(default_factory=dict)
    """Lines that came into a cache more than once, by kind of cache: ``z``, ``color``, ``texture``."""
    different: int | None = None
    """Pixels of the picture that differ from the recorded one; None where there is none."""
    worst: int = 0
    """The largest difference of a colour, in 255ths."""
    refused: str = ""
    """Why there is nothing of this."""


def measure(
    records: Records, workers: WorkerPool = HERE, progress: Counting = unseen
) -> Iterator[tuple[RecordedRun, RunFigures]]:
    """Yield every run of a folder with what it gives here; who makes them is ``workers``' affair."""
    found: dict[int, RunFigures] = {}
    works = [(run, records) for run in records.runs]
    for place, figures in workers.finished(_measured, works, lambda work: f"the run {work[0].name}"):
        found[place] = figures
        progress(len(found), len(works), records.runs[place].name)
    yield from ((run, found[place]) for place, run in enumerate(records.runs))


def _measured(work: tuple[RecordedRun, Records]) -> RunFigures:
    run, records = work
    try:
        # The recorded machine cannot be told to draw frames whole that are higher than wide.
        config = overridden(PRESETS[run.machine], run.overrides).with_values({"traversal.square": True})
        found = run_scene(load_scene(records.scene(run)), config=config)
        different, worst = _beside(found.image, records, run)
    except (InputError, MachineFault) as error:
        return RunFigures(refused=str(error))
    return RunFigures(dict(found.columns), dict(found.statistics), refilled(found), different, worst)


def refilled(found: SceneRun) -> dict[str, int]:
    """Return how many lines each kind of cache took in beyond the different ones that a run touches."""
    draws = found.work.draws
    kinds = {
        "z": ("_FC_ZST-", {block for each in draws for block in each.quads.block.tolist()}),
        "color": ("_FC_CW-", {block for each in draws for block in each.quads.block.tolist()}),
        "texture": ("_FC64_TU-", _texture_lines(draws, found.config.texture.line)),
    }
    again = {}
    for kind, (unit, lines) in kinds.items():
        taken = sum(count for name, count in found.statistics.items() if name.startswith("MissOK") and unit in name)
        again[kind] = max(0, round(taken) - len(lines))
    return again


def _texture_lines(draws: Sequence[DrawWork], size: int) -> set[int]:
    """Return the lines of texels that draws read, each with the shader that reads it."""
    found: set[int] = set()
    for draw in draws:
        for read in draw.textures:
            shader = np.repeat(draw.quads.shader[read.quads >> 4].astype(np.int64), np.diff(read.loops))
            lines = read.texels.reshape(len(shader), -1).astype(np.int64) // size
            found.update(np.unique(lines * _SHADERS + shader[:, None]).tolist())
    return found


def _beside(image: NDArray[np.uint8], records: Records, run: RecordedRun) -> tuple[int | None, int]:
    """Return how many pixels of a picture differ from the recorded one, and by how much at most.

    Raises InputError where the recorded one cannot be read.
    """
    path = records.frame(run)
    if path is None:
        return None, 0
    from PIL import Image, UnidentifiedImageError

    content = read_bytes(path, TEXTURE)
    try:
        with Image.open(io.BytesIO(content)) as picture:
            if picture.size != (image.shape[1], image.shape[0]):  # before it is decoded
                return image.shape[0] * image.shape[1], _BYTES_MOST
            recorded = np.asarray(picture.convert("RGB"))
    except UnidentifiedImageError:  # its message has an address of memory
        raise InputError(Fault("not a picture that can be read: no format that is known", Place(str(path)))) from None
    except Exception as error:  # the library's readers raise whatever the damage leads to
        raise InputError(Fault(f"not a picture that can be read: {error}"[:300], Place(str(path)))) from None
    apart = np.abs(image.astype(np.int16) - recorded.astype(np.int16))
    return int((apart.max(axis=2) > 0).sum()), int(apart.max(initial=0))


# Classes of acceptance: which figures of a recorded run must be equal here, and how far the others may be off.
#
# The classes and their limits are those that were set before anything was measured here; none is chosen by what came
# out.


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
        Class("meshes", "cycles of drawing of indexed meshes: within 10 %"),
        Class("statistics", "95 % of kinds of statistics within 5 % in nine of ten runs"),
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
        if drawing and any(draw.indices is not None for draw in scene.draws):
            yield within("meshes", run.name, figure, recorded, here, 0.10)
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


# Families of recorded runs: slopes along a row of scenes, orders and ratios along a sweep of one scene.


_DRAWING = "cycles_drawing"
_SLOPES = {
    "a layer": re.compile(r"(?:layers|z|blend)(?:512)?(?:_[a-z]+)*_(\d+)"),
    "a triangle": re.compile(r"many(?:_[a-z]+)*_(\d+)"),
    "a quad of the grid": re.compile(r"grid(?:512)?_(\d+)"),
    "an instruction": re.compile(r"(?:alu_[a-z]+|ratio_\d+|vert_program)_(\d+)"),
    "a texture read": re.compile(r"ratio_(\d+)_\d+"),
    "a vertex": re.compile(r"vert_(?:mesh|offscreen)_(\d+)"),
}
"""What slopes are judged of, and the number in the names of scenes that says how many of it there are.

Other numbers are sizes: of a texture, of a triangle's leg, of the screen."""
_APART = 0.05
"""Neighbours of a sweep that are this share apart must come in the recorded order."""

Found = tuple[RecordedRun, RunFigures]


def rows_of_families(found: Sequence[Found]) -> Iterator[RecordRow]:
    """Yield the rows that take several runs: slopes, medians, orders, ratios."""
    found = [each for each in found if _DRAWING in each[0].columns]
    yield from _slopes(found)
    yield from _median(found)
    yield from _orders("A8", [each for each in found if each[0].machine == "paper"])
    case = [each for each in found if each[0].machine == "case"]
    yield from _orders("A10", case)
    yield from _ratios(case)


def _slopes(found: Iterable[Found]) -> Iterator[RecordRow]:
    """Yield how many cycles a family's last scene takes more than its first: names that differ in one number."""
    families: dict[tuple[str, str], list[tuple[int, Found]]] = {}
    for each in found:
        run = each[0]
        if run.overrides or run.machine != "paper":
            continue
        for what, names in _SLOPES.items():
            match = names.fullmatch(run.scene)
            if match is not None:
                name = f"{run.scene[: match.start(1)]}N{run.scene[match.end(1) :]}"
                families.setdefault((name, what), []).append((int(match[1]), each))
    for (name, what), members in families.items():
        members.sort(key=lambda member: member[0])
        (low, first), (high, last) = members[0], members[-1]
        if low == high:
            continue
        recorded = last[0].columns[_DRAWING] - first[0].columns[_DRAWING]
        here = _here(last) - _here(first)
        yield within("A5", name, f"{what}: cycles from {low} to {high}", recorded, here, 0.10)


def _median(found: Iterable[Found]) -> Iterator[RecordRow]:
    sizes = [
        abs(_here(each) / each[0].columns[_DRAWING] - 1)
        for each in found
        if each[0].machine == "paper" and not each[0].overrides and each[0].group != "mixed"
    ]
    if sizes:
        middle = median(sizes)
        yield RecordRow("A7", "all synthetic scenes", "median deviation of drawing", 0, middle, 0.08, middle <= 0.08)


def _sweeps(found: Iterable[Found]) -> Iterator[tuple[str, list[Found]]]:
    """Yield the runs of one scene whose machine differs in the same parameters, the plain one among them."""
    plain = {each[0].scene: each for each in found if not each[0].overrides}
    sweeps: dict[tuple[str, tuple[str, ...]], list[Found]] = {}
    for each in found:
        if each[0].overrides:
            sweeps.setdefault((each[0].scene, tuple(sorted(each[0].overrides))), []).append(each)
    for (scene, keys), members in sweeps.items():
        names = "+".join(key.rpartition(".")[2] for key in keys)
        yield f"{scene} by {names}", [*members, *([plain[scene]] if scene in plain else [])]


def _orders(kind: str, found: Sequence[Found]) -> Iterator[RecordRow]:
    for name, members in _sweeps(found):
        members.sort(key=lambda each: each[0].columns[_DRAWING])
        for slower, faster in pairwise(reversed(members)):
            recorded = slower[0].columns[_DRAWING] / faster[0].columns[_DRAWING]
            if recorded > 1 + _APART:
                here = _here(slower) / _here(faster)
                figure = f"{_short(slower)} slower than {_short(faster)}"
                yield RecordRow(kind, name, figure, recorded, here, 0, here > 1)


def _ratios(found: Sequence[Found]) -> Iterator[RecordRow]:
    """Yield the drawing of every run of a scene as a multiple of its first in the folder's order."""
    first: dict[str, Found] = {}
    for each in found:
        base = first.setdefault(each[0].scene, each)
        if base is not each:
            recorded = each[0].columns[_DRAWING] / base[0].columns[_DRAWING]
            yield within(
                "A10", each[0].name, f"as multiple of {_short(base)}", recorded, _here(each) / _here(base), 0.15
            )


def _here(each: Found) -> float:
    return each[1].columns.get(_DRAWING, nan)


def _short(each: Found) -> str:
    return "+".join(f"{key.rpartition('.')[2]}={value}" for key, value in each[0].overrides.items()) or "as it is"


# Statistics by kind: every statistic of every run, summed over units and channels.


_ENOUGH, _WITHIN, _KINDS = 0.9, 0.05, 0.95
"""Share of runs in which a kind has to be right, how far it may be off there, and share of kinds that have to be."""


@dataclass(frozen=True, slots=True)
class StatisticRow:
    """A kind of statistic over all runs that have it."""

    name: str
    runs: int
    right: int
    """Runs in which it is within 5 %, or one unit."""
    middle: float
    """Median of the ratio to the recorded figure, over runs in which that is not 0; NaN without such runs."""

    @property
    def share(self) -> float:
        """Share of runs in which it is right."""
        return self.right / self.runs

    @property
    def held(self) -> bool:
        """True if it is right in nine of ten runs."""
        return self.share >= _ENOUGH


def kind_of(name: str) -> str:
    """Return a statistic's name without numbers of units, channels and samples: `DataCycles_MC`, `Inputs_ShF`."""
    base, _, box = name.partition("-")[0].rpartition("_")
    numbered = box == "MC" or base.startswith("Histo")
    return f"{re.sub('[0-9]{2}$', '', base) if numbered else base}_{box}"


def rows_of_statistics(found: Sequence[Found]) -> tuple[StatisticRow, ...]:
    """Return a row for each kind that both the record and this machine have, the least right first."""
    figures: dict[str, list[tuple[float, float]]] = {}
    for run, here in found:
        sums: dict[str, list[float]] = {}
        for name, value in here.statistics.items():
            if name in run.statistics:
                of_kind = sums.setdefault(kind_of(name), [0.0, 0.0])
                of_kind[0] += run.statistics[name]
                of_kind[1] += value
        for kind, (recorded, ours) in sums.items():
            figures.setdefault(kind, []).append((recorded, ours))
    rows = []
    for kind, pairs in figures.items():
        right = sum(within("", "", kind, *pair, _WITHIN).held for pair in pairs)
        ratios = [ours / recorded for recorded, ours in pairs if recorded]
        rows.append(StatisticRow(kind, len(pairs), right, median(ratios) if ratios else nan))
    return tuple(sorted(rows, key=lambda row: (row.share, row.name)))


def _share_of_kinds(rows: Sequence[StatisticRow]) -> Iterator[RecordRow]:
    if rows:
        wanted, right = ceil(_KINDS * len(rows)), sum(row.held for row in rows)
        yield RecordRow("statistics", "all runs", f"right kinds of {len(rows)}", wanted, right, 0, right >= wanted)


# Judging of a folder: every recorded run is made here, and its figures are judged by class of acceptance.


_SHOWN = 40
"""Rows that fall short and are spelled out as text; JSON has all rows."""


@dataclass(frozen=True, slots=True)
class FolderJudgement:
    """What came of a folder."""

    records: Records
    rows: tuple[RecordRow, ...]
    refused: dict[str, str]
    """Runs that this machine does not make, and why."""
    statistics: tuple[StatisticRow, ...] = ()

    @property
    def short(self) -> list[RecordRow]:
        """Rows that do not hold."""
        return [row for row in self.rows if not row.held]


def judge(records: Records, workers: WorkerPool = HERE, progress: Counting = unseen) -> FolderJudgement:
    """Make every run of a folder and judge it; raises InputError where a scene is damaged."""
    found = list(measure(records, workers, progress))
    refused = {run.name: each.refused for run, each in found if each.refused}
    made = [(run, each) for run, each in found if not each.refused]
    rows = [row for run, each in made for row in rows_of_run(run, load_scene(records.scene(run)), each)]
    statistics = rows_of_statistics(made)
    return FolderJudgement(records, (*rows, *rows_of_families(made), *_share_of_kinds(statistics)), refused, statistics)


def report(folder: Path, workers: WorkerPool = HERE, progress: Counting = unseen) -> Report:
    """Judge a folder and report: how many figures hold by class, and those that fall short."""
    found = judge(read_records(folder), workers, progress)
    parts: list[Part] = [_summary(found)]
    if found.short:
        columns = (
            Column("class", fixed=True), Column("run", fixed=True), Column("figure"), Column("recorded", number),
            Column("here", number), Column("off"),
        )  # fmt: skip
        shown = [(row.kind, row.run, row.figure, row.recorded, row.here, _off(row)) for row in found.short[:_SHOWN]]
        parts += ["falling short:", Table(columns, shown)]
        if len(found.short) > _SHOWN:
            parts.append(f"and {len(found.short) - _SHOWN} more; --json has them all")
    off = [row for row in found.statistics if not row.held]
    if off:
        kinds = (Column("statistic", fixed=True), Column("runs within 5 %"), Column("median ratio"))
        parts += [
            "statistics right in fewer than nine of ten runs:",
            Table(kinds, [statistic_cells(row) for row in off]),
        ]
    parts += [f"refused: {name} ({reason})" for name, reason in found.refused.items()]
    parts += [f"skipped: {name} ({reason})" for name, reason in found.records.skipped.items()]
    nothing = "" if found.rows else "nothing to judge"
    failure = "" if found.short or found.refused else nothing or None
    return Report(results=parts, schema="pixelflow.attila-records/1", data=_data(found), failure=failure)


def statistic_cells(row: StatisticRow) -> tuple[str, str, str]:
    """Return the cells of a kind: its name, share of runs, median ratio."""
    return row.name, f"{row.share:.0%}", "-" if isnan(row.middle) else f"{row.middle:.2f}"


def _summary(found: FolderJudgement) -> Table:
    rows = []
    for name, each in CLASSES.items():
        of_class = [row for row in found.rows if row.kind == name]
        held = sum(row.held for row in of_class)
        worst = max(of_class, key=lambda row: abs(row.deviation), default=None)
        rows.append((name, each.about, held, len(of_class) - held, "-" if worst is None else _off(worst)))
    columns = (
        Column("class", fixed=True), Column("figures"), Column("held", number), Column("short", number),
        Column("furthest off"),
    )  # fmt: skip
    return Table(columns, rows)


def _off(row: RecordRow) -> str:
    return f"{row.here:,.0f}" if row.kind == "A1" else f"{row.deviation:+.1%}"


def _data(found: FolderJudgement) -> dict[str, Json]:
    return {
        "folder": str(found.records.folder),
        "held": sum(row.held for row in found.rows),
        "short": len(found.short),
        "rows": [
            {
                "class": row.kind, "run": row.run, "figure": row.figure, "recorded": row.recorded, "here": row.here,
                "deviation": row.deviation, "limit": row.limit, "held": row.held,
            }
            for row in found.rows
        ],
        "statistics": [
            {"statistic": row.name, "runs": row.runs, "within": row.right, "ratio": statistic_cells(row)[2]}
            for row in found.statistics
        ],
        "refused": dict(found.refused),
        "skipped": dict(found.records.skipped),
    }  # fmt: skip
