"""The division of labour between EMCs and GPs (thesis 3.1.2): the three ways compared, and an animation by words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from microcode import Builder, Program
from pixelflow.config import NodeConfig
from pixelflow.node import Node, Run, stages_of, words_of
from pixelflow.simd.drawing import (
    Draw,
    DrawnFrame,
    Frame,
    FreeWork,
    Picture,
    PictureDifference,
    draw,
    free_in_all,
    free_lines,
    free_object,
)
from pixelflow.simd.report import Column, Json, Report, Table, counted, facts, number
from tessellation.host.session import Session
from tessellation.host.tessellator import Tessellation, tessellate
from tessellation.microprogram.gp_traffic import RESULT_BYTES, Returned, emit_return
from tessellation.microprogram.method import Method
from tessellation.microprogram.passes import Plan
from tessellation.picture import BACKGROUND, View
from tessellation.plan.memory_map import MemoryMap, MemoryUse
from tessellation.plan.schedule import Stage, without_configuration
from tessellation.rendering.account import free_feed, free_pixels, uncounted_pixels, uncounted_work
from tessellation.rendering.network import pixel_cycles
from tessellation.rendering.projection import Places, Projection, ProjectionStage, projection_program, standpoint_for
from tessellation.rendering.renderer import render
from tessellation.rendering.words import SEND_STAGE, InstructionWords, draw_words, generate_words
from tessellation.sampling import SeenPatches, pixel_errors, samples_alike, unseen_facts
from tessellation.surface.bpt import load

# Points, projected points or instruction words from the EMCs, executed.


_WAYS = ("points", "projected", "words")
_GPS = "GPs"
"""Cell for work of the GPs, which takes no cycles."""

_SCREEN = ("x_point", "y_point", "z_point")

_GROUPS = {
    "projection": tuple(stage.value for stage in ProjectionStage),
    "light": ("light",),
    "corners and their neighbours": ("corners as integers", "cells", "neighbours", "corners"),
    "coefficients": ("edges", "reciprocal of the area", "depth", "colours"),
    "regions and marks": ("regions and marks",),
    "coefficients in each region": ("edges in the region", "planes in the region", "next region"),
}
"""Stages of the words by purpose."""


def labour_report(config: NodeConfig, samples: int, gps: int, view: View, tell: Callable[[str], None]) -> Report:
    """Return the cycles of the teapot by the three ways, stage by stage.

    Everything is executed, with results sent to ``gps`` GPs; raises InputError if the node has fewer.
    """
    patches = load("teapot").patches
    method = Method(results="gp", gps=gps)
    tell("points and normals to the GPs")
    points = tessellate(patches, samples, config=config, method=method)
    tell("projected points and normals to the GPs")
    sender = _ScreenSender(config, gps, Projection.of(standpoint_for(patches, samples, view, single=True)))
    tessellate(patches, samples, config=config, method=Method(), after=sender)
    tell("instruction words to the GPs")
    plain, words = generate_words(patches, samples, view, config=config, gps=gps)
    tell("the picture, from the words and as the host sets it up")
    size = view.width, view.height
    drawn = draw_words(words, background=BACKGROUND, config=config)
    host = render(words.triangles, *size, background=BACKGROUND, config=config)
    same = host.picture.equals(drawn.picture) and draw(words.triangles, *size, BACKGROUND).equals(drawn.picture)
    columns = (
        Column("stage", key="stage"),
        *(Column(f"{index}. {name}", _shown, name) for index, name in enumerate(_WAYS, start=1)),
    )
    rows = _rows(points, plain, sender.runs, words, host.cycles, drawn.cycles)
    returned = len(points.plans) * _returned_bytes(points, gps, config)
    bytes_row: tuple[Json, ...] = ("bytes to the GPs", returned, returned, words.bytes_sent)
    text = (
        f"The teapot's 32 patches at {samples}x{samples} samples, {view.width}x{view.height} pixels, results to "
        f"{counted(gps, 'GP')}. All cycles are executed. {_GPS}: their work, for which no cycles are counted."
    )
    return Report(
        "division of labour",
        (f"config {config.sha256[:6]}", f"library {points.library}", "executed"),
        results=[
            text,
            "",
            Table(columns, [*rows, bytes_row], key="stages"),
            "",
            f"{counted(len(words.triangles), 'triangle')} with an area, {words.accepted:,} accepted, "
            f"{len(words.words):,} pairs of a triangle and a region; "
            + ("every pixel equal" if same else "PIXELS DIFFER"),
        ],
        schema="pixelflow.study.labour/1",
        failure=None if same else "the picture drawn from the words differs from the host's",
    )


def _shown(value: Json) -> str:
    return number(value) if isinstance(value, int) else str(value)


def _rows(
    points: Tessellation, plain: Tessellation, projected: Iterable[Run], words: InstructionWords, host: int, drawn: int
) -> list[tuple[Json, ...]]:
    """Return the rows of the table, the sum last."""
    back = _cycles(points.runs, (Stage.RETURN.value,))
    sent = tuple(projected)
    by_stage = Counter(words.cycles_by_stage)
    before = sum(run.cycles for run in plain.runs)
    rows: list[tuple[Json, ...]] = [
        ("tessellation", sum(run.cycles for run in points.runs) - back, before, before),
    ]
    for name, stages in _GROUPS.items():
        executed = _cycles(sent, stages) if name == "projection" else 0
        rows.append((name, _GPS, executed or _GPS, sum(by_stage[stage] for stage in stages)))
    rows.append(("to the GPs", back, _cycles(sent, (Stage.RETURN.value,)), by_stage[SEND_STAGE]))
    rows.append(("drawing", host, host, drawn))
    totals = tuple(
        sum(each for each in column if isinstance(each, int)) for column in list(zip(*rows, strict=True))[1:]
    )
    return [*rows, ("= on the EMCs", *totals)]


def _cycles(runs: Iterable[Run], stages: Iterable[str]) -> int:
    wanted = set(stages)
    return sum(cycles for run in runs for stage, cycles in run.by_stage.items() if stage in wanted)


def _returned_bytes(points: Tessellation, gps: int, config: NodeConfig) -> int:
    sent = Returned.of(points.plans[0].work, gps)
    modules = (module for module in range(config.array.modules) if sent.modules >> module & 1)
    return sum(len(sent.lanes(module, config.array)) for module in modules) * RESULT_BYTES


class _ScreenSender:
    """Projects the samples of each pass and sends x and y in 1/256 pixel, depth and normal: 24 bytes, like points."""

    def __init__(self, config: NodeConfig, gps: int, projection: Projection) -> None:
        self._config, self._gps, self._projection = config, gps, projection
        self.runs: list[Run] = []

    def __call__(self, session: Session, plan: Plan) -> None:
        places = Places.after(plan.memory)
        self._run(session.node, projection_program(places, self._projection, session.library))
        builder = Builder("projected points to the GPs")
        memory = _screen_memory(plan.memory, places)
        emit_return(builder, memory, Returned.of(plan.work, self._gps), self._config.array)
        self._run(session.node, builder.build())

    def _run(self, node: Node, program: Program) -> None:
        self.runs.append(node.run(program))


def _screen_memory(memory: MemoryMap, places: Places) -> MemoryMap:
    """Return the layout with the projected coordinates in place of the point."""
    screen = dict(zip(_SCREEN, (*places.fixed, places.screen[2]), strict=True))
    ranges = (MemoryUse(use.name, screen.get(use.name, use.start), use.size) for use in memory.ranges)
    return replace(memory, ranges=tuple(ranges))


# Frames of a moving camera by instruction words of the EMCs: sampled by view, and all patches alike.
#
# For each frame the manager chooses k patch by patch; the EMCs tessellate, light, project, cut and make instruction
# words, from which the node draws the picture. The same is executed with one k for all patches, the smallest whose
# largest error on the screen does not exceed that of sampling by view. Other machines draw the triangles made by the
# EMCs of the samples by view.


_NODE = "PixelFlow"
Drawer = Callable[[Frame], DrawnFrame]


@dataclass(frozen=True, slots=True, eq=False)
class WordFrame:
    """A frame drawn from the EMCs' words; cycles of the node's EMCs, all executed."""

    samples: int
    tessellation: int
    words: int
    """Cycles from samples to words in GP memory."""
    drawing: int
    triangles: int
    """Triangles with an area."""
    error: float
    """Largest distance between triangles and surface on the screen, in pixels, measured."""
    picture: Picture
    same: bool
    """True if every pixel is that of the same triangles in 64-bit integers."""
    library: str
    """Float library of the tessellation."""
    configuring: int = 0
    """Cycles of the tessellation in which the LEE was configured: each frame has a separate node."""
    free: tuple[FreeWork, ...] = ()
    """Work with a bound that is in none of the cycles."""

    @property
    def cycles(self) -> int:
        return self.tessellation + self.words + self.drawing


@dataclass(frozen=True, slots=True, eq=False)
class TurnedFrame:
    """A frame in both ways; ``others`` are machines that drew the first one's triangles, by title."""

    number: int
    patches: int
    seen: WordFrame
    alike: WordFrame
    k: int
    """Samples of a side, equal for all patches."""
    others: Mapping[str, DrawnFrame]

    def difference(self, name: str) -> PictureDifference:
        """Return the difference of another machine's picture from the one by view."""
        return PictureDifference.of(self.others[name], self.seen.picture)

    @property
    def wrong(self) -> tuple[str, ...]:
        """Ways that differ from the reference, and other machines whose difference is an error."""
        ways = {"by view": self.seen, "alike": self.alike}
        return (
            *(name for name, each in ways.items() if not each.same),
            *(name for name in self.others if self.difference(name).wrong),
        )


