"""Animation on one node: tessellation, scan conversion, and the return of results during scan conversion (4.1.4)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from microcode import Builder, Program
from pixelflow.config import NodeConfig
from pixelflow.node import Node, Run, stages_of
from pixelflow.simd.configuration import Effective
from pixelflow.simd.drawing import Frame, Picture, draw, draw_frame
from pixelflow.simd.report import Column, Json, Part, Report, Table, counted, facts, number, plural, share, verbatim
from tessellation.host.kept_model import origin
from tessellation.host.session import GP_FLOPS, Session, TakenResults, operations
from tessellation.host.tessellator import Tessellation, TrimAccount, together, trims_of
from tessellation.microprogram.gp_traffic import RESULT_BYTES, Returned, bytes_to_gps, received
from tessellation.microprogram.method import LOADING, READING, WrittenPass
from tessellation.microprogram.passes import Plan
from tessellation.microprogram.ports import ARRIVED, FREE, PORT_START, emit_into_port
from tessellation.plan.memory_map import FLOAT_BYTES, RESULTS
from tessellation.plan.schedule import Stage, without_configuration
from tessellation.rendering.account import LAST_LAYER, uncounted_pixels, uncounted_work
from tessellation.rendering.composition import draw_on_nodes
from tessellation.rendering.instructions import Region
from tessellation.rendering.renderer import RegionDrawn, drawn_regions, plain_triangles, put_together
from tessellation.rendering.shading_raster import BLEND_STAGE
from tessellation.sampling import SampleChoice

if TYPE_CHECKING:
    from tessellation.scenes import PreparedScene

# The return of results during scan conversion: the coarse grain of the thesis (4.1.4).
#
# After the last pass of the next frame its results occupy the PE memory that the pixels of this frame need. They are
# copied into the output ports once; while the EIGC draws region after region the TIGC sends them to the GPs in parts.
# The size of each part is computed from the triangles of its region: the bytes that the path carries in the least time
# in which these are drawn. The remainder is sent after the last region.


_LEAST_CYCLES = 26
"""Least cycles of a triangle in a region: 1 to enable, three edges of 2 bytes, depth, a flat colour."""


class _Parts:
    """Results sent during one program: ``parts`` of (group of modules, first byte, bytes), each group to its GP."""

    def __init__(self, whole: ReturnBeside, parts: Sequence[tuple[int, int, int]], *, first: bool) -> None:
        self._whole, self._parts, self._first = whole, parts, first

    def emit_before(self, builder: Builder) -> None:
        """Emit the copies into the ports before the first part, 48 cycles and marks; then the TIGC's part."""
        whole = self._whole
        builder.mark(Stage.RETURN.value)
        if self._first:
            builder.emit("EMC_SetEnab")
            for index, name in enumerate(RESULTS):
                emit_into_port(builder, whole.written.memory[name].start, FLOAT_BYTES * index, FLOAT_BYTES)
            whole.sent.marks(builder, whole.config.array)
        builder.emit("SIGNAL", FREE)
        builder.stream("tigc")
        builder.mark(Stage.PORTS.value)
        builder.emit("TAS_SetOrder", 0)
        builder.emit("WAIT", FREE)
        builder.mark(Stage.RETURN.value)
        for group, start, size in self._parts:
            modules = whole.sent.groups[group]
            whole.sent.emit_gps(builder, modules)
            whole.sent.emit_addresses(builder, whole.config.array, start, modules)
            builder.emit("TAS_GpWrite", modules, PORT_START + start, size)
        builder.emit("SIGNAL", ARRIVED)
        builder.stream("eigc")

    def emit_after(self, builder: Builder) -> None:
        """Emit the wait until the parts have left."""
        builder.mark(Stage.RETURN.value)
        builder.emit("WAIT", ARRIVED)


