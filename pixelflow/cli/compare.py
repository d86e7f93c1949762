"""Draw the same scene on several machines, and put what it took side by side.

SCENE is a scene file (.toml), a mesh, patches (.bpt), which a PixelFlow node tessellates first, or the name of one that
ships here (listed below). Patches that are named themselves are also tessellated by machines that can. Every pixel is
compared with the one that 64-bit integers draw. --explain says where the cycles went, on which sources each figure
rests, and what is left out; JSON and pages have all of it. A machine that refuses the scene is left out with its
reason.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pkgutil import resolve_name

from pixelflow.cli.arguments import add_config_options, add_engine_option
from pixelflow.cli.camera_options import picture_sizes
from pixelflow.cli.machine_values import (
    ALL,
    add_drawing_options,
    add_sides_option,
    chosen_options,
    configuration,
    examples_for,
    sides_of,
    ways_by_size,
)
from pixelflow.cli.picture_files import check_picture, write_picture
from pixelflow.cli.scene_options import add_scene_options, scene_source
from pixelflow.cli.screen import Progress, Screen, refuse_clashes
from pixelflow.config import NodeConfig
from pixelflow.simd.commands import MachineDrawing, Told
from pixelflow.simd.comparison import EXPLAINED, Beside, comparison_object, comparison_parts, comparison_topics
from pixelflow.simd.comparison.comparison import pictures_of, timelines_of
from pixelflow.simd.comparison.grid import WRONG, GridPoint, grid_curves, grid_object, grid_parts
from pixelflow.simd.comparison.triangle_sizes import by_triangle_size
from pixelflow.simd.configuration import Effective
from pixelflow.simd.drawing import Comparison
from pixelflow.simd.errors import UsageError
from pixelflow.simd.report import Report, counted, listed
from tessellation.scenes import load_scene

EXAMPLES = (
    "pixelflow compare enneper --samples 4 --size 96x64",
    "pixelflow compare enneper --samples 2 --machine all --sizes 32x24,64x48",
    *examples_for("compare"),
)

_BY_SIZE, _SIZES = "by_triangle_size", "sizes"
"""The triangles by their size, in JSON and as a topic."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add scene, machines and outputs."""
    add = parser.add_argument
    add_scene_options(parser)
    machines = add_drawing_options(parser, "compare")
    compared = " and ".join(name for name, drawing in machines.items() if drawing.compared)
    add_sides_option(parser, machines, compared)
    add("--sizes", type=picture_sizes, metavar="WxH,...", help="draw in several sizes, which become one table")
    add("-o", "--output", metavar="FILE.png", help="write the picture")
    topics = (*EXPLAINED, *_topics(machines).values(), ALL)
    add("--explain", action="append", default=[], choices=topics, metavar="TOPIC",
        help=f"explain the figures too: {listed(topics, 'or')} (repeatable)")  # fmt: skip
    add_engine_option(parser)
    add_config_options(parser)