@dataclass(frozen=True, slots=True)
class Turning:
    """A scene with a moving camera: name, view and patches of each frame, background."""

    scene: str
    view: Callable[[int], View]
    seen: Callable[[int], SeenPatches]
    background: tuple[int, int, int]


def turn(
    turning: Turning,
    frames: Sequence[int],
    config: NodeConfig,
    drawers: Mapping[str, Drawer],
    *,
    engine: str = "auto",
    tell: Callable[[str], None] | None = None,
) -> Iterator[TurnedFrame]:
    """Draw frames in order; those in which nothing is seen are left out.

    Raises InputError as `generate_words` does.
    """
    for frame in frames:
        here, view = turning.seen(frame), turning.view(frame)
        choice = here.choice()
        if not choice.kept:
            continue
        if tell is not None:
            tell(f"frame {frame}")
        by_view, words = _drawn(here, choice.samples, choice.kept, view, turning.background, config, engine)
        k = samples_alike([here.patches[at] for at in choice.kept], here.standpoint, by_view.error)
        counts = [k] * len(here.patches)
        alike, _ = _drawn(here, counts, choice.kept, view, turning.background, config, engine)
        given = Frame(view.width, view.height, turning.background, (Draw(turning.scene, words.triangles),))
        others = {name: drawer(given) for name, drawer in drawers.items()}
        yield TurnedFrame(frame, len(choice.kept), by_view, alike, k, others)