class ReturnBeside:
    """Return of one pass's results to the GPs during programs that leave the output ports alone."""

    def __init__(self, written: WrittenPass, sent: Returned, config: NodeConfig) -> None:
        self.written, self.sent, self.config = written, sent, config
        self._sizes: list[list[int]] = [[] for _ in sent.groups]
        self._begun = False
        lanes = max(len(sent.lanes(module, config.array)) for module in range(config.array.modules))
        rate = config.gni.gp_memory_mb_per_second / config.clock_mhz
        self._byte_cycles = lanes / rate

    def _take(self, most: int) -> _Parts | None:
        parts = []
        for group, sizes in enumerate(self._sizes):
            start = sum(sizes)
            size = min(most, RESULT_BYTES - start)
            if size > 0:
                parts.append((group, start, size))
                sizes.append(size)
                most -= size
        if not parts:
            return None
        first, self._begun = not self._begun, True
        return _Parts(self, parts, first=first)

    @property
    def left(self) -> int:
        """Bytes of a PE that are not sent yet, over all groups."""
        return RESULT_BYTES * len(self._sizes) - sum(map(sum, self._sizes))

    def fitting(self, regions: Sequence[Region]) -> int:
        """Return the index of the smallest region that leaves time to send all, or of the largest."""
        sizes = [len(each.triangles) for each in regions]
        enough = [size for size in sizes if _LEAST_CYCLES * size >= self.left * self._byte_cycles]
        return sizes.index(min(enough) if enough else max(sizes))

    def beside(self, region: Region) -> _Parts | None:
        """Return the parts to send while a region is drawn; the first ones move all results out of PE memory."""
        most = int(_LEAST_CYCLES * len(region.triangles) / self._byte_cycles)
        return self._take(most if self._begun else max(1, most))

    def alone(self) -> Program | None:
        """Return the program that sends the remainder, or None."""
        parts = self._take(self.left)
        if parts is None:
            return None
        builder = Builder("the rest of the results")
        parts.emit_before(builder)
        parts.emit_after(builder)
        return builder.build()

    def received(self, node: Node, runs: list[Run]) -> TakenResults:
        """Return the results in GP memory after ``runs`` have sent them all."""
        points, normals = (np.zeros((node.lanes, 3), np.float32) for _ in range(2))
        there = np.zeros(node.lanes, bool)
        for modules, sizes in zip(self.sent.groups, self._sizes, strict=True):
            group = Returned(modules, self.sent.columns, self.sent.gps, self.sent.buffer)
            found = received(node, group, sizes)
            points[found[2]], normals[found[2]] = found[0][found[2]], found[1][found[2]]
            there |= found[2]
        return TakenResults(points, normals, there, sum(bytes_to_gps(run) for run in runs))


# Frames in their order of execution.
#
# The EMCs tessellate the next frame before they scan convert this one, so the results of the next frame reach the GPs
# while this one is drawn (thesis 4.1.4, coarse grain), and the GPs have the time of the next tessellation to make
# triangles of them (3.1.1). Passes, the return during the regions, and the remainder after them are executed on one
# node and one clock. The work of the GPs is not.
#
# Interleaved, a step of tessellation and a step of drawing alternate: after each pass of the next frame, regions of
# this frame are drawn until the results of the pass have left, those that just suffice first, and after the last pass
# all that remain. Each program waits for the transfers that it starts, so no two steps can wait for each other.


RETURNS = ("beside", "after", "direct", "interleaved")
"""Ways of the results to the GPs: during the scan conversion of the previous frame, after the last pass of each frame,
at once and in no cycles, or during a part of the scan conversion after each pass. In the first two those of earlier
passes are sent during the next pass, and interleaved in the first frame, before which nothing is drawn."""
_DURING_REGIONS = ("beside", "interleaved")


@dataclass(slots=True, eq=False)
class AnimatedFrame:
    """A frame and the cycles of the node's EMCs, all executed."""

    number: int
    choice: SampleChoice | None
    triangles: int
    passes: int
    tessellation: int
    """Cycles of its passes, including the return of results during later ones, without configuring the LEE."""
    stages: dict[str, int]
    """Cycles of its passes by stage, without configuring the LEE."""
    samples: int
    picture: Picture | None = None
    drawing: dict[str, int] = field(default_factory=dict)
    """Cycles of its scan conversion by stage."""
    carrying: int = 0
    """Cycles of these for results of the next frame: copies into the ports, and waits."""
    left: int = 0
    """Cycles in which the remainder of its results was sent, after the scan conversion of the previous frame."""
    configuring: int = 0
    """Cycles of configuring the LEE, once for all frames, in the first pass; not part of the others."""
    trims: TrimAccount | None = None
    """Work of the GPs on trimmed patches."""
    loading: int = 0
    """Cycles of loading its textures, once for all frames; not part of the others."""
    same: bool = True
    """True if every pixel is the reference's."""

    @property
    def scan(self) -> int:
        """Cycles of its scan conversion, without those for results."""
        return sum(self.drawing.values()) - self.carrying

    @property
    def cycles(self) -> int:
        return self.tessellation + self.scan + self.carrying + self.left


