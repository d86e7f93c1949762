"""Draw a picture on the simulated machine: triangles as instructions of the EMCs, region by region.

SCENE is a patch file (.bpt) or a built-in model (teapot, enneper), which the machine tessellates first, or a mesh
(.obj, .ply, .stl, .off, .glb; needs trimesh). The picture is compared with the same triangles drawn in 64-bit integers.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from pixelflow.cli.arguments import UsageError, add_config_options, add_engine_option, count
from pixelflow.cli.machine import config_object, configuration, engine_of
from pixelflow.cli.observing import Watching, add_observer_options
from pixelflow.cli.output import STANDARD_STREAM, check_writable, output_file
from pixelflow.cli.programs import refuse_overwrite
from pixelflow.cli.screen import Column, Screen, counted, number
from pixelflow.errors import ExpectationError

if TYPE_CHECKING:
    from pixelflow.config import Effective
    from pixelflow.drawing import Picture, ScreenTriangles
    from tessellation import Tessellation
    from tessellation.rendering import Rendering

EXAMPLES = (
    "pixelflow render teapot --samples 4 --size 256x192 -o teapot.png",
    "pixelflow render enneper --samples 5 --size 128x96 --flat --nodes 2 -o out.png",
)

_BACKGROUND = (222, 224, 230)
_MOST_PIXELS = 4096
_MOST_NODES = 40


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A picture, and what each node took for its share of it."""

    triangles: ScreenTriangles
    tessellation: Tessellation | None
    nodes: list[Rendering]
    picture: Picture

    @property
    def cycles(self) -> int:
        """Cycles of the node that took longest; nodes draw side by side."""
        return max(node.cycles for node in self.nodes)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add scene, picture and machine."""
    add = parser.add_argument
    add("scene", metavar="SCENE", help="teapot, enneper, a patch file (.bpt) or a mesh (.obj, .ply, ...)")
    add("-o", "--output", metavar="FILE.png", required=True, help="picture to write")
    add("--size", type=_size, default=(640, 480), metavar="WxH", help="pixels (default: 640x480)")
    add("--samples", type=count, metavar="K", help="samples along u and v of a patch, 2 to 16 (default: 8)")
    add("--flat", action="store_true", help="one colour a triangle (default: Gouraud shading)")
    add("--nodes", type=_nodes, default=1, metavar="N",
        help="nodes that share the triangles; their pictures are merged by depth (default: 1)")  # fmt: skip
    add_engine_option(parser)
    add_observer_options(parser, passes=True)
    add_config_options(parser)


def run(args: argparse.Namespace) -> int:
    """Draw, write the picture, report; raises ExpectationError where a pixel differs from the reference."""
    screen = Screen.of(args)
    effective = configuration(args, screen)
    _check_output(args)
    args.engine = engine_of(args, screen)

    from pixelflow.drawing import draw

    with Watching(args, screen, effective, args.scene) as watching:
        drawn = _draw(args, screen, effective, watching)
    width, height = args.size
    expected = draw(drawn.triangles, width, height, _BACKGROUND)
    same = expected.equals(drawn.picture)
    _write(args.output, drawn.picture)
    if screen.json:
        _show_object(screen, args, effective, drawn, same=same)
    elif not screen.quiet:
        _show_report(screen, args, effective, drawn, same=same)
    if not same:
        raise ExpectationError("the picture differs from the one drawn in 64-bit integers")
    return 0


def _check_output(args: argparse.Namespace) -> None:
    from tessellation.preview import require_pillow

    if args.output == STANDARD_STREAM or PurePath(args.output).suffix.lower() != ".png":
        raise UsageError("-o", "the picture is a PNG file", "name a file that ends in .png")
    require_pillow()
    refuse_overwrite(args.scene, args.output)
    check_writable(args.output)


def _draw(args: argparse.Namespace, screen: Screen, effective: Effective, watching: Watching) -> _Drawn:
    from tessellation.camera import View
    from tessellation.rendering import MESH_SUFFIXES, compose, lit_triangles, read_model, render, shares

    width, height = args.size
    view = View(width=width, height=height)
    tessellation = None
    if PurePath(args.scene).suffix.lower() in MESH_SUFFIXES:
        if args.samples is not None:
            raise UsageError("--samples", "a mesh has its triangles already")
        model = read_model(args.scene)
        points, normals, corners = model.points, model.normals, model.corners
    else:
        tessellation = _tessellation(args, screen, effective, watching)
        mesh = tessellation.mesh(weld=True)
        points, normals, corners = mesh.points, mesh.normals, mesh.triangles
    triangles = lit_triangles(points, normals, corners, view, flat=args.flat)
    nodes = [
        render(
            share,
            width,
            height,
            background=_BACKGROUND,
            config=effective.config,
            engine=args.engine,
            progress=screen.note,
            watch=watching.attach,
        )
        for share in shares(triangles, args.nodes)
    ]
    return _Drawn(triangles, tessellation, nodes, compose([node.picture for node in nodes]))


def _tessellation(args: argparse.Namespace, screen: Screen, effective: Effective, watching: Watching) -> Tessellation:
    from tessellation import load, tessellate

    file = load(args.scene)
    for note in file.notes:
        screen.note(f"note: {file.name}: {note}")
    return tessellate(
        file.patches,
        args.samples or 8,
        engine=args.engine,
        config=effective.config,
        progress=screen.note,
        watch=watching.attach,
    )


def _write(path: str, picture: Picture) -> None:
    from PIL import Image

    with output_file(path, binary=True) as stream:
        Image.fromarray(picture.colours, "RGB").save(stream, format="PNG")


def _show_report(screen: Screen, args: argparse.Namespace, effective: Effective, drawn: _Drawn, *, same: bool) -> None:
    from pixelflow.cli.guesses import guesses

    config = effective.config
    width, height = args.size
    screen.paragraph(
        f"pixelflow render · {args.scene} · {width}x{height} · config {effective.preset} ({config.sha256[:6]})"
        f" · engine {args.engine}"
    )
    regions = len(drawn.nodes[0].regions)
    reached = sum(node.drawn for node in drawn.nodes)
    screen.text(
        f"{counted(len(drawn.triangles), 'triangle')} ({'flat' if args.flat else 'Gouraud'}), "
        f"{drawn.triangles.dropped:,} without an area; {reached:,} drawn in {counted(regions, 'region')}"
    )
    screen.text()
    total = sum(node.cycles for node in drawn.nodes)
    stages = _by_stage(drawn)
    rows = [[number(cycles), f"{100 * cycles / total:.1f} %", name] for name, cycles in stages.items()]
    whose = "" if args.nodes == 1 else f" of {args.nodes} nodes together"
    rows.append([number(total), "100.0 %", f"= all{whose}"])
    screen.table([Column("cycles", numbers=True), Column("share", numbers=True), Column("stage")], rows)
    screen.text()
    facts = [
        ("machine time", f"{config.seconds(drawn.cycles) * 1e3:,.4g} ms at {config.clock_mhz} MHz"),
        ("", "" if args.nodes == 1 else f"of the slowest node ({drawn.cycles:,} cycles)"),
        ("per triangle", f"{(total - stages['clear']) / max(1, reached):.1f} cycles in each region that it reaches"),
        ("reference", "every pixel equal" if same else "PIXELS DIFFER"),
        ("not counted", "work of the GPs: camera, light, regions, instructions"),
        ("not counted", "" if args.nodes == 1 else "image composition: the thesis gives no time"),
        ("tessellation", f"{drawn.tessellation.cycles:,} cycles before" if drawn.tessellation else ""),
        ("wrote", args.output),
    ]
    for name, text in facts:
        if text:
            screen.text(f"{name:<20}{text}")
    guesses([each.run for node in drawn.nodes for each in node.regions], config).show(screen)


def _by_stage(drawn: _Drawn) -> dict[str, int]:
    found: dict[str, int] = {}
    for node in drawn.nodes:
        for name, cycles in node.cycles_by_stage.items():
            found[name] = found.get(name, 0) + cycles
    return found


def _show_object(screen: Screen, args: argparse.Namespace, effective: Effective, drawn: _Drawn, *, same: bool) -> None:
    config = effective.config
    screen.object(
        "pixelflow.render/1",
        scene=args.scene,
        size=list(args.size),
        config=config_object(effective),
        engine=args.engine,
        triangles={
            "drawn": len(drawn.triangles),
            "without_area": drawn.triangles.dropped,
            "times_regions": sum(node.drawn for node in drawn.nodes),
        },
        nodes=[
            {
                "cycles": node.cycles,
                "stages": node.cycles_by_stage,
                "regions": [
                    {"left": each.left, "top": each.top, "triangles": each.triangles, "cycles": each.run.cycles}
                    for each in node.regions
                ],
            }
            for node in drawn.nodes
        ],
        cycles=drawn.cycles,
        seconds_at_clock=config.seconds(drawn.cycles),
        composition_cycles=None,
        tessellation_cycles=drawn.tessellation.cycles if drawn.tessellation else None,
        equals_reference=same,
    )


def _nodes(text: str) -> int:
    if (value := count(text)) > _MOST_NODES:
        raise argparse.ArgumentTypeError(f"expected 1 to {_MOST_NODES} nodes, as a machine has; found {text[:40]!r}")
    return value


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    numbers = [int(word) if word.isascii() and word.isdigit() and len(word) < 6 else 0 for word in (width, height)]
    if not all(1 <= each <= _MOST_PIXELS for each in numbers):
        raise argparse.ArgumentTypeError(f"expected WxH, 1 to {_MOST_PIXELS} each (640x480); found {text[:40]!r}")
    return numbers[0], numbers[1]
