"""Studies: cycles of passes and pictures as a guess, a schedule, a library or the supply of words varies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from pixelflow.config import THESIS, NodeConfig
from pixelflow.isa import Program
from pixelflow.node import Node, Run, guesses, stages_of, words_of
from pixelflow.simd.configuration import Value, leaves
from pixelflow.simd.drawing import FreeWork, free_lines, free_object
from pixelflow.simd.report import Column, Json, Part, Report, Table, counted, facts, number, percent
from pixelflow.simd.units import Standing, whole_number
from tessellation.host.manager import PatchHandle, PatchManager
from tessellation.host.session import new_session
from tessellation.host.tessellator import Tessellation
from tessellation.microprogram.gp_traffic import RESULT_BYTES
from tessellation.microprogram.method import CACHING_WAYS, KEPT, NORMALS, SCHEDULES, TRANSFERS, Method, library_named
from tessellation.plan.schedule import Stage, without_configuration
from tessellation.plan.texture_layout import ResultArea
from tessellation.sampling import COUNTS, SampleChoice, SeenPatches, pixel_errors, samples_alike, unseen_facts
from tessellation.surface.patch import Patch

# Workloads of the studies: programs assembled once, and run without data on different machines.


class Measurement(NamedTuple):
    """Runs of programs on a machine, in order."""

    runs: tuple[Run, ...]

    @property
    def cycles(self) -> int:
        """Cycles of all runs, without the configuration of the LEE, which is done once a session."""
        return sum(run.total_cycles - run.by_stage.get(Stage.LEE.value, 0) for run in self.runs)

    @property
    def waits(self) -> dict[str, int]:
        """Idle cycles of the EMC streams, by reason."""
        total: Counter[str] = Counter()
        for run in self.runs:
            total.update(run.waits)
        return dict(total)


class Workload(NamedTuple):
    """Programs under a name."""

    name: str
    programs: tuple[Program, ...]

    def on(self, config: NodeConfig) -> Measurement:
        """Run the programs, timing only, on a machine of the same size."""
        return Measurement(tuple(Node(config, "rows").run(each, function=False) for each in self.programs))


class PassInput(NamedTuple):
    """Patches held by a session, and those it tessellates."""

    name: str
    text: str
    samples: tuple[int, ...]
    """Samples along a side of each registered patch."""
    marked: tuple[int, ...]
    """Numbers of the tessellated patches."""


def _half(count: int, groups: int = 1) -> tuple[int, ...]:
    """Return a random half of ``2 * count`` numbers, with equal counts of each remainder by ``groups``."""
    random = np.random.default_rng(1995)
    each = count // groups
    return tuple(sorted(n * groups + at for at in range(groups) for n in random.permutation(2 * each)[:each].tolist()))


_BLOCKS = THESIS.array.blocks
_THIRD = _BLOCKS // 3
_MIXED = tuple(size for size in (4, 8, 16) for _ in range(_THIRD // (size // 4) ** 2))

INPUTS = {
    each.name: each
    for each in (
        PassInput("full", f"{_BLOCKS} patches, one pass", (4,) * _BLOCKS, tuple(range(_BLOCKS))),
        PassInput("spread", "a random half of each module", (4,) * 2 * _BLOCKS, _half(_BLOCKS, THESIS.array.modules)),
        PassInput("half", f"a random half of {2 * _BLOCKS:,} patches", (4,) * 2 * _BLOCKS, _half(_BLOCKS)),
        PassInput("mixed", f"{len(_MIXED)} patches at 4, 8 and 16 samples", _MIXED, tuple(range(len(_MIXED)))),
        PassInput("three", f"{3 * _BLOCKS:,} patches, three passes", (4,) * 3 * _BLOCKS, tuple(range(3 * _BLOCKS))),
    )
}
"""Inputs of passes over bicubic nets; their values change no cycle. Patches are dealt to the modules in turn and stay
there, so a random half of all, unevenly distributed over the modules, takes a second pass."""


def libraries_text(names: Iterable[str]) -> str:
    """Return the list of float libraries in the head of a report, without repetition."""
    found = list(dict.fromkeys(names))
    return f"librar{'y' if len(found) == 1 else 'ies'} {', '.join(found)}"


def pass_of(method: Method, library: str, *, given: PassInput = INPUTS["full"], name: str = "") -> Workload:
    """Return the passes of an input by a method, with a float library."""
    session = new_session(THESIS, "rows", library_named(library), method)
    net = Patch(np.zeros((4, 4, 3), np.float32))
    numbers = [session.add(net, size) for size in given.samples]
    programs = session.programs({numbers[each]: given.samples[each] for each in given.marked})
    return Workload(name or given.text, programs)


# Grids: studies with a row for each point of their axes, executed, timing only.


class StudyAxis(NamedTuple):
    """An axis of a study, and its default values."""

    name: str
    values: tuple[str | int, ...]
    metavar: str = ""
    """Metavar of the option for its values; empty for no option."""
    help: str = ""
    read: Callable[[str], Sequence[str | int]] | None = None
    """Reader of its values; None for a choice of the default ones."""
    always: tuple[str | int, ...] = ()
    """Values that are always measured, before the others."""


class StudyBench:
    """Workloads on a machine, each executed once; ``picture`` is drawn in addition to the passes."""

    def __init__(self, config: NodeConfig, tell: Callable[[str], None], picture: Workload | None = None) -> None:
        self.config, self.tell, self.picture = config, tell, picture
        self._found: dict[tuple[object, ...], Measurement] = {}

    def measured(self, method: Method, library: str, given: str) -> Measurement:
        """Return the passes of an input by a method, with a float library."""
        key = (method, library, given)
        if key not in self._found:
            apart = ", transfers apart" * (method.transfers == TRANSFERS[True])
            kept = f", {method.cache}, {method.kept}" * bool(method.cache)
            self.tell(f"{INPUTS[given].text}: {method.schedule}, {library}, {method.results}{apart}{kept}")
            self._found[key] = pass_of(method, library, given=INPUTS[given]).on(self.config)
        return self._found[key]

    def on(self, work: Workload, config: NodeConfig) -> Measurement:
        """Return a workload, identified by its name, on another machine."""
        key = (work.name, config)
        if key not in self._found:
            self.tell(work.name)
            self._found[key] = work.on(config)
        return self._found[key]


Chosen = Mapping[str, Sequence[str | int]]
"""Values of axes by their names."""


class GridStudy(NamedTuple):
    """A study as axes and columns; ``row`` measures a point, given by the names of its axes."""

    name: str
    help: str
    title: str
    schema: str
    axes: tuple[StudyAxis, ...]
    columns: tuple[Column, ...]
    row: Callable[[StudyBench, Mapping[str, str | int]], Sequence[Json]]
    key: str
    """Key of the table in JSON."""
    text: Callable[[StudyBench], str]
    libraries: Callable[[Chosen], Iterable[str]]
    behind: Callable[[StudyBench], Sequence[Part]] = lambda _: ()
    """Returns the parts below the table."""
    picture: bool = False
    """True if a picture is drawn too."""

    def report(self, bench: StudyBench, chosen: Chosen) -> Report:
        """Return the table of all points; axes not chosen have their default values."""
        values = {axis.name: (*axis.always, *chosen.get(axis.name, axis.values)) for axis in self.axes}
        points = (dict(zip(values, point, strict=True)) for point in product(*values.values()))
        rows = [self.row(bench, point) for point in points]
        return Report(
            self.title,
            (f"config {bench.config.sha256[:6]}", libraries_text(self.libraries(values)), "timing only, executed"),
            results=[self.text(bench), "", Table(self.columns, rows, key=self.key), *self.behind(bench)],
            schema=self.schema,
        )


# Results kept in texture memory: each way of appendix B after the passes and during them.


LIBRARY = {schedule: "tuned-finite" if number else "plain" for number, schedule in enumerate(SCHEDULES)}
"""Float library of each schedule, as in the documents."""


def _cached(bench: StudyBench, point: Mapping[str, str | int]) -> Sequence[Json]:
    schedule, way = str(point["schedules"]), str(point["way"])

    def measured(way: str | None, kept: str | None = None) -> Measurement:
        return bench.measured(Method(schedule=schedule, cache=way, kept=kept), LIBRARY[schedule], "three")

    plain, after, beside = measured(None), *(measured(way, kept) for kept in KEPT)
    middle = beside.runs[1]
    more = middle.total_cycles - plain.runs[1].total_cycles
    hidden = (after.cycles - beside.cycles) / (len(plain.runs) - 1)
    waits = middle.by_stage[Stage.KEPT_STALL.value]
    return (schedule, way, plain.cycles, after.cycles, beside.cycles, more, waits, int(hidden))


def _room(config: NodeConfig) -> Table:
    """Return the memory that the results of a pass need in each module, for each way."""
    results = config.lanes // config.array.modules * RESULT_BYTES
    rows: list[Sequence[Json]] = []
    for way in CACHING_WAYS:
        taken = ResultArea.at(way, 0, config).taken_cells * config.sdram.devices_per_module
        rows.append((way, results, taken, (taken - results) / taken))
    columns = (
        Column("way", key="way"), Column("bytes of results", number, "results"), Column("in", number, "taken"),
        Column("empty", percent, "empty"),
    )  # fmt: skip
    return Table(columns, rows, title="of each pass in each module", key="room")


CACHING = GridStudy(
    "caching",
    "results kept in texture memory after their pass or during the next, by way and schedule (about a minute)",
    "kept results",
    "pixelflow.study.caching/1",
    (StudyAxis("schedules", SCHEDULES, "SCHEDULE"), StudyAxis("way", CACHING_WAYS)),
    (
        Column("schedule", key="schedule"), Column("way", key="way", fixed=True), Column("not kept", number, "plain"),
        Column("after", number, "after"), Column("during", number, "beside"),
        Column("more", number, "more"), Column("waits", number, "waits"), Column("hidden", number, "hidden"),
    ),
    _cached,
    "cycles",
    lambda _: (
        f"Cycles of {INPUTS['three'].text}. After: each pass is followed by a program that keeps its results. "
        "During: the next pass keeps them, and the last pass is followed by such a program. More: additional cycles of "
        "a pass that keeps the results of another, with its waits. Hidden: cycles saved of the program."
    ),
    lambda chosen: (LIBRARY[str(each)] for each in chosen["schedules"]),
    lambda bench: ("", _room(bench.config)),
)  # fmt: skip


# Schedules: schedule x library x way of the results x input, executed; the gain by its causes.


LIBRARIES = ("plain", "tuned", "tuned-finite", "generic", "generic-finite")
RESULTS = ("direct", "gp", "gp-fine")
_THESIS, _SHARED, _FIXED = SCHEDULES
_FIXED_POINT, _FLOAT = NORMALS


def _method(bench: StudyBench, schedule: str, results: str = "direct") -> Method:
    """Return a method whose results go to all GPs of a node, so that schedules are comparable."""
    gps = None if results == "direct" else bench.config.gni.gp_count
    return Method(schedule=schedule, results=results, gps=gps)


def _scheduled(bench: StudyBench, point: Mapping[str, str | int]) -> Sequence[Json]:
    given, library, results = map(str, point.values())
    ours, theirs = (
        bench.measured(_method(bench, schedule, results), library, given).cycles for schedule in (_SHARED, _THESIS)
    )
    return (INPUTS[given].text, library, results, theirs, ours, theirs / ours)


def _causes(bench: StudyBench) -> list[str | Table]:
    """Return the steps from the thesis's pass to the shortest one, each a difference of executed passes.

    Each pass is also executed with its transfers apart, which shows the gain by overlap.
    """
    plain, tuned = LIBRARIES[0], "tuned-finite"
    steps = (
        (f"schedule of the thesis, {plain}", _THESIS, plain, "full", True, _FIXED_POINT),
        ("columns shared", _SHARED, plain, "spread", False, _FIXED_POINT),
        ("banks alternate", _SHARED, plain, "spread", True, _FIXED_POINT),
        ("addresses computed", _SHARED, plain, "full", True, _FIXED_POINT),
        (f"library {tuned}", _SHARED, tuned, "full", True, _FIXED_POINT),
        ("sums in fixed point", _FIXED, tuned, "full", True, _FLOAT),
        ("normals by a reciprocal root", _FIXED, tuned, "full", True, _FIXED_POINT),
    )
    found: list[tuple[str, Measurement, Measurement]] = []
    for text, schedule, library, given, alternate, normals in steps:
        each, apart = (
            bench.measured(
                replace(_method(bench, schedule), transfers=transfers, alternate=alternate, normals=normals),
                library,
                given,
            )
            for transfers in TRANSFERS
        )
        found.append((text, each, apart))
    first, last = found[0][1].cycles, found[-1][1].cycles
    rows: list[Sequence[Json]] = []
    before = first
    for text, each, apart in found:
        saved = before - each.cycles
        share = 100 * saved / (first - last) if saved else None
        hidden = apart.cycles - each.cycles
        rows.append((text, each.cycles, saved, share, sum(each.waits.values()), apart.cycles, hidden))
        before = each.cycles
    columns = (
        Column("step", key="step"), Column("cycles", number, "cycles", bars=True), Column("saved", number, "saved"),
        Column("share", lambda share: "" if share is None else f"{share:.1f} %", "share_percent"),
        Column("waits", number, "wait_cycles"), Column("apart", number, "apart_cycles"),
        Column("hidden", number, "hidden_cycles"),
    )  # fmt: skip
    half, full = (bench.measured(_method(bench, _THESIS), plain, given).cycles for given in ("spread", "full"))
    same = "as many" if half == full else f"{number(half)} cycles and not {number(full)}"
    text = (
        "by cause; before addresses are computed the input is a random half of each module, for which the schedule of "
        f"the thesis takes {same}; apart: the same with each transfer started only when its values are needed next; "
        "hidden: cycles saved by overlap, which both schedules have"
    )
    return [text, "", Table(columns, rows, key="causes")]


SCHEDULE_GAIN = GridStudy(
    "schedules",
    "schedule x library x results x input, and the gain by its causes (one to two minutes)",
    "schedules",
    "pixelflow.study.schedules/1",
    (StudyAxis("inputs", tuple(INPUTS), "INPUT"), StudyAxis("library", LIBRARIES), StudyAxis("results", RESULTS)),
    (
        Column("input", key="input"), Column("library", key="library", fixed=True),
        Column("results", key="results", fixed=True), Column(_THESIS, number, "thesis"),
        Column(_SHARED, number, "shared_columns"), Column("gain", "{:.2f}".format, "gain"),
    ),
    _scheduled,
    "schedules",
    lambda bench: (
        "Each line compares the same library and the same way of returning results: not returned (direct), or to "
        f"{counted(bench.config.gni.gp_count, 'GP')} ({', '.join(RESULTS[1:])}). Cycles are without the configuration "
        "of the LEE."
    ),
    lambda _: LIBRARIES,
    lambda bench: ("", *_causes(bench)),
)  # fmt: skip


# Sampling by view compared with uniform sampling, frame by frame: samples, cycles and the largest error in pixels.
#
# Uniform sampling has the smallest k whose largest error, measured over the visible patches, does not exceed that of
# sampling by view. It is executed for these patches alone and for all, which separates the gain by the choice of k from
# that by dropping patches. A last row has the smallest k whose measured error is within the tolerance, which cannot be
# known in advance: the bound is larger than the error, the more so if k is chosen for each patch.


Feed = Callable[[int], Sequence[FreeWork]]
"""Transport of this many instruction words to a node, which takes no counted time."""


def sampling_report(
    config: NodeConfig,
    scene: str,
    seen: Callable[[int], SeenPatches],
    manager: PatchManager,
    frames: Sequence[int],
    tell: Callable[[str], None],
    feed: Feed,
) -> Report:
    """Return the cycles of each frame's patches, sampled by view and alike; executed by the manager that holds them."""
    columns = (
        Column("frame", key="frame", fixed=True), Column("samples of a side", key="way", fixed=True),
        Column("patches", number, "patches"), Column("samples", number, "samples"),
        Column("triangles", number, "triangles", optional=True),
        Column("passes", number, "passes", optional=True), Column("cycles", number, "cycles"),
        Column("error", "{:.2f}".format, "error_pixels"), Column("bound", _or_dash, "bound_pixels"),
    )  # fmt: skip
    rows: list[Sequence[Json]] = []
    passes = _Passes(manager)
    directions: list[str] = []
    unseen: list[int] = []
    for frame in frames:
        tell(f"frame {frame}")
        here = seen(frame)
        choice = here.choice("any")
        if not choice.kept:
            unseen.append(frame)
            continue
        found = [_row(frame, f"by view, {name}", here, here.choice(name), passes) for name in COUNTS]
        rows += [row for row, _ in found]
        least = found[0][1]
        everyone, tolerance = range(len(here.patches)), max(here.sampling[at].tolerance for at in choice.kept)
        alike = (
            ("of seen", least, choice.kept),
            ("of all", least, everyone),
            ("of seen, tolerated", tolerance, choice.kept),
        )
        for text, most, kept in alike:
            k = samples_alike([here.patches[at] for at in choice.kept], here.standpoint, most)
            samples = [k if at in kept else 0 for at in everyone]
            rows.append(_row(frame, f"{k}, {text}", here, choice, passes, samples)[0])
        directions.append(f"{frame}: {number(choice.by_direction)}")
    library = manager.session.library.name
    left = list(_left_out(passes, feed))
    text = (
        f"scene {scene}; passes of schedule {manager.session.method.schedule} with library "
        f"{library}, executed, results at once; error: the largest distance on the screen between "
        "triangles and surface of the patches that are seen, in pixels, measured at many points in 64 bits; bound: by "
        "second differences; uniform rows have the smallest k with an error no larger than by view, or (tolerated) one "
        "within the tolerance; samples with a separate number for each direction, a formula that nothing executes, by "
        f"frame: {'; '.join(directions)}"
    )
    return Report(
        "sampling by view",
        (scene, f"config {config.sha256[:6]}", libraries_text([library]), f"engine {manager.session.node.engine}"),
        results=[text, "", Table(columns, rows, key="sampling"), *_shown(unseen_facts(unseen, len(frames)), left)],
        schema="pixelflow.study.sampling/1",
        data={
            "scene": scene,
            "unseen": list(unseen),
            "lee_configuration_cycles": passes.configuring,
            "left_out": [free_object(each) for each in feed(passes.words)],
        },
    )