class Animation(NamedTuple):
    """All frames, and the node's configuration."""

    frames: tuple[AnimatedFrame, ...]
    way: str | None
    """One of `RETURNS`; None if nothing is tessellated anew and nothing returns."""
    session: Session | None
    config: NodeConfig
    path_cycles: int
    """Cycles in which the busiest path to a GP's memory carried results."""
    hidden: int
    """Cycles of these during scan conversion."""
    once: tuple[Tessellation, ...] = ()
    """Tessellations before the first frame, for all frames; not part of the cycles."""

    @property
    def configuring(self) -> int:
        """Cycles of configuring the LEE, once for all frames; not part of the cycles."""
        return sum(each.configuring for each in self.frames)

    @property
    def cycles_before(self) -> int:
        """Cycles of the tessellations before the first frame."""
        return sum(each.cycles for each in self.once)

    @property
    def cycles(self) -> int:
        return sum(each.cycles for each in self.frames)


class _Animator:
    """Draws each frame after tessellating the next one."""

    def __init__(self, session: Session | None, node: Node, config: NodeConfig, way: str, engine: str) -> None:
        self._session, self._node, self._config, self._engine, self._way = session, node, config, engine, way
        self._waiting: tuple[AnimatedFrame, Frame] | None = None
        self._regions: Iterator[RegionDrawn] | None = None
        self._drawn: list[RegionDrawn] = []
        self._carried: ReturnBeside | None = None
        self._next_left = 0
        self.done: list[AnimatedFrame] = []
        self.once: tuple[Tessellation, ...] = ()
        self.paths: Counter[str] = Counter()
        self.hidden: Counter[str] = Counter()
        if session is not None and way in _DURING_REGIONS:
            session.take = self._take

    def frame(self, number: int, source: PreparedScene) -> None:
        """Tessellate a frame and draw the previous one."""
        self._next_left = 0
        if self._session is not None:
            self._session.take_every = self._way == "interleaved" and self._waiting is not None
        scene = source.at(number)
        self.draw()
        self.once = self.once or tuple(each.whole() for each in scene.once)
        runs = [run for each in scene.anew for run in each.runs]
        for run in runs:
            self._count(run, self.paths)
        stages, configuring = without_configuration(stages_of(runs))
        made = AnimatedFrame(
            number,
            scene.choice,
            sum(len(each.triangles) for each in scene.frame.draws),
            len(runs),
            sum(run.cycles for run in runs) - configuring,
            stages,
            sum(each.samples for each in scene.anew),
            left=self._next_left,
            configuring=configuring,
            trims=together([account for each in scene.anew if (account := trims_of(each))]),
        )
        self._waiting = made, scene.frame

    def draw(self, carried: ReturnBeside | None = None, *, whole: bool = True) -> list[Run]:
        """Draw regions of the waiting frame, if any, and return results of the next one meanwhile.

        These are all that remain if ``whole``, else as many as the results need.
        """
        if self._waiting is None:
            return []
        made, frame = self._waiting
        if self._session is None and not frame.plain:
            self._waiting = None
            return self._deferred(made, frame)
        triangles, size = plain_triangles(frame), (frame.width, frame.height)
        self._carried, before = carried, len(self._drawn)
        if self._regions is None:
            self._regions = drawn_regions(triangles, *size, frame.background, self._node, self._during, self._chosen)
        for region in self._regions:
            self._drawn.append(region)
            if not whole and carried is not None and not carried.left:
                return [each.run for each, _ in self._drawn[before:]]
        runs = [each.run for each, _ in self._drawn[before:]]
        rendering = put_together(sorted(self._drawn, key=lambda each: (each[0].top, each[0].left)), *size)
        made.picture, made.drawing = rendering.picture, rendering.cycles_by_stage
        made.carrying = made.drawing.get(Stage.RETURN.value, 0)
        made.same = draw(triangles, *size, frame.background).equals(rendering.picture)
        self.done.append(made)
        self._waiting, self._regions, self._drawn = None, None, []
        return runs

    def _during(self, region: Region) -> _Parts | None:
        return None if self._carried is None else self._carried.beside(region)

    def _chosen(self, regions: Sequence[Region]) -> int:
        if self._carried is None or self._way != "interleaved":
            return 0
        return self._carried.fitting(regions)

    def _deferred(self, made: AnimatedFrame, frame: Frame) -> list[Run]:
        """Draw a frame that needs deferred shading: textures, cutouts, sorted glass, four samples."""
        composed = draw_on_nodes(frame, config=self._config, engine=self._engine)
        (node,) = composed.nodes
        made.picture, made.drawing = composed.picture, node.cycles_by_stage
        made.loading = sum(run.cycles for run in composed.loading)
        made.same = draw_frame(frame).equals(composed.picture)
        self.done.append(made)
        return [each.run for each in node.regions]

    def _take(self, plan: Plan) -> TakenResults:
        assert self._session is not None
        written = plan.written()
        carried = ReturnBeside(written, self._session.method.returned(written, self._config), self._config)
        runs = self.draw(carried, whole=not self._session.take_every)
        for run in runs:
            self._count(run, self.hidden)
            self._count(run, self.paths)
        rest = carried.alone()
        if rest is not None:
            runs.append(self._node.run(rest))
            self._next_left += runs[-1].cycles
            self._count(runs[-1], self.paths)
        return carried.received(self._node, runs)

    def _count(self, run: Run, into: Counter[str]) -> None:
        into.update({f"store{gp}": run.gni_cycles.get(f"store{gp}", 0) for gp in range(self._config.gni.gp_count)})


