"""The report of a picture that Larrabee drew: cycles by stage, machine time, what was done before."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from larrabee_bridge.compare.report import side_object
from larrabee_bridge.compare.vertices import FromVertices
from larrabee_bridge.kernels.bezier import Tessellated
from pixelflow.config import Effective, NodeConfig
from pixelflow.simd.drawing import DrawnFrame, Frame
from pixelflow.simd.report import Json, Report, counted, facts, number, shares
from tessellation.scenes import Scene

__all__ = ["ComparedPicture", "picture_report"]


@dataclass(slots=True)
class ComparedPicture:
    """A frame as it was drawn, and what was done before: by a node, by the front end, by a core for patches."""

    frame: Frame
    scene: Scene
    vertices: FromVertices | None = None
    runs: list[Tessellated] = field(default_factory=list)

    @property
    def triangles(self) -> int:
        """Triangles of all draws, those that were left out before not among them."""
        return sum(len(draw.triangles) for draw in self.frame.draws)

    @property
    def dropped(self) -> int:
        """Triangles without an area."""
        return sum(draw.triangles.dropped for draw in self.frame.draws)

    @property
    def tessellation(self) -> tuple[int, str] | None:
        """Cycles of tessellations, and whose; None where there was none."""
        if self.runs:
            return sum(run.timing.core for run in self.runs), "one core of Larrabee"
        if self.scene.tessellations:
            return sum(each.cycles for each in self.scene.tessellations), "a PixelFlow node"
        return None


def picture_report(
    scene: str,
    output: str,
    tile: int,
    effective: Effective[NodeConfig],
    drawn: ComparedPicture,
    side: DrawnFrame,
    *,
    same: bool,
) -> Report:
    """Return what was drawn, the cycles of each stage, and how long the machine takes."""
    frame = drawn.frame
    rows = [
        ("machine time", f"{number(side.milliseconds)} ms at {side.clock_mhz:g} MHz ({side.cycles:,} cycles)"),
        ("lanes covered", f"{100 * side.covered_lanes:.1f} % of those of blocks of 4x4 pixels"),
        ("instructions", number(sum(side.mix.values()))),
        ("bytes", f"{sum(side.traffic.values()):,} between cores and memory"),
        ("reference", "every pixel equal" if same else "PIXELS DIFFER"),
        *side.facts,
        *_facts(drawn),
        ("wrote", output),
    ]
    triangles = f"{counted(drawn.triangles, 'triangle')} in {counted(len(frame.draws), 'draw')}"
    cycles, whose = drawn.tessellation or (None, None)
    size = f"{frame.width}x{frame.height}"
    return Report(
        "pixelflow render",
        (scene, size, f"{counted(frame.samples, 'sample')} a pixel", f"Larrabee, {counted(side.parts, 'core')}"),
        [
            f"{triangles}, {drawn.dropped:,} without an area",
            "",
            shares(side.stages, "cycles", "stage", foot=f"= all, {side.whose_stages}"),
            "",
            *facts(rows),
        ],
        schema="pixelflow.render-larrabee/1",
        data={
            "scene": scene,
            "size": [frame.width, frame.height],
            "samples": frame.samples,
            "tile": tile,
            "config": effective.as_object(),
            "triangles": {"drawn": drawn.triangles, "without_area": drawn.dropped},
            "tessellation_cycles": cycles,
            "tessellation_by": whose,
            "projection": _projection(drawn.vertices),
            "equals_reference": same,
            **side_object(side),
        },
        failure=None if same else "the picture differs from the one drawn in 64-bit integers",
    )


def _facts(drawn: ComparedPicture) -> list[tuple[str, str]]:
    found = []
    if drawn.vertices is not None:
        off = drawn.vertices.offset
        found += [
            ("projection", f"within {off.steps} of 1/256 pixel of 64 bits, depths within {off.depth_steps} of 2^24"),
            ("", f"{off.moved:,} of {off.vertices:,} vertices in bins on another 1/256 pixel"),
        ]
    if drawn.tessellation is not None:
        cycles, whose = drawn.tessellation
        found.append(("tessellation", f"{cycles:,} cycles of {whose} before"))
    return found


def _projection(vertices: FromVertices | None) -> dict[str, Json] | None:
    if vertices is None:
        return None
    off, fronts = vertices.offset, list(vertices.results)
    dropped: Counter[str] = Counter()
    for front in fronts:
        dropped.update({reason.name.lower(): count for reason, count in front.dropped.items()})
    return {
        "cycles": sum(int(front.cycles.sum()) for front in fronts),
        "primsets": sum(len(front.vertices) for front in fronts),
        "vertices": sum(int(front.vertices.sum()) for front in fronts),
        "distinct_vertices": sum(front.distinct for front in fronts),
        "dropped": dict(dropped),
        "cut": sum(front.cut for front in fronts),
        "largest_difference": {"steps": off.steps, "depth_steps": off.depth_steps},
        "compared": off.vertices,
        "on_another_step": off.moved,
    }
