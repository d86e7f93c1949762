"""`pixelflow render --machine larrabee`: a scene drawn by programs for Larrabee's vector unit."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from larrabee_bridge.compare import mesh_on_larrabee, project_on_larrabee
from larrabee_bridge.compare.picture_report import ComparedPicture, picture_report
from larrabee_bridge.kernels.bezier import Tessellated
from larrabee_bridge.pipeline.frame import draw_on_larrabee
from larrabee_bridge.vpu.core import CoreConfig
from pixelflow.cli.draw.pictures import write_picture
from pixelflow.cli.draw.scene_options import scene_source
from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.shell.machine_values import values_of_pictures
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.cli.watch.observing import Watching
from pixelflow.config import Effective
from pixelflow.simd.drawing import draw_frame
from pixelflow.simd.report import Report
from tessellation import Mesh, Patch
from tessellation.scenes import load_scene

__all__ = ["draw_picture"]


def draw_picture(args: argparse.Namespace, screen: Screen, effective: Effective) -> Report:
    """Draw, write the picture, report whether every pixel is the one of 64-bit integers."""
    tile = args.tile or 64
    with Progress(replace(screen, progress=screen.progress and not args.live), counts=False) as progress:
        core = values_of_pictures(CoreConfig, args.core)
        drawn = _drawn(args, screen, effective, core, progress)
        fronts = drawn.vertices.fronts if drawn.vertices else ()
        how = {"parts": args.cores or 1, "tile": tile, "config": core, "progress": progress.tell}
        side = draw_on_larrabee(drawn.frame, fronts=fronts, **how)
        same = draw_frame(drawn.frame).equals(side.picture)
    write_picture(args.output, side.picture)
    return picture_report(args.scene, args.output, tile, effective, drawn, side, same=same)


def _drawn(
    args: argparse.Namespace, screen: Screen, effective: Effective, core: CoreConfig, progress: Progress
) -> ComparedPicture:
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
        return ComparedPicture(scene.frame, scene)
    if not scene.bodies:
        raise UsageError("--projection", "the scene has no vertices: its triangles are made on the screen")
    vertices = project_on_larrabee(scene.frame, scene.bodies, scene.view, tile=args.tile or 64, config=core)
    return ComparedPicture(vertices.frame, scene, vertices, runs)