def animate(
    source: PreparedScene,
    session: Session | None,
    frames: Sequence[int],
    config: NodeConfig,
    *,
    way: str = "beside",
    engine: str = "auto",
    tell: Callable[[str], None] | None = None,
    shown: Callable[[Picture], None] | None = None,
) -> Animation:
    """Draw frames in order on the node of ``session``, or on a new node if nothing is tessellated anew.

    ``way`` is one of `RETURNS`; all but "direct" need a method whose results return during the next pass. Without a
    session nothing returns. ``shown`` receives the pictures in order; they are not kept. With a session, raises
    InputError as `render` does, since patches use the texture memory and results the ports that deferred shading needs;
    otherwise as `draw_on_nodes` does.
    """
    node = Node(config, engine) if session is None else session.node
    animator = _Animator(session, node, config, way, engine)
    for number in frames:
        if tell is not None:
            tell(f"frame {number}")
        animator.frame(number, source)
        _show(animator.done, shown)
    animator.draw()
    _show(animator.done, shown)
    if session is not None:
        session.take, session.take_every = None, False
    paths, hidden = (max(count.values(), default=0) for count in (animator.paths, animator.hidden))
    returned = None if session is None else way
    return Animation(tuple(animator.done), returned, session, config, paths, hidden, animator.once)


def _show(done: Iterable[AnimatedFrame], shown: Callable[[Picture], None] | None) -> None:
    for made in done:
        if made.picture is not None:
            if shown is not None:
                shown(made.picture)
            made.picture = None


# The report of an animation: cycles of each frame by stage, and the balance of GPs and EMCs.


_BEFORE = "before, once for all frames, in none of the above"
_NOTHING_ANEW = (
    "nothing is tessellated anew for a frame: no frame has passes, samples or results, and GPs could take no share"
)
_WORDS = {
    "beside": "copies: into the ports, and waits, for results of the next frame, which return to the GPs while this "
    "one is drawn; alone: cycles in which nothing happens but the return of this frame's results",
    "after": "results return to the GPs after a frame's last pass: their cycles are among those of the tessellation",
    "direct": "results are read for no cycles",
}
_WORDS["interleaved"] = f"after each pass regions of the frame before are drawn; {_WORDS['beside']}"
"""Meaning of the columns of frames for each of `RETURNS`."""
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


class AnimationFile(NamedTuple):
    """Source and destination of an animation."""

    scene: str
    size: tuple[int, int]
    output: str
    effective: Effective[NodeConfig]
    engine: str


