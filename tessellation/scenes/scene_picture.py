"""A picture of a scene on any machine that draws, and its report: cycles by stage, machine time, prior work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pixelflow.caveats import resting_on
from pixelflow.simd.commands import Told
from pixelflow.simd.comparison import side_object
from pixelflow.simd.drawing import Frame, Ground, Picture, PictureDifference, draw_frame
from pixelflow.simd.report import Json, Part, Report, counted, facts, largest, number, shares
from pixelflow.simd.units import GUESSED
from tessellation.host.kept_model import ModelWork, origin
from tessellation.picture import PictureOrder
from tessellation.sampling import SampleChoice, choice_facts
from tessellation.scenes.scene_load import Scene

if TYPE_CHECKING:
    from tessellation.host.tessellator import Tessellation

_MOST_STAGES = 7
"""Stages in a brief."""
_IN_BRIEF = ("reference", "instructions", "not counted", "tessellation", "wrote")
"""Facts in a brief."""


class PriorWork(NamedTuple):
    """Work done before a frame is drawn."""

    tessellation: tuple[int, str] | None = None
    """Cycles, and the machine."""
    tessellations: Sequence[ModelWork | Tessellation] = ()
    """Those of a node."""
    projection: Mapping[str, Json] | None = None
    facts: Sequence[tuple[str, str]] = ()
    """Facts about the projection."""
    choice: SampleChoice | None = None

    @classmethod
    def of(cls, scene: Scene) -> PriorWork:
        """Return the work of a node for a scene."""
        made: tuple[ModelWork | Tessellation, ...] = (*scene.once, *scene.anew)
        by = (sum(each.cycles for each in made), "a PixelFlow node") if made else None
        return cls(by, made, choice=scene.choice)


def draw_scene(order: PictureOrder[Scene]) -> tuple[Picture, Report]:
    """Draw a scene whose patches a node tessellates and whose vertices the host projects."""
    scene = order.load()
    return draw_picture(order, scene.frame, PriorWork.of(scene))


def draw_picture(
    order: PictureOrder[Scene], frame: Frame, before: PriorWork, more: Told | None = None
) -> tuple[Picture, Report]:
    """Draw a frame, with ``more`` options for the machine's drawer; return the picture and its report.

    The report fails if a pixel differs from that of 64-bit integers, unless the machine's arithmetic differs.
    """
    machine, told = order.machine, order.told
    assert machine.draw is not None and machine.commands is not None and machine.commands.drawing is not None
    drawing = machine.commands.drawing
    side = machine.draw(frame, progress=order.source.progress, **told, **(more or {}))
    apart = PictureDifference.of(side, draw_frame(frame))
    drawn = sum(len(each.triangles) for each in frame.draws)
    dropped = sum(each.triangles.dropped for each in frame.draws)
    cycles, whose = before.tessellation or (None, None)
    tessellated = [] if cycles is None else [f"{cycles:,} cycles of {whose} before{origin(before.tessellations)}"]
    rows = [
        ("machine time", f"{number(side.milliseconds)} ms at {side.clock_mhz:g} MHz ({side.cycles:,} cycles)"),
        ("lanes covered", f"{100 * side.covered_lanes:.1f} % of those of {drawing.block}"),
        ("instructions", number(sum(side.mix.values()))),
        ("bytes", f"{sum(side.traffic.values()):,} {drawing.ways}"),
        ("reference", apart.text),
        *side.facts,
        *before.facts,
        *(("tessellation", text) for text in tessellated),
        *choice_facts(before.choice),
        ("wrote", order.output),
    ]
    size = f"{frame.width}x{frame.height}"
    parts = f"{machine.title}, {counted(side.parts, machine.part)}"
    gone = f", {dropped:,} without an area" if dropped else ""
    work = f"{counted(drawn, 'triangle')} in {counted(len(frame.draws), 'draw')}{gone}"
    foot = f"= all, {side.whose_stages}"
    assumed = [each for each in side.grounds.get("cycles", Ground()).constants if each.standing in GUESSED]
    stages = largest(side.stages, _MOST_STAGES)
    table: list[Part] = [shares(stages, "cycles", "stage", foot=foot), ""] if len(stages) > 1 else []
    brief: list[Part] = [
        f"{order.scene}, {size}: {side.cycles:,} cycles, {number(side.milliseconds)} ms at {side.clock_mhz:g} MHz",
        f"{parts}; {work}, {counted(frame.samples, 'sample')} a pixel",
        "",
        *table,
        *facts(row for row in rows if row[0] in _IN_BRIEF),
        resting_on(len(assumed), machine.name),
    ]
    report = Report(
        "pixelflow render",
        (order.scene, size, f"{counted(frame.samples, 'sample')} a pixel", parts),
        [work, "", shares(side.stages, "cycles", "stage", foot=foot), "", *facts(rows)],
        brief=brief,
        schema=f"pixelflow.render-{machine.name}/1",
        data={
            "scene": order.scene,
            "all_instructions": sum(side.mix.values()),
            "all_bytes": sum(side.traffic.values()),
            "stage_cycles": sum(side.stages.values()),
            "size": [frame.width, frame.height],
            "samples": frame.samples,
            **{option.key: told[option.keyword] for option in drawing.options if option.key},
            "config": order.effective.as_object(),
            "triangles": {"drawn": drawn, "without_area": dropped},
            "tessellation_cycles": cycles,
            "tessellation_by": whose,
            "tessellation_from_store": any(each.is_stored for each in before.tessellations),
            "sampling": before.choice.as_object() if before.choice else None,
            "projection": before.projection,
            "equals_reference": not (apart.colours or apart.depths),
            "pixels_different": apart.colours,
            "largest_difference": apart.largest,
            **side_object(side),
        },
        failure=None if not apart.wrong else "the picture differs from the one drawn in 64-bit integers",
    )
    return side.picture, report