def _drawn(
    here: SeenPatches,
    counts: Sequence[int],
    judged: Sequence[int],
    view: View,
    background: tuple[int, int, int],
    config: NodeConfig,
    engine: str,
) -> tuple[WordFrame, InstructionWords]:
    """Return a frame whose patches have ``counts`` samples of a side, 0 for none; errors are those of ``judged``."""
    kept = [at for at, k in enumerate(counts) if k]
    patches, samples = [here.patches[at] for at in kept], [counts[at] for at in kept]
    tessellation, words = generate_words(
        patches, samples, view, standpoint=here.standpoint, config=config, engine=engine
    )
    drawn = draw_words(words, background=background, config=config, engine=engine)
    wanted = set(judged)
    results = [each for at, each in zip(kept, tessellation.patches, strict=True) if at in wanted]
    same = draw(words.triangles, view.width, view.height, background).equals(drawn.picture)
    needed = sum(
        words_of(run).needed for run in (*tessellation.runs, *words.runs, *(each.run for each in drawn.regions))
    )
    made = WordFrame(
        tessellation.samples, tessellation.cycles, words.cycles, drawn.cycles,
        len(words.triangles), float(pixel_errors(results, here.standpoint).max()), drawn.picture, same,
        tessellation.library, without_configuration(stages_of(tessellation.runs))[1],
        (*free_feed(needed, 1, config), free_pixels(drawn.places, pixel_cycles(config), config)),
    )  # fmt: skip
    return made, words


