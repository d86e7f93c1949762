"""The report of an animation: cycles of each frame, where the time went, and how GPs and EMCs would share the work."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pixelflow.config import Effective, NodeConfig
from pixelflow.simd.report import Column, Json, Report, Table, counted, facts, number, plural, share, verbatim
from tessellation.host.gps import GP_FLOPS, operations
from tessellation.plan.stages import Stage
from tessellation.rendering.animation.frames import AnimatedFrame, Animation

__all__ = ["AnimationFile", "animation_report", "balance"]

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
    columns = (
        Column("frame", key="frame", fixed=True), Column("patches", number, "patches"),
        Column("samples", number, "samples"), Column("triangles", number, "triangles"),
        Column("passes", key="passes"), Column("tessellation", number, "tessellation_cycles"),
        Column("scan conversion", number, "scan_conversion_cycles"), Column("carrying", number, "carrying_cycles"),
        Column("results alone", number, "results_alone_cycles"), Column("all", number, "cycles"),
    )  # fmt: skip
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
            "",
            _where(animation),
            "",
            *facts(list(_facts(animation, wrong, file))),
            "",
            "formula: what a frame would take on average with so many of its samples made by the GPs (3.1.1)",
            "",
            balance(animation),
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
            "path_cycles": animation.path_cycles,
            "path_cycles_beside_scan_conversion": animation.hidden,
            "equals_reference": not wrong,
            "wrote": file.output,
        },
        failure=f"frames {wrong} differ from those drawn in 64-bit integers" if wrong else None,
    )


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
        total["results of the next frame, into the ports and waits"] += each.carrying
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
    yield "not counted", "work of the GPs: camera, choice of samples, light, regions, instructions"
    yield "wrote", file.output


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