def _topics(machines: Mapping[str, MachineDrawing]) -> dict[str, str]:
    """Return the topics that take more drawing, by their names in JSON."""
    named = {key: each.topics.get(key, key) for each in machines.values() for key in each.beside}
    return {_BY_SIZE: _SIZES, **dict(sorted(named.items(), key=lambda item: item[1]))}


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Draw on all, report; fails where a pixel differs."""
    effective = configuration(args)
    words = chosen_options(args, screen, effective.config, [n for n, each in args.machines.items() if each.compared])
    _check_outputs(args)
    with Progress(screen, counts=False) as progress:
        if args.sizes:
            return _in_sizes(args, screen, effective, words, progress)
        found, besides = _compare(args, screen, effective, words, progress)
    if args.output:
        write_picture(args.output, found.sides[0].picture)
    return _report(args, screen, effective, words, found, besides)


def _check_outputs(args: argparse.Namespace) -> None:
    if args.sizes:
        for option, given in (("--size", args.size), ("-o", args.output), ("--explain", args.explain)):
            if given:
                raise UsageError(option, "there are several pictures with --sizes", "leave one of the two out")
    if args.output:
        refuse_clashes([("-o", args.output)], [("SCENE", args.scene)])
        check_picture(args.scene, args.output)


def _compare(
    args: argparse.Namespace,
    screen: Screen,
    effective: Effective[NodeConfig],
    words: Mapping[str, Told],
    progress: Progress,
) -> tuple[Comparison, dict[str, Beside | None]]:
    """Return the pictures of all machines, and the topics that need further drawing, by their names in JSON.

    A text has the requested topics; JSON and pages have all.
    """
    machines = sides_of(args, words, effective.config, progress.tell)
    source = scene_source(args, screen, effective, progress, require=machines.require)
    scene = load_scene(args.scene, source)
    found = machines.compared(scene.name, scene.frame)
    here = machines.drawing
    places = {key: place for name in here for key, place in args.machines[name].beside.items()}
    told_here = {name: words[name] for name in here}
    every = screen.format != "text" or bool(screen.html) or ALL in args.explain
    wanted = {key for key, topic in _topics(args.machines).items() if every or topic in args.explain}
    besides: dict[str, Beside | None] = {}
    if _BY_SIZE in wanted:
        ways = ways_by_size(args, told_here, progress.tell)
        besides[_BY_SIZE] = by_triangle_size(scene.frame, ways)
    for key, place in places.items():
        if key in wanted:
            besides[key] = resolve_name(place)(args.scene, source, told_here, scene.frame, list(found.sides))
    return found, besides


def _in_sizes(
    args: argparse.Namespace,
    screen: Screen,
    effective: Effective[NodeConfig],
    words: Mapping[str, Told],
    progress: Progress,
) -> Report:
    """Draw the scene in every size, each for itself, and report all as one table."""
    points = []
    for size in args.sizes:
        args.size = size
        machines = sides_of(args, words, effective.config, progress.tell)
        scene = load_scene(args.scene, scene_source(args, screen, effective, progress, require=machines.require))
        points.append(GridPoint("{}x{}".format(*size), machines.compared(scene.name, scene.frame)))
    return Report(
        "pixelflow compare",
        (args.scene, effective.label, f"engine {args.engine}"),
        list(grid_parts(points, "size")),
        schema="pixelflow.compare-sizes/1",
        data={
            "scene": args.scene,
            "config": effective.as_object(),
            "engine": args.engine,
            "sizes": grid_object(points, "size"),
        },
        figures=list(grid_curves(points)),
        failure=None if not any(each.found.wrong for each in points) else WRONG,
    )


def _report(
    args: argparse.Namespace,
    screen: Screen,
    effective: Effective[NodeConfig],
    words: Mapping[str, Told],
    found: Comparison,
    besides: Mapping[str, Beside | None],
) -> Report:
    height, width = found.expected.depths.shape
    names = _topics(args.machines)
    topics = tuple(comparison_topics(found, {names[key]: each for key, each in besides.items()}))
    asked = [each.name for each in topics] if ALL in args.explain else args.explain
    missing = [f"there is nothing about {name} of this scene" for name in asked if name not in {t.name for t in topics}]
    options = [(name, option) for name in words for option in args.machines[name].options if option.key]
    return Report(
        "pixelflow compare",
        (args.scene, f"{width}x{height}", counted(found.triangles, "triangle"), effective.label),
        [*comparison_parts(found), *missing, *(["", f"wrote picture {args.output}"] if args.output else [])],
        schema="pixelflow.compare/1",
        data={
            "scene": args.scene,
            "size": [width, height],
            "config": effective.as_object(),
            "engine": args.engine,
            **{option.key: words[name][option.keyword] for name, option in options},
            **{key: None if each is None else each.data for key, each in besides.items()},
            **comparison_object(found),
        },
        figures=[*pictures_of(found), *timelines_of(found)],
        topics=topics,
        asked=asked,
        failure=None if not found.wrong else WRONG,
    )
