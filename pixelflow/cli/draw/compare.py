"""Draw the same scene on PixelFlow and on Larrabee, and put what it took side by side.

SCENE is a scene file (.toml), a mesh, patches (.bpt), which a PixelFlow node tessellates first, or the name of one that
ships here (listed below). Patches that are named themselves are also tessellated on both machines. Every pixel is
compared with the one that 64-bit integers draw.
"""

from __future__ import annotations

import argparse
from pathlib import PurePath

from larrabee_bridge.compare import BezierComparison, tessellate_on_both
from larrabee_bridge.compare.dashboard import dashboard_parts
from larrabee_bridge.compare.figure import save_figure
from larrabee_bridge.compare.report import bezier_object, bezier_parts, comparison_object, comparison_parts
from larrabee_bridge.pipeline.frame import draw_on_larrabee
from larrabee_bridge.vpu.core import CoreConfig
from pixelflow.cli.draw.pictures import check_picture, nodes_of, write_picture
from pixelflow.cli.draw.scene_options import add_scene_options, is_patches, scene_source
from pixelflow.cli.shell.arguments import UsageError, add_config_options, add_engine_option, count
from pixelflow.cli.shell.engines import engine_of
from pixelflow.cli.shell.machine import configuration
from pixelflow.cli.shell.machine_values import add_value_option, values_of_pictures
from pixelflow.cli.shell.output import check_drawing, check_writable, output_file, refuse_clashes
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.config import Effective
from pixelflow.simd.drawing import Comparison, draw_frame
from pixelflow.simd.report import Report
from tessellation import load
from tessellation.rendering import require_plain, require_region
from tessellation.rendering.machine import draw_on_pixelflow
from tessellation.scenes import load_scene

EXAMPLES = (
    "pixelflow compare enneper --samples 4 --size 96x64",
    "pixelflow compare nut --size 64x48 --cores 4 --dash",
)

_CORE_MHZ = 1000.0
"""Clock of a Larrabee core: the unit of Seiler et al. 2008, 5.1, is one core at 1 GHz."""
_FIGURES = (".png", ".svg")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add scene, machines and outputs."""
    add = parser.add_argument
    add_scene_options(parser)
    add("--nodes", type=nodes_of, default=1, metavar="N", help="PixelFlow's nodes (default: 1)")
    add("--cores", type=count, default=1, metavar="N", help="Larrabee's cores, 1 to 64 (default: 1)")
    add("--tile", type=int, default=64, choices=(32, 64, 128), help="side of Larrabee's tiles (default: 64)")
    add("--core-mhz", type=_megahertz, default=_CORE_MHZ, metavar="MHZ",
        help="clock of Larrabee's cores (default: 1000, the paper's unit)")  # fmt: skip
    add("-o", "--output", metavar="FILE.png", help="write the picture")
    add("--figure", metavar="FILE", help="draw the comparison, .png or .svg (needs matplotlib: extra plot)")
    add("--dash", action="store_true", help="show bars instead of tables")
    add_value_option(parser)
    add_engine_option(parser)
    add_config_options(parser)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Draw on both, report; fails where a pixel differs."""
    effective = configuration(args, screen)
    _check_outputs(args)
    args.engine = engine_of(args, screen)
    with Progress(screen, counts=False) as progress:
        found, bezier = _compare(args, screen, effective, progress)
    if args.output:
        write_picture(args.output, found.sides[0].picture)
    if args.figure:
        with output_file(args.figure, binary=True) as stream:
            save_figure(stream, PurePath(args.figure).suffix.lower()[1:], found, bezier, args.core_mhz)
    return _report(args, screen, effective, found, bezier)


def _check_outputs(args: argparse.Namespace) -> None:
    if args.cores > 64:
        raise UsageError("--cores", f"1 to 64, not {args.cores}")
    outputs = [(option, path) for option, path in (("-o", args.output), ("--figure", args.figure)) if path]
    refuse_clashes(outputs, [("SCENE", args.scene)])
    if args.output:
        check_picture(args.scene, args.output)
    if args.figure:
        if PurePath(args.figure).suffix.lower() not in _FIGURES:
            raise UsageError("--figure", "the figure is a .png or a .svg file")
        check_drawing()
        check_writable(args.figure)


def _compare(
    args: argparse.Namespace, screen: Screen, effective: Effective, progress: Progress
) -> tuple[Comparison, BezierComparison | None]:
    core = values_of_pictures(CoreConfig, args.core)
    require_region(effective.config)
    scene = load_scene(args.scene, scene_source(args, screen, effective, progress, require=require_plain))
    frame = scene.frame
    first = draw_on_pixelflow(
        frame, parts=args.nodes, config=effective.config, engine=args.engine, progress=progress.tell
    )
    second = draw_on_larrabee(
        frame, parts=args.cores, tile=args.tile, core_mhz=args.core_mhz, config=core, progress=progress.tell
    )
    bezier = None
    if is_patches(args.scene):
        progress.tell("the tessellation on both machines")
        patches = load(args.scene).patches
        bezier = tessellate_on_both(patches, args.samples or 8, config=effective.config, core=core, engine=args.engine)
    dropped = sum(draw.triangles.dropped for draw in frame.draws)
    return Comparison(scene.name, scene.triangles, dropped, draw_frame(frame), (first, second)), bezier


def _report(
    args: argparse.Namespace, screen: Screen, effective: Effective, found: Comparison, bezier: BezierComparison | None
) -> Report:
    height, width = found.expected.depths.shape
    machines = dashboard_parts(found, screen.width, color=screen.color) if args.dash else comparison_parts(found)
    tessellated = bezier_parts(bezier, args.core_mhz) if bezier is not None else ()
    written = [f"wrote {name} {path}" for name, path in (("picture", args.output), ("figure", args.figure)) if path]
    return Report(
        "pixelflow compare",
        (args.scene, f"{width}x{height}", effective.label, f"engine {args.engine}"),
        [*machines, *tessellated, *written],
        schema="pixelflow.compare/1",
        data={
            "scene": args.scene,
            "size": [width, height],
            "config": effective.as_object(),
            "engine": args.engine,
            "tile": args.tile,
            "tessellation": None if bezier is None else bezier_object(bezier, args.core_mhz),
            **comparison_object(found),
        },
        failure=None if found.identical else "a picture differs from the one drawn in 64-bit integers",
    )


def _megahertz(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 <= value <= 100_000:
        raise argparse.ArgumentTypeError(f"expected 1 to 100000 MHz; found {text[:40]!r}")
    return value
