"""The report of an animation: cycles of each frame, where the time went, and how GPs and EMCs would share the work."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pixelflow.config import Effective, NodeConfig
from pixelflow.simd.report import Column, Json, Part, Report, Table, counted, facts, number, plural, share, verbatim
from tessellation.host.gps import GP_FLOPS, operations
from tessellation.host.trims import TrimAccount, together, trims_of
from tessellation.plan.stages import Stage
from tessellation.rendering.account import uncounted_pixels, uncounted_work
from tessellation.rendering.animation.frames import RETURNS, AnimatedFrame, Animation
from tessellation.rendering.shading.layers import BLEND_STAGE

__all__ = ["AnimationFile", "animation_report", "balance"]

_BEFORE = "before, once for all frames, in none of the above"
_NOTHING_ANEW = (
    "nothing is tessellated anew for a frame: there are no passes, samples and results of its own, and nothing of "
    "which GPs could make a share"
)
_WORDS = {
    "beside": "copies: into the ports, and waits, for results of the next frame, which return to the GPs while this "
    "one is drawn; alone: cycles in which this frame's own results return while nothing else goes on",
    "after": "results return to the GPs after a frame's last pass: their cycles are among those of the tessellation",
    "direct": "results are read for no cycles",
}
"""Of `RETURNS`, what the columns of the frames mean."""
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class AnimationFile:
    """What was animated, and where it went."""

    scene: str
    size: tuple[int, int]
    output: str
    effective: Effective[NodeConfig]
    engine: str


def animation_report(animation: Animation, file: AnimationFile) -> Report:
    """Return what each frame took, in which stages, and the balance of GPs and EMCs; fails where a pixel differs."""
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
            _WORDS.get(animation.way, _NOTHING_ANEW),
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
            "balance": None,  # unless frames have samples of their own: the table's key
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
    """Return the columns of the frames; what none of them can have is in JSON alone."""
    anew, beside = animation.session is not None, animation.way == RETURNS[0]
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
            yield "not counted", "results read outside the counted run"
        else:
            text = f"{number(animation.path_cycles)} cycles of the busiest path to a GP's memory"
            yield "results", text
            yield "", f"{number(animation.hidden)} of these beside scan conversion, executed"
        dropped = sum(len(each.choice.samples) - len(each.choice.kept) for each in animation.frames if each.choice)
        yield (
            "sampling by view",
            f"{plural(dropped, 'patch')} dropped, over all frames",
        )
        yield "not counted", "database loaded outside the counted run"
    if animation.once:
        yield "tessellation", f"{counted(animation.cycles_before, 'cycle')} {_BEFORE}"
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
        yield "", "the answer whether a layer was the last"
    yield "", f"{uncounted_pixels(*file.size, composed=False)}, of every frame"
    yield "wrote", file.output


def _trims(animation: Animation) -> TrimAccount | None:
    """Return what GPs have to do for trims of patches that are tessellated anew, over all frames."""
    return together([each.trims for each in animation.frames if each.trims])


def _shared(animation: Animation) -> Iterator[Part]:
    """Yield how GPs and EMCs would share the samples, where frames have any of their own."""
    if any(each.samples for each in animation.frames):
        passes = sum(each.passes for each in animation.frames) / len(animation.frames)
        yield (
            "formula: what a frame would take on average with so many of its samples made by the GPs (3.1.1); EMCs "
            f"save whole passes, of which a frame has {number(passes)} on average"
        )
        yield from ("", balance(animation))


def _left(frame: AnimatedFrame, part: float) -> float:
    """Return the share of a frame's passes that are left where the GPs make a part of its samples."""
    return math.ceil(frame.passes * (1 - part)) / max(1, frame.passes)


def balance(animation: Animation) -> Table:
    """Return, by formula, the cycles of EMCs and GPs for an average frame where the GPs make a share of the samples.

    EMCs save whole passes; a GP makes 240e6 / 282 samples a second, chapter 1's peak over section 5's operations. What
    GPs do besides is left out.
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
