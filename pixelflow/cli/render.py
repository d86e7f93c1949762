"""Draw a picture on a simulated machine: PixelFlow, or another one with --machine.

SCENE is a scene file (.toml), a mesh (.obj, .ply, .stl, .off, .glb; needs trimesh), patches (.bpt), which a PixelFlow
node tessellates first, or the machine itself with a --projection that says so, or the name of one that ships here
(listed below). The picture is compared with the same triangles drawn in 64-bit integers.

A scene file (`pixelflow examples show glass` has one with more keys):

    [[body]]
    patches = "teapot"
    colour = "teal"

    [[body]]
    mesh = "floor"
    size = 8
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pkgutil import resolve_name

from pixelflow.cli.arguments import add_config_options, add_engine_option
from pixelflow.cli.machine_values import (
    PIXELFLOW,
    add_drawing_options,
    configuration,
    drawing_options,
    engine_of,
    examples_for,
    refusal_of,
    refuse_options_of_others,
)
from pixelflow.cli.picture_files import check_picture, write_picture
from pixelflow.cli.scene_options import add_scene_options, scene_source
from pixelflow.cli.screen import Progress, Screen
from pixelflow.cli.watching import Watching, add_observer_options
from pixelflow.simd.errors import UsageError
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.machine import machine_named
from pixelflow.simd.report import RasterImage, Report
from tessellation.scenes import PictureOrder, draw_scene, load_scene
from tessellation.surface.bpt import is_patches

EXAMPLES = examples_for("render")

_HOST = "host"
"""The projection that costs no cycles, on every machine."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add scene, picture and machine."""
    add = parser.add_argument
    add_scene_options(parser)
    machines = add_drawing_options(parser, "render")
    projections = [each for drawing in machines.values() for each in drawing.projections]
    *first, last = ("the host, for no cycles", *(each.who for each in projections))
    add("-o", "--output", metavar="FILE.png", required=True, help="picture to write")
    add("--machine", choices=tuple(machines), default=PIXELFLOW, help="which machine draws (default: pixelflow)")
    add("--projection", choices=(_HOST, *(each.name for each in projections)), default=_HOST,
        help=f"who projects: {'; '.join(first)}; or {last} (default: host)")  # fmt: skip
    add_engine_option(parser)
    add_observer_options(parser, passes=True)
    add_config_options(parser)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Draw, write the picture, report; fails where a pixel differs from the reference."""
    effective = configuration(args)
    _check(args)
    args.engine = engine_of(args, screen)
    drawing, words = args.machines[args.machine], drawing_options(args, args.machine)
    line = screen._replace(progress=screen.progress and not args.live)
    with Progress(line, counts=False) as progress, Watching(args, screen, effective, args.scene) as watching:
        require = refusal_of(args, args.machine, effective.config)
        watch = watching.attach if _is_watched(args) else None
        source = scene_source(args, screen, effective, progress, watch, require=require)
        machine, projection = machine_named(args.machine), args.projection
        order = PictureOrder(machine, args.scene, source, load_scene, effective, words, args.output, projection)
        picture, report = (resolve_name(drawing.picture) if drawing.picture else draw_scene)(order)
    write_picture(args.output, picture)
    high, wide = picture.colours.shape[:2]
    image = RasterImage(wide, high, 3, picture.colours.tobytes(), f"{args.scene}, {wide} x {high}, as drawn")
    return watching.completed(replace(report, figures=[image, *report.figures]))


def _is_watched(args: argparse.Namespace) -> bool:
    return any((args.stats, args.trace, args.record, args.live, args.frame, args.check_memory, args.energy))


def _check(args: argparse.Namespace) -> None:
    """Refuse options of other machines, and outputs that could not be written."""
    refuse_options_of_others(args, [args.machine])
    own = args.machines[args.machine]
    projections = {each.name: (name, each) for name, other in args.machines.items() for each in other.projections}
    whose, projection = projections.get(args.projection, (args.machine, None))
    alone = projection is not None and projection.tessellates
    if _is_watched(args) and args.machine != PIXELFLOW and (alone or not is_patches(args.scene)):
        raise UsageError(
            "--stats, --trace, --record, --live, --frame, --check-memory, --energy",
            "watch a PixelFlow node, and none runs here",
        )
    if projection is not None and whose != args.machine:
        ways = "".join(f" or its {each.name}" for each in own.projections)
        more = f"on {own.title} the {_HOST}{ways} projects" if whose == PIXELFLOW else f"add --machine {whose}"
        raise UsageError("--projection", f"{projection.refusal}; {more}")
    if own.engines and args.engine not in (AUTO, *own.engines):
        raise UsageError(f"--engine {args.engine}", f"{own.title} has {', '.join((AUTO, *own.engines))}")
    check_picture(args.scene, args.output)