def animation_report(animation: Animation, file: AnimationFile) -> Report:
    """Return the cycles of each frame by stage, and the balance of GPs and EMCs; fails if a pixel differs."""
    frames, config = animation.frames, animation.config
    wrong = [each.number for each in frames if not each.same]
    columns = _columns(animation)
    rows = [
        (str(each.number), _patches(each), each.samples, each.triangles, each.passes, each.tessellation, each.scan,
         each.carrying, each.left, each.cycles)
        for each in frames
    ]  # fmt: skip
    seconds = config.seconds(animation.cycles)
    method = animation.session.method if animation.session else None
    way = f"schedule {method.schedule}, results {animation.way}" if method else "nothing is tessellated anew"
    return Report(
        "pixelflow animate",
        (file.scene, f"{file.size[0]}x{file.size[1]}", file.effective.label, way, f"engine {file.engine}"),
        [
            f"{counted(len(frames), 'frame')} in {number(animation.cycles)} cycles; {_rate(len(frames), seconds)}",
            "",
            Table(columns, rows, key="frames"),
            _WORDS.get(animation.way or "", _NOTHING_ANEW),
            "",
            _where(animation),
            "",
            *facts(list(_facts(animation, wrong, file))),
            "",
            *_shared(animation),
        ],
        schema="pixelflow.animate/1",
        data={
            "scene": file.scene,
            "size": list(file.size),
            "config": file.effective.as_object(),
            "engine": file.engine,
            "schedule": method.schedule if method else None,
            "results": animation.way,
            "cycles": animation.cycles,
            "tessellation_before_cycles": animation.cycles_before,
            "tessellation_from_store": any(each.is_stored for each in animation.once),
            "balance": None,  # replaced by the table of that key if there is one
            "lee_configuration_cycles": animation.configuring,
            "trims_on_gps": trims.as_object() if (trims := _trims(animation)) else None,
            "texture_loading_cycles": max((each.loading for each in frames), default=0),
            "path_cycles": animation.path_cycles if method else None,
            "path_cycles_beside_scan_conversion": animation.hidden if method else None,
            "equals_reference": not wrong,
            "wrote": file.output,
        },
        failure=f"frames {wrong} differ from those drawn in 64-bit integers" if wrong else None,
    )


def _columns(animation: Animation) -> tuple[Column, ...]:
    """Return the columns of the frames; those without values are in JSON alone."""
    anew, beside = animation.session is not None, animation.way in _DURING_REGIONS
    patches, samples, passes, tessellation = (
        label if anew else None for label in ("patches", "samples", "passes", "tessellation")
    )
    copies, alone = (label if beside else None for label in ("copies", "alone"))
    return (
        Column("frame", key="frame", fixed=True), Column(patches, number, "patches", optional=True),
        Column(samples, number, "samples", optional=True), Column("triangles", number, "triangles", optional=True),
        Column(passes, number, "passes", optional=True), Column(tessellation, number, "tessellation_cycles"),
        Column("scan conversion", number, "scan_conversion_cycles"), Column(copies, number, "carrying_cycles"),
        Column(alone, number, "results_alone_cycles"), Column("all", number, "cycles"),
    )  # fmt: skip


def _patches(frame: AnimatedFrame) -> int:
    return len(frame.choice.kept) if frame.choice else 0


def _rate(frames: int, seconds: float) -> str:
    return f"{seconds * 1e3 / max(1, frames):,.3g} ms a frame, {frames / seconds:,.1f} frames a second by these alone"


def _where(animation: Animation) -> Table:
    """Return the cycles of all stages over all frames, those of passes first."""
    total: Counter[str] = Counter()
    for each in animation.frames:
        total.update({f"tessellation: {stage.value}": each.stages.get(stage.value, 0) for stage in Stage})
    for each in animation.frames:
        drawn = {name: cycles for name, cycles in each.drawing.items() if name != Stage.RETURN.value}
        total.update({f"scan conversion: {name}": cycles for name, cycles in drawn.items()})
        total["results of the next frame, copied into the ports, and waits"] += each.carrying
        total["results alone"] += each.left
    rows = [(cycles, share(cycles, animation.cycles), name) for name, cycles in total.items() if cycles]
    rows.append((animation.cycles, share(animation.cycles, animation.cycles), "= all"))
    return Table((Column("cycles", number, "cycles"), Column("share", verbatim), Column("stage", key="stage")), rows,
                 key="stages")  # fmt: skip


