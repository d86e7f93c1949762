"""Draw a picture on a simulated machine: PixelFlow, or Larrabee with --machine larrabee.

SCENE is a scene file (.toml), a scene that ships here (still, tea, herd, fleet, works, anthill, glass), a mesh (.obj,
.ply, .stl, .off, .glb; needs trimesh; bunny, airplane, ant and nut ship here), or patches (teapot, enneper, .bpt),
which a PixelFlow node tessellates first, or Larrabee's vector unit with --projection vpu. The picture is compared with
the same triangles drawn in 64-bit integers.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from pixelflow.cli.arguments import UsageError, add_config_options, add_engine_option, count
from pixelflow.cli.core_values import add_core_option
from pixelflow.cli.machine import configuration, engine_of
from pixelflow.cli.observing import Watching, add_observer_options
from pixelflow.cli.pictures import check_picture, nodes_of, write_picture
from pixelflow.cli.progress import Progress
from pixelflow.cli.scene_options import add_scene_options, is_patches, scene_source
from pixelflow.cli.screen import Screen
from pixelflow.simd.errors import ExpectationError

if TYPE_CHECKING:
    from pixelflow.cli.render_report import Drawn
    from pixelflow.config import Effective

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
    add_core_option(parser)
    add_engine_option(parser)
    add_observer_options(parser, passes=True)
    add_config_options(parser)


def run(args: argparse.Namespace) -> int:
    """Draw, write the picture, report; raises ExpectationError where a pixel differs from the reference."""
    screen = Screen.of(args)
    effective = configuration(args, screen)
    _check(args)
    args.engine = engine_of(args, screen)
    if args.machine == "larrabee":
        from pixelflow.cli.render_larrabee import draw_and_show

        same = draw_and_show(args, screen, effective)
    else:
        same = _draw_and_show(args, screen, effective)
    if not same:
        raise ExpectationError("the picture differs from the one drawn in 64-bit integers")
    return 0


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


def _draw_and_show(args: argparse.Namespace, screen: Screen, effective: Effective) -> bool:
    from pixelflow.cli.render_report import note_network_in_vain, show_object, show_report
    from pixelflow.simd.drawing import draw

    with Progress(replace(screen, progress=screen.progress and not args.live), counts=False) as progress:
        with Watching(args, screen, effective, args.scene) as watching:
            drawn = _draw(args, screen, effective, watching, progress)
        same = draw(drawn.triangles, *drawn.size, drawn.background).equals(drawn.picture)
    write_picture(args.output, drawn.picture)
    if screen.json:
        show_object(screen, args, effective, drawn, same=same)
    elif not screen.quiet:
        show_report(screen, args, effective, drawn, same=same)
    if drawn.composition is None:
        note_network_in_vain(screen, effective)
    return same


def _draw(
    args: argparse.Namespace, screen: Screen, effective: Effective, watching: Watching, progress: Progress
) -> Drawn:
    from pixelflow.cli.render_report import Drawn
    from tessellation.rendering import (
        compose,
        composition_time,
        plain_triangles,
        render,
        require_region,
        shares,
        works_of,
    )
    from tessellation.scenes import BACKGROUND, SIZE, load_scene

    nodes_wanted, projected = args.nodes or 1, None
    require_region(effective.config)
    how = scene_source(args, screen, effective, progress, watching.attach, plain=True)
    if args.projection == "emc":
        triangles, tessellations, projected = _projected(args, how)
        size, background = args.size or SIZE, BACKGROUND
    else:
        scene = load_scene(args.scene, how)
        frame, tessellations = scene.frame, scene.tessellations
        triangles, size, background = plain_triangles(frame), (frame.width, frame.height), frame.background
    nodes = [
        render(
            share,
            *size,
            background=background,
            composed=nodes_wanted > 1,
            config=effective.config,
            engine=args.engine,
            progress=progress.tell,
            watch=watching.attach,
        )
        for share in shares(triangles, nodes_wanted)
    ]
    picture = compose([node.picture for node in nodes])
    composition = composition_time(works_of(nodes), effective.config) if nodes_wanted > 1 else None
    return Drawn(triangles, size, background, tuple(tessellations), projected, nodes, picture, composition)


def _projected(args: argparse.Namespace, how):
    """Return triangles of patches that the EMCs have tessellated and projected, and both accounts."""
    from tessellation import load
    from tessellation.camera import View
    from tessellation.rendering import lit_triangles, project_samples
    from tessellation.scenes import SIZE

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