def turning_report(
    turning: Turning, size: tuple[int, int], frames: Sequence[TurnedFrame], config: NodeConfig, chosen: Sequence[int]
) -> Report:
    """Return the cycles of each frame in both ways and on other machines; fails if a picture differs.

    Names the ``chosen`` frames in which nothing is seen; raises InputError if these are all.
    """
    drawn = {each.number for each in frames}
    unseen = [each for each in chosen if each not in drawn]
    titles = list(frames[0].others) if frames else []
    columns = (
        Column("frame", key="frame", fixed=True), Column("patches", number, "patches", optional=True),
        Column("samples", number, "samples", optional=True), Column("triangles", number, "triangles", optional=True),
        Column("tessellation", number, "tessellation_cycles", optional=True),
        Column("words", number, "words_cycles", optional=True),
        Column("drawing", number, "drawing_cycles", optional=True), Column("all", number, "cycles"),
        Column("error", "{:.2f}".format, "error_pixels", optional=True), Column("alike: k", number, "alike_k"),
        Column("alike: samples", number, "alike_samples", optional=True), Column("alike: all", number, "alike_cycles"),
        *(Column(title, number, f"{title.lower()}_cycles") for title in titles),
    )  # fmt: skip
    rows = [tuple(_row(each)) for each in frames]
    libraries = dict.fromkeys(f"library {each.seen.library}" for each in frames)
    wrong = [f"frame {each.number}: {', '.join(each.wrong)}" for each in frames if each.wrong]
    return Report(
        "turning",
        (turning.scene, f"{size[0]}x{size[1]}", f"config {config.sha256[:6]}", *libraries),
        [
            "Cycles of the EMCs of one node, from patches in texture memory to the picture by instruction words; "
            "alike: one k for all patches, the smallest whose largest error on the screen is not above that of "
            "sampling by view",
            "",
            Table(columns, rows, key="frames"),
            "",
            *facts([*unseen_facts(unseen, len(chosen)), *_facts(frames, size, config, wrong)]),
        ],
        schema="pixelflow.study.turning/1",
        data={
            "scene": turning.scene,
            "size": list(size),
            "wrong": list(wrong),
            "unseen": list(unseen),
            "left_out": {name: [free_object(each) for each in free] for name, free in _left_out(frames).items()},
        },
        failure=f"pictures differ: {'; '.join(wrong)}" if wrong else None,
    )


def _row(frame: TurnedFrame) -> Iterator[Json]:
    seen, alike = frame.seen, frame.alike
    yield from (str(frame.number), frame.patches, seen.samples, seen.triangles)
    yield from (seen.tessellation, seen.words, seen.drawing, seen.cycles, seen.error)
    yield from (frame.k, alike.samples, alike.cycles)
    yield from (each.cycles for each in frame.others.values())


def _equal(frame: TurnedFrame, name: str) -> bool:
    return frame.others[name].picture.equals(frame.seen.picture)


def _facts(
    frames: Sequence[TurnedFrame], size: tuple[int, int], config: NodeConfig, wrong: Sequence[str]
) -> Iterator[tuple[str, str]]:
    count = max(1, len(frames))
    names = ["reference", *(frames[0].others if frames else ())]
    apart = {name: [each for each in frames if not _equal(each, name)] for name in names[1:]}
    equal = [name for name in names if not apart.get(name)]
    yield (
        "pictures",
        "PIXELS DIFFER" if wrong else f"{counted(len(frames), 'frame')}: every pixel equal, {', '.join(equal)}",
    )
    for name, some in apart.items():
        if some and not wrong:
            yield "", f"{name}, frame {some[0].number}: {some[0].difference(name).text}"
    for name, cycles in (
        ("by view", sum(each.seen.cycles for each in frames)),
        ("alike", sum(each.alike.cycles for each in frames)),
    ):
        milliseconds = config.seconds(cycles) * 1e3 / count
        yield name, f"{number(cycles)} cycles, {milliseconds:,.3g} ms a frame at {config.clock_mhz:g} MHz"
    for name in names[1:]:
        drawn = [each.others[name] for each in frames]
        milliseconds = sum(each.milliseconds for each in drawn) / count
        what = f"{counted(drawn[0].parts, 'part')} at {drawn[0].clock_mhz:g} MHz"
        yield name, f"{number(sum(each.cycles for each in drawn))} cycles, {milliseconds:,.3g} ms a frame, {what}"
    yield "executed", "all cycles, at rates of which some are invented: compare's scorecard names them"
    configured = sum(each.seen.configuring for each in frames)
    yield "", f"among them, by view, the LEE configured for each frame: {number(configured)} cycles"
    work = uncounted_work(chosen=True, words=True)
    yield "not counted", f"PixelFlow: {work}; no rate of a GP is printed"
    yield "", f"{uncounted_pixels(*size, composed=False)}, of every frame"
    for name, free in _left_out(frames).items():
        if name != _NODE:
            yield "", f"{name}: camera, and all else before the corners on the screen"
        yield from (("", f"{name}, {line}") for line in free_lines(free))


def _left_out(frames: Sequence[TurnedFrame]) -> dict[str, list[FreeWork]]:
    """Return the work left out of the cycles, by machine; PixelFlow's is of frames by view."""
    found = {_NODE: free_in_all([each.seen.free for each in frames])}
    for name in frames[0].others if frames else ():
        found[name] = free_in_all([each.others[name].free for each in frames])
    return found