def _facts(animation: Animation, wrong: Sequence[int], file: AnimationFile) -> Iterator[tuple[str, str]]:
    yield "reference", "every pixel of every frame equal" if not wrong else f"PIXELS DIFFER in frames {wrong}"
    if animation.session is not None:
        if animation.way == "direct":
            yield "not counted", READING
        else:
            text = f"{number(animation.path_cycles)} cycles of the busiest path to a GP's memory"
            yield "results", text
            yield "", f"{number(animation.hidden)} of these during scan conversion, executed"
        dropped = sum(len(each.choice.samples) - len(each.choice.kept) for each in animation.frames if each.choice)
        yield "sampling by view", f"{plural(dropped, 'patch')} dropped, over all frames"
        yield "not counted", LOADING
    if animation.once:
        yield "tessellation", f"{counted(animation.cycles_before, 'cycle')} {_BEFORE}{origin(animation.once)}"
        yield "", f"schedule {' and '.join(dict.fromkeys(each.method.schedule for each in animation.once))}"
        left = [text for each in animation.once for text in each.not_counted]
        left += [text for each in map(trims_of, animation.once) if each for text in each.not_counted]
        for text in dict.fromkeys(left):
            yield "", f"not counted: {text}"
    if animation.configuring:
        yield "LEE", f"configured in {counted(animation.configuring, 'cycle')} {_BEFORE}"
    loading = max((each.loading for each in animation.frames), default=0)
    if loading:
        yield "textures", f"{counted(loading, 'cycle')} {_BEFORE}"
    chosen = any(each.choice for each in animation.frames)
    yield "not counted", uncounted_work(chosen=chosen, textures=loading > 0)
    if trims := _trims(animation):
        yield from (("", f"{text}, over all frames") for text in trims.not_counted)
    if any(BLEND_STAGE in each.drawing for each in animation.frames):
        yield "", LAST_LAYER
    yield "", f"{uncounted_pixels(*file.size, composed=False)}, of every frame"
    yield "wrote", file.output


def _trims(animation: Animation) -> TrimAccount | None:
    """Return the work of GPs on trims of patches tessellated anew, over all frames."""
    return together([each.trims for each in animation.frames if each.trims])


def _shared(animation: Animation) -> Iterator[Part]:
    """Yield the balance of GPs and EMCs, if samples are made anew for frames."""
    if any(each.samples for each in animation.frames):
        passes = sum(each.passes for each in animation.frames) / len(animation.frames)
        yield (
            "formula: average cycles of a frame with a share of its samples made by the GPs (3.1.1); EMCs "
            f"save whole passes, of which a frame has {number(passes)} on average"
        )
        yield from ("", balance(animation))


def _left(frame: AnimatedFrame, part: float) -> float:
    """Return the share of a frame's passes that remain when GPs make a part of its samples."""
    return math.ceil(frame.passes * (1 - part)) / max(1, frame.passes)


def balance(animation: Animation) -> Table:
    """Return, by formula, the cycles of EMCs and GPs for an average frame when GPs make a share of the samples.

    EMCs save whole passes; a GP makes 240e6 / 282 samples a second, chapter 1's peak over section 5's operations. Other
    work of GPs is left out.
    """
    frames, config = animation.frames, animation.config
    count, gps = max(1, len(frames)), config.gni.gp_count
    per_sample = operations(4, 4) / GP_FLOPS * config.clock_mhz * 1e6 / gps
    rows: list[Sequence[Json]] = []
    for part in _SHARES:
        emc = sum(each.cycles - each.tessellation * (1 - _left(each, part)) for each in frames)
        gp = part * per_sample * sum(each.samples for each in frames)
        rows.append((f"{part:.0%}", round(emc / count), round(gp / count), round(max(emc, gp) / count)))
    columns = (
        Column("by GPs", key="share", fixed=True), Column("EMCs", number, "emc_cycles"),
        Column("GPs", number, "gp_cycles"), Column("the later", number, "cycles"),
    )  # fmt: skip
    return Table(columns, rows, key="balance")
