"""Draw the same scene on PixelFlow and on Larrabee, and put what it took side by side.

SCENE is a scene file (.toml), a scene that ships here (still, tea, herd, fleet, works, anthill, tray, swarm, meadow), a
mesh, or patches (teapot, enneper, .bpt), which a PixelFlow node tessellates first. Patches that are named themselves
are also tessellated on both machines. Every pixel is compared with the one that 64-bit integers draw.
"""

from __future__ import annotations

import argparse
from pathlib import PurePath
from typing import TYPE_CHECKING

from pixelflow.cli.arguments import UsageError, add_config_options, add_engine_option, count
from pixelflow.cli.core_values import add_core_option, core_of
from pixelflow.cli.machine import config_object, configuration, engine_of
from pixelflow.cli.output import check_writable, refuse_clashes
from pixelflow.cli.pictures import check_picture, nodes_of, write_picture
from pixelflow.cli.progress import Progress
from pixelflow.cli.scene_options import add_scene_options, is_patches, scene_source
from pixelflow.cli.screen import Screen
from pixelflow.simd.errors import ExpectationError

if TYPE_CHECKING:
    from larrabee_bridge.compare import BezierComparison, Comparison
    from pixelflow.config import Effective

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
    add_core_option(parser)
    add_engine_option(parser)
    add_config_options(parser)


def run(args: argparse.Namespace) -> int:
    """Draw on both, report; raises ExpectationError where a pixel differs."""
    screen = Screen.of(args)
    effective = configuration(args, screen)
    _check_outputs(args)
    args.engine = engine_of(args, screen)
    with Progress(screen, counts=False) as progress:
        found, bezier = _compare(args, screen, effective, progress)
    if args.output:
        write_picture(args.output, found.sides[0].picture)
    if args.figure:
        from pixelflow.cli.compare_figure import write_figure

        write_figure(args.figure, found, bezier, args.core_mhz)
    _show(args, screen, effective, found, bezier)
    if not found.identical:
        raise ExpectationError("a picture differs from the one drawn in 64-bit integers")
    return 0


def _check_outputs(args: argparse.Namespace) -> None:
    if args.cores > 64:
        raise UsageError("--cores", f"1 to 64, not {args.cores}")
    outputs = [(option, path) for option, path in (("-o", args.output), ("--figure", args.figure)) if path]
    refuse_clashes(outputs, [("SCENE", args.scene)])
    if args.output:
        check_picture(args.scene, args.output)
    if args.figure:
        from pixelflow.cli.verify_figure import check_drawing

        if PurePath(args.figure).suffix.lower() not in _FIGURES:
            raise UsageError("--figure", "the figure is a .png or a .svg file")
        check_drawing()
        check_writable(args.figure)


def _compare(
    args: argparse.Namespace, screen: Screen, effective: Effective, progress: Progress
) -> tuple[Comparison, BezierComparison | None]:
    from larrabee_bridge.compare import Comparison, draw_on_larrabee, draw_on_pixelflow, tessellate_on_both
    from pixelflow.simd.drawing import draw_frame
    from tessellation import load
    from tessellation.rendering import require_region
    from tessellation.scenes import load_scene

    core = core_of(args)
    require_region(effective.config)
    scene = load_scene(args.scene, scene_source(args, screen, effective, progress, plain=True))
    frame = scene.frame
    first = draw_on_pixelflow(
        frame, nodes=args.nodes, config=effective.config, engine=args.engine, progress=progress.tell
    )
    second = draw_on_larrabee(
        frame, cores=args.cores, tile=args.tile, core_mhz=args.core_mhz, config=core, progress=progress.tell
    )
    bezier = None
    if is_patches(args.scene):
        progress.tell("the tessellation on both machines")
        patches = load(args.scene).patches
        bezier = tessellate_on_both(patches, args.samples or 8, config=effective.config, core=core, engine=args.engine)
    dropped = sum(draw.triangles.dropped for draw in frame.draws)
    return Comparison(scene.name, scene.triangles, dropped, draw_frame(frame), (first, second)), bezier


def _show(
    args: argparse.Namespace,
    screen: Screen,
    effective: Effective,
    found: Comparison,
    bezier: BezierComparison | None,
) -> None:
    from pixelflow.cli import compare_report

    frame = found.expected.depths.shape
    if screen.json:
        screen.object(
            "pixelflow.compare/1",
            scene=args.scene,
            size=[frame[1], frame[0]],
            config=config_object(effective),
            engine=args.engine,
            tile=args.tile,
            tessellation=None if bezier is None else compare_report.bezier_object(bezier, args.core_mhz),
            **compare_report.comparison_object(found),
        )
        return
    if screen.quiet:
        return
    screen.paragraph(
        f"pixelflow compare · {args.scene} · {frame[1]}x{frame[0]} · config {effective.preset} "
        f"({effective.config.sha256[:6]}) · engine {args.engine}"
    )
    if args.dash:
        from pixelflow.cli.compare_dash import show_dashboard

        show_dashboard(screen, found)
    else:
        compare_report.show_comparison(screen, found)
    if bezier is not None:
        compare_report.show_bezier(screen, bezier, args.core_mhz)
    for name, path in (("picture", args.output), ("figure", args.figure)):
        if path:
            screen.text(f"wrote {name} {path}")


def _megahertz(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 <= value <= 100_000:
        raise argparse.ArgumentTypeError(f"expected 1 to 100000 MHz; found {text[:40]!r}")
    return value
