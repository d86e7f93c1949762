"""Draw a picture on a simulated machine: PixelFlow, or Larrabee with --machine larrabee.

SCENE is a scene file (.toml), a mesh (.obj, .ply, .stl, .off, .glb; needs trimesh), patches (.bpt), which a PixelFlow
node tessellates first, or Larrabee's vector unit with --projection vpu, or the name of one that ships here (listed
below). The picture is compared with
the same triangles drawn in 64-bit integers.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from pixelflow.cli.draw.pictures import check_picture, nodes_of, write_picture
from pixelflow.cli.draw.scene_options import add_scene_options, is_patches, scene_source
from pixelflow.cli.shell.arguments import UsageError, add_config_options, add_engine_option, count
from pixelflow.cli.shell.engines import engine_of
from pixelflow.cli.shell.machine import configuration
from pixelflow.cli.shell.machine_values import add_value_option
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.cli.watch.observing import Watching, add_observer_options
from pixelflow.config import Effective
from pixelflow.simd.drawing import ScreenTriangles, draw
from pixelflow.simd.report import Report
from tessellation import Tessellation, load
from tessellation.picture import View, lit_triangles
from tessellation.rendering import (
    Projected,
    plain_triangles,
    project_samples,
    render_on_nodes,
    require_plain,
    require_region,
)
from tessellation.rendering.report import DrawnPicture, picture_report
from tessellation.scenes import BACKGROUND, SIZE, SceneSource, load_scene

EXAMPLES = (
    "pixelflow render teapot --samples 4 --size 256x192 -o teapot.png",
    "pixelflow render enneper --samples 5 --size 128x96 --flat --nodes 2 -o out.png",
    "pixelflow render enneper --samples 4 --size 96x64 --projection emc -o out.png",
    "pixelflow render glass --machine larrabee --size 80x60 -o glass.png",
    "pixelflow render nut --machine larrabee --projection vpu --size 80x60 -o n.png",
)

_MACHINES = ("pixelflow", "larrabee")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add scene, picture and machine."""
    add = parser.add_argument
    add_scene_options(parser)
    add("-o", "--output", metavar="FILE.png", required=True, help="picture to write")
    add("--machine", choices=_MACHINES, default="pixelflow", help="which machine draws (default: pixelflow)")
    add("--nodes", type=nodes_of, metavar="N",
        help="PixelFlow's nodes that share the triangles; their pictures are merged by depth (default: 1)")  # fmt: skip
    add("--projection", choices=("host", "emc", "vpu"), default="host",
        help="who projects: the host, for no cycles; the EMCs, samples of patches; or Larrabee's vector unit, which "
             "also tessellates (default: host)")  # fmt: skip
    add("--cores", type=count, metavar="N", help="Larrabee's cores, 1 to 64 (default: 1)")
    add("--tile", type=int, choices=(32, 64, 128), help="side of Larrabee's tiles (default: 64)")
    add_value_option(parser)
    add_engine_option(parser)
    add_observer_options(parser, passes=True)
    add_config_options(parser)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Draw, write the picture, report; fails where a pixel differs from the reference."""
    effective = configuration(args, screen)
    _check(args)
    args.engine = engine_of(args, screen)
    if args.machine == "larrabee":
        from pixelflow.cli.draw.render_larrabee import draw_picture  # 40 ms that PixelFlow's pictures need not take

        return draw_picture(args, screen, effective)
    with Progress(replace(screen, progress=screen.progress and not args.live), counts=False) as progress:
        with Watching(args, screen, effective, args.scene) as watching:
            drawn = _draw(args, screen, effective, watching, progress)
        same = draw(drawn.triangles, *drawn.size, drawn.background).equals(drawn.picture)
    write_picture(args.output, drawn.picture)
    return picture_report(args.scene, args.output, args.engine, effective, drawn, same=same)


def _check(args: argparse.Namespace) -> None:
    """Refuse options of the other machine, and outputs that could not be written."""
    if args.machine == "larrabee":
        others = {"--nodes": args.nodes is not None}
        whose = "PixelFlow's; this is Larrabee"
    else:
        others = {"--cores": args.cores is not None, "--tile": args.tile is not None, "--core": bool(args.core)}
        whose = "Larrabee's; add --machine larrabee"
    for option, given in others.items():
        if given:
            raise UsageError(option, f"is {whose}")
    watched = any((args.stats, args.trace, args.record, args.live, args.frame))
    if watched and args.machine == "larrabee" and (args.projection == "vpu" or not is_patches(args.scene)):
        raise UsageError("--stats, --trace, --record, --live, --frame", "watch a PixelFlow node, and none runs here")
    if args.projection == "emc" and args.machine == "larrabee":
        raise UsageError("--projection", "EMCs are PixelFlow's; on Larrabee the host or its vpu projects")
    if args.projection == "vpu" and args.machine != "larrabee":
        raise UsageError("--projection", "the vector unit is Larrabee's; add --machine larrabee")
    if args.cores is not None and args.cores > 64:
        raise UsageError("--cores", f"1 to 64, not {args.cores}")
    check_picture(args.scene, args.output)


def _draw(
    args: argparse.Namespace, screen: Screen, effective: Effective, watching: Watching, progress: Progress
) -> DrawnPicture:
    projected = None
    require_region(effective.config)
    how = scene_source(args, screen, effective, progress, watching.attach, require=require_plain)
    if args.projection == "emc":
        triangles, tessellations, projected = _projected(args, how)
        size, background = args.size or SIZE, BACKGROUND
    else:
        scene = load_scene(args.scene, how)
        frame, tessellations = scene.frame, scene.tessellations
        triangles, size, background = plain_triangles(frame), (frame.width, frame.height), frame.background
    drawn = render_on_nodes(
        triangles,
        *size,
        args.nodes or 1,
        background=background,
        config=effective.config,
        engine=args.engine,
        progress=progress.tell,
        watch=watching.attach,
    )
    return DrawnPicture(
        triangles, size, background, tuple(tessellations), projected, list(drawn.nodes), drawn.picture, drawn.time
    )


def _projected(args: argparse.Namespace, how: SceneSource) -> tuple[ScreenTriangles, tuple[Tessellation], Projected]:
    """Return triangles of patches that the EMCs have tessellated and projected, and both accounts."""
    if not is_patches(args.scene):
        raise UsageError("--projection", "the EMCs project what they have tessellated: patches that are named")
    file = load(args.scene)
    for note in file.notes:
        how.note(f"note: {file.name}: {note}")
    width, height = args.size or SIZE
    view = View(width=width, height=height)
    machine = {"engine": how.engine, "config": how.config, "progress": how.progress, "watch": how.watch}
    tessellation, projected = project_samples(file.patches, args.samples or 8, view, **machine)
    mesh = tessellation.mesh(weld=True)
    triangles = lit_triangles(
        mesh.points,
        mesh.normals,
        mesh.triangles,
        view,
        flat=args.flat,
        standpoint=projected.standpoint,
        screen=projected.vertices[mesh.samples],
    )
    return triangles, (tessellation,), projected