def _shown(unseen: Sequence[tuple[str, str]], left: Sequence[str]) -> list[Part]:
    return ["", *facts([*unseen, *(("" if at else "not counted", text) for at, text in enumerate(left))])]


def _left_out(passes: _Passes, feed: Feed) -> Iterator[str]:
    """Yield the work that is left out of the rows."""
    yield "choice of samples, and camera, light and regions: work of the GPs; no rate of a GP is printed"
    yield from passes.manager.session.method.not_counted
    yield f"LEE configured in {counted(passes.configuring, 'cycle')} before, once for all rows"
    yield from (f"{line}, of all rows" for line in free_lines(feed(passes.words)))


@dataclass(slots=True)
class _Passes:
    """Passes by the manager that holds the patches."""

    manager: PatchManager
    words: int = 0
    """Instruction words needed by all passes."""
    configuring: int = 0
    """Cycles of configuring the LEE, once before all rows; in none of them."""

    def executed(self, counts: Sequence[int]) -> tuple[Tessellation, Sequence[PatchHandle], int]:
        """Tessellate patches with this many samples of a side; return the account, the patches, and the cycles."""
        self.manager.mark_all(counts)
        handles = self.manager.tessellate()
        done = self.manager.last
        _, configuring = without_configuration(stages_of(done.runs))
        self.configuring += configuring
        self.words += sum(words_of(run).needed for run in done.runs)
        return done, handles, done.cycles - configuring


