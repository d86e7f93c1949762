"""`pixelflow render --machine larrabee`: a scene drawn by programs for Larrabee's vector unit."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pixelflow.cli.arguments import UsageError
from pixelflow.cli.core_values import core_of
from pixelflow.cli.machine import config_object
from pixelflow.cli.pictures import write_picture
from pixelflow.cli.progress import Progress
from pixelflow.cli.scene_options import scene_source
from pixelflow.cli.screen import Column, Screen, counted, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from larrabee_bridge.compare import FromVertices, Side
    from larrabee_bridge.core import CoreConfig
    from larrabee_bridge.kernels.bezier import Tessellated
    from pixelflow.config import Effective
    from pixelflow.simd.drawing import Frame
    from tessellation import Mesh, Patch
    from tessellation.scenes import Scene

__all__ = ["draw_and_show"]


@dataclass(slots=True)
class _Drawn:
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


def draw_and_show(args: argparse.Namespace, screen: Screen, effective: Effective) -> bool:
    """Draw, write the picture, report; return whether every pixel is the one of 64-bit integers."""
    from larrabee_bridge.compare import draw_on_larrabee
    from pixelflow.simd.drawing import draw_frame

    with Progress(replace(screen, progress=screen.progress and not args.live), counts=False) as progress:
        core = core_of(args)
        drawn = _drawn(args, screen, effective, core, progress)
        fronts = drawn.vertices.fronts if drawn.vertices else ()
        how = {"cores": args.cores or 1, "tile": args.tile or 64, "config": core, "progress": progress.tell}
        side = draw_on_larrabee(drawn.frame, fronts=fronts, **how)
        same = draw_frame(drawn.frame).equals(side.picture)
    write_picture(args.output, side.picture)
    if screen.json:
        _object(screen, args, effective, drawn, side, same=same)
    elif not screen.quiet:
        _report(screen, args, drawn, side, same=same)
    return same


def _drawn(
    args: argparse.Namespace, screen: Screen, effective: Effective, core: CoreConfig, progress: Progress
) -> _Drawn:
    from larrabee_bridge.compare import mesh_on_larrabee, project_on_larrabee
    from pixelflow.cli.observing import Watching
    from tessellation.scenes import load_scene

    runs: list[Tessellated] = []

    def mesher(patches: Sequence[Patch], samples: int) -> Mesh:
        progress.tell(f"larrabee: {len(patches)} patches of {samples}x{samples} samples")
        mesh, found = mesh_on_larrabee(patches, samples, config=core)
        runs.extend(found)
        return mesh

    with Watching(args, screen, effective, args.scene) as watching:
        how = scene_source(args, screen, effective, progress, watching.attach)
        scene = load_scene(args.scene, replace(how, mesher=mesher) if args.projection == "vpu" else how)
    if args.projection != "vpu":
        return _Drawn(scene.frame, scene)
    if not scene.bodies:
        raise UsageError("--projection", "the scene has no vertices: its triangles are made on the screen")
    vertices = project_on_larrabee(scene.frame, scene.bodies, scene.view, tile=args.tile or 64, config=core)
    return _Drawn(vertices.frame, scene, vertices, runs)


def _report(screen: Screen, args: argparse.Namespace, drawn: _Drawn, side: Side, *, same: bool) -> None:
    frame = drawn.frame
    screen.paragraph(
        f"pixelflow render · {args.scene} · {frame.width}x{frame.height} · {counted(frame.samples, 'sample')} a pixel "
        f"· Larrabee, {counted(side.parts, 'core')}"
    )
    draws = counted(len(frame.draws), "draw")
    screen.text(f"{counted(drawn.triangles, 'triangle')} in {draws}, {drawn.dropped:,} without an area")
    screen.text()
    total = sum(side.stages.values())
    rows = [[number(cycles), f"{100 * cycles / total:.1f} %", name] for name, cycles in side.stages.items()]
    rows.append([number(total), "100.0 %", f"= all, {side.whose_stages}"])
    screen.table([Column("cycles", numbers=True), Column("share", numbers=True), Column("stage")], rows)
    screen.text()
    facts = [
        ("machine time", f"{number(side.milliseconds)} ms at {side.clock_mhz:g} MHz ({side.cycles:,} cycles)"),
        ("lanes covered", f"{100 * side.covered_lanes:.1f} % of those of blocks of 4x4 pixels"),
        ("instructions", number(sum(side.mix.values()))),
        ("bytes", f"{sum(side.traffic.values()):,} between cores and memory"),
        ("reference", "every pixel equal" if same else "PIXELS DIFFER"),
        *side.facts,
        *_facts(drawn),
        ("wrote", args.output),
    ]
    for name, text in facts:
        if text:
            screen.fact(name, text)


def _facts(drawn: _Drawn) -> list[tuple[str, str]]:
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


def _object(
    screen: Screen, args: argparse.Namespace, effective: Effective, drawn: _Drawn, side: Side, *, same: bool
) -> None:
    from pixelflow.cli.compare_report import side_object

    frame = drawn.frame
    screen.object(
        "pixelflow.render-larrabee/1",
        scene=args.scene,
        size=[frame.width, frame.height],
        samples=frame.samples,
        tile=args.tile or 64,
        config=config_object(effective),
        triangles={
            "drawn": drawn.triangles,
            "without_area": drawn.dropped,
        },
        tessellation_cycles=drawn.tessellation[0] if drawn.tessellation else None,
        tessellation_by=drawn.tessellation[1] if drawn.tessellation else None,
        projection=_projection(drawn.vertices),
        equals_reference=same,
        **side_object(side),
    )


def _projection(vertices: FromVertices | None) -> dict[str, Any] | None:
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