def _row(
    frame: int,
    way: str,
    here: SeenPatches,
    choice: SampleChoice,
    passes: _Passes,
    samples: Sequence[int] | None = None,
) -> tuple[Sequence[Json], float]:
    """Return an executed row and its error, for the choice by view or for uniform ``samples``."""
    counts = choice.samples if samples is None else samples
    done, handles, cycles = passes.executed(counts)
    results = [handle.result for handle in handles if choice.samples[handle.number]]
    error = float(pixel_errors([each for each in results if each is not None], here.standpoint).max(initial=0.0))
    triangles = sum(2 * (k - 1) ** 2 for k in counts if k)
    bound = choice.bound if samples is None and np.isfinite(choice.bound) else None
    return (frame, way, len(handles), done.samples, triangles, len(done.runs), cycles, error, bound), error


def _or_dash(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


# Sensitivity: cycles of four workloads with other values of each guess of the machine, the largest change first.
#
# Guesses are the fitted or invented values of the configuration; the parameter names the other values (`moved`). Those
# of `config.extra` are unpublished abilities of the ALU and start-ups: a fused instruction is lowered into the shortest
# sequence of the same meaning, so a rewritten library could do better. One guess is a choice of the microprogram: that
# table 3's addresses are loaded into more than a patch's own PEs.


_GUESSED = (Standing.FITTED, Standing.INVENTED)
_NEEDS_SUPPLY = ("supply", "both supplied", "pieces")
_SUPPLY = 200
_UNUSED = {"gni": "no results are returned", "composition": "no regions are composed"}
"""Parts of the machine that none of the workloads uses, and why."""


class MovedGuess(NamedTuple):
    """A guess with another value, and the change of each workload in percent; None if it was not executed."""

    key: str
    value: str
    text: str
    standing: str
    percent: tuple[float | None, ...]

    @property
    def largest(self) -> float:
        """Largest absolute change."""
        return max(abs(each) for each in self.percent if each is not None)


_LIBRARIES = ("plain", "tuned", "tuned-finite")

_HEADINGS = {"picture": "picture, 1 region"}
"""Headings that differ from the key: the study of the supply has another picture."""


def _workloads(picture: Workload) -> Iterator[tuple[str, Workload, Workload | None]]:
    """Yield a heading, the workload, and the same with exclusive base addresses if it loads any."""

    def both(heading: str, schedule: str, library: str) -> tuple[str, Workload, Workload | None]:
        alone = pass_of(Method(schedule=schedule, exclusive=True), library) if schedule == "thesis" else None
        return heading, pass_of(Method(schedule=schedule), library), alone

    plain, tuned, finite = _LIBRARIES
    yield both("thesis", "thesis", plain)
    yield both("tuned", "thesis", tuned)
    yield both("shared", "shared-columns", finite)
    yield "picture", picture, None


def sensitivity_report(config: NodeConfig, picture: Workload, tell: Callable[[str], None]) -> Report:
    """Return the table of three passes and a picture, executed; guesses that change nothing are listed below."""
    works = list(_workloads(picture))
    base = [work.on(config).cycles for _, work, _ in works]
    changes = []
    for key, value, text, standing, machine, start in _moves(config):
        tell(f"{key} = {value}")
        start_from = base if start == config else [work.on(start).cycles for _, work, _ in works]
        taken = [work.on(machine).cycles for _, work, _ in works]
        percent = tuple(100 * (after / before - 1) for after, before in zip(taken, start_from, strict=True))
        changes.append(MovedGuess(key, value, text, standing, percent))
    alone = [None if other is None else other.on(config).cycles for _, _, other in works]
    percent_alone = tuple(
        None if after is None else 100 * (after / before - 1) for after, before in zip(alone, base, strict=True)
    )
    text = "base addresses to a patch's own PEs alone, by four compares"
    changes.append(MovedGuess("table 3", "16 cycles", text, Standing.INVENTED.value, percent_alone))
    headings = [f"{heading} ({cycles:,})" for (heading, _, _), cycles in zip(works, base, strict=True)]
    return _report(config, picture.name, [heading for heading, _, _ in works], headings, changes)


def _report(
    config: NodeConfig, picture: str, names: Sequence[str], headings: Sequence[str], changes: Sequence[MovedGuess]
) -> Report:
    table, nothing = moved_table("guess", {name: _HEADINGS.get(name, name) for name in names}, changes)
    unused = [key for key in nothing if key.partition(".")[0] in _UNUSED]
    used = [key for key in nothing if key not in unused]
    return Report(
        "sensitivity",
        (f"config {config.sha256[:6]}", libraries_text(_LIBRARIES), "timing only, executed"),
        results=[
            f"change of cycles in percent: {', '.join(headings)} cycles; thesis and tuned: the pass of the thesis with "
            f"its plain library and with tuned; shared: the pass with shared columns; picture: {picture}",
            "",
            table,
            "",
            f"* with instruction words at {_SUPPLY} MB/s, compared with the unchanged value at that rate",
            "no change in any of them: " + (", ".join(used) or "none"),
            f"cannot change in these workloads ({', '.join(_UNUSED.values())}): {', '.join(unused) or 'none'}",
        ],
        schema="pixelflow.study.sensitivity/1",
        data={"without_change": nothing, "unused": unused},
    )


def moved_table(guess: str, headings: Mapping[str, str], changes: Sequence[MovedGuess]) -> tuple[Table, list[str]]:
    """Return the table of guesses that change something, the largest change first, and the keys of all others.

    ``headings`` are those of the workloads by key, ``guess`` is that of the guesses.
    """
    changes = sorted(changes, key=lambda each: -each.largest)
    columns = (
        Column(guess, key="key", fixed=True), Column("moved to", key="value", fixed=True),
        *(Column(heading, _percent_text, name) for name, heading in headings.items()),
        Column("standing", key="standing", fixed=True, optional=True), Column("what it is", key="text", optional=True),
    )  # fmt: skip
    moving = [each for each in changes if each.largest]
    rows = [(each.key, each.value, *each.percent, each.standing, each.text) for each in moving]
    nothing = dict.fromkeys(each.key for each in changes if each.key not in {other.key for other in moving})
    return Table(columns, rows, key="changes"), list(nothing)


def _percent_text(change: float | None) -> str:
    """Return a change in percent as shown in tables."""
    return "-" if change is None else f"{change:+.2f}" if change else "0"


def _moves(config: NodeConfig) -> Iterator[tuple[str, str, str, str, NodeConfig, NodeConfig]]:
    """Yield key, other value, text, standing, the machine with that value, and the one to compare with.

    Values of the instruction supply are moved on machines that have one.
    """
    for key, about, value, _ in leaves(config):
        if about.standing not in _GUESSED:
            continue
        needs = about.matters in _NEEDS_SUPPLY and not config.igc.supply
        start = replace(config, igc=replace(config.igc, supply=_SUPPLY)) if needs else config
        for other in about.moved:
            if other != value:
                shown = f"{str(other).lower()}{' *' if needs else ''}"
                yield key, shown, about.text, about.standing.value, moved(start, key, other), start


def moved(config: NodeConfig, key: str, value: Value) -> NodeConfig:
    """Return a machine with another value; raises InputError if the values then contradict each other."""
    group, _, name = key.partition(".")
    return replace(config, **{group: replace(getattr(config, group), **{name: value})})


# Supply of instructions: passes and a picture with words that arrive at a rate.


RATES = (200, 400, 800)
"""Rates of one GP's memory path, of two, and of the geometry network, in MB/s (thesis 3.8)."""

_PLAIN, _FINITE = "plain", "tuned-finite"
AT_ONCE = 0
"""Rate of words that are available at once."""


@cache
def _passes() -> dict[str, Workload]:
    """Return the passes by their names in the table."""
    return {
        "thesis": pass_of(Method(), _PLAIN, name=f"the pass of the thesis, library {_PLAIN}"),
        "shared": pass_of(Method(schedule="shared-columns"), _FINITE, name="that with shared columns"),
    }


def _rates(text: str) -> tuple[int, ...]:
    return tuple(map(whole_number, text.split(",")))


def _supplied(bench: StudyBench, point: Mapping[str, str | int]) -> Sequence[Json]:
    name, rate = str(point["workload"]), int(point["rates"])
    workload = _passes().get(name) or bench.picture
    assert workload is not None
    plain = bench.on(workload, _with(bench.config, AT_ONCE))
    delivery = guesses(plain.runs, bench.config).delivery
    assert delivery is not None
    if rate == AT_ONCE:
        return (name, "at once", plain.cycles, 0.0, 0, None, None, delivery.needed, delivery.mb_per_second)
    found = bench.on(workload, _with(bench.config, rate))
    ones: tuple[int | None, int | None] = (None, None)
    if any(len(run.streams) > 1 for run in plain.runs):
        joint = bench.on(workload, _with(bench.config, rate, shared=True))
        ones = (joint.cycles, _waits(joint))
    change = 100 * (found.cycles / plain.cycles - 1)
    sent = sum(each.delivered or 0 for run in found.runs for each in run.streams)
    return (name, str(rate), found.cycles, change, _waits(found), *ones, sent, delivery.mb_per_second)


def _about_supply(bench: StudyBench) -> str:
    assert bench.picture is not None
    igc = bench.config.igc
    return (
        f"an IGC with a FIFO of {number(igc.fifo_words)} words and {number(igc.memory_words)} words of "
        "memory for routines; words are those of this project's encodings, over a separate path to each IGC, or one "
        "path for both, on which they take turns (a picture's program has one stream); waits: of the EIGC for "
        f"words; average: MB/s over all cycles, with each routine sent once; thesis: its pass with library {_PLAIN}; "
        f"shared: the pass with shared columns and {_FINITE}; picture: {bench.picture.name}"
    )


def _with(config: NodeConfig, rate: int, *, shared: bool = False) -> NodeConfig:
    return replace(config, igc=replace(config.igc, supply=rate, shared_supply=shared))


def _waits(found: Measurement) -> int:
    return found.waits.get("instructions", 0)


def _count_or_dash(count: int | None) -> str:
    return "-" if count is None else number(count)


SUPPLY = GridStudy(
    "supply",
    "passes and a picture with instruction words that arrive at a rate",
    "instruction supply",
    "pixelflow.study.supply/2",
    (
        StudyAxis("workload", ("thesis", "shared", "picture")),
        StudyAxis("rates", RATES, "MB/S", "rates of the path to each IGC", _rates, always=(AT_ONCE,)),
    ),
    (
        Column("program", key="workload"), Column("MB/s", key="mb_per_second", fixed=True),
        Column("cycles", number, "cycles", bars=True), Column("change", "{:+.1f}%".format, "change_percent"),
        Column("waits", number, "wait_cycles"), Column("one path", _count_or_dash, "one_path_cycles"),
        Column("waits", _count_or_dash, "one_path_wait_cycles"), Column("words", number, "words"),
        Column("average", "{:,.0f}".format, "average_mb_per_second"),
    ),
    _supplied,
    "supply",
    _about_supply,
    lambda _: (_PLAIN, _FINITE),
    picture=True,
)  # fmt: skip
