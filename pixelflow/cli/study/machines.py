"""The study of machines: several scenes, each drawn by every machine that draws it, as one table."""

from __future__ import annotations

import argparse
from pathlib import PurePath

from pixelflow.cli.draw.pictures import check_figure
from pixelflow.cli.shell.arguments import add_engine_option
from pixelflow.cli.shell.machine import configuration
from pixelflow.cli.shell.machine_values import add_drawing_options, add_sides_option, sides_of, told_sides
from pixelflow.cli.shell.output import output_file
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.cli.study.record import Study
from pixelflow.cli.view.size import picture_size
from pixelflow.simd.comparison.figure import save_grid
from pixelflow.simd.comparison.grid import WRONG, GridPoint, grid_object, grid_parts
from pixelflow.simd.report import Report
from tessellation.scenes import QUESTIONS, SceneSource, load_scene

__all__ = ["MACHINES"]

_SIZE = (160, 120)
_SCENES = (*QUESTIONS, "still", "glass")
"""One scene for each question that a picture puts to a machine, and the two that ship with all of it at once."""


def _add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--scenes", type=_scenes, default=_SCENES, metavar="SCENE,...", help=f"(default: {','.join(_SCENES)})")
    add("--size", type=picture_size, default=_SIZE, metavar="WxH", help="pixels of each ({}x{})".format(*_SIZE))
    add("--figure", metavar="FILE", help="draw it, .png or .svg (needs matplotlib: extra plot)")
    add_sides_option(parser, add_drawing_options(parser, "compare"), "all")
    add_engine_option(parser)


def _scenes(text: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(each for each in text.split(",") if each))
    if not found:
        raise argparse.ArgumentTypeError("expected scenes with commas between them")
    return found


def _run(args: argparse.Namespace, screen: Screen) -> Report:
    effective = configuration(args, screen)
    if args.figure:
        check_figure(args.figure)
    words = told_sides(args, screen, effective.config, list(args.machines))
    points = []
    with Progress(screen, counts=False) as progress:
        for name in args.scenes:
            machines = sides_of(args, words, effective.config, progress.tell)
            source = SceneSource(
                size=args.size,
                config=effective.config,
                engine=args.engine,
                progress=progress.tell,
                note=screen.note,
                require=machines.require,
            )
            points.append(GridPoint(name, machines.compared(name, load_scene(name, source).frame)))
    size = "{}x{}".format(*args.size)
    if args.figure:
        with output_file(args.figure, binary=True) as stream:
            save_grid(stream, PurePath(args.figure).suffix.lower()[1:], points, f"scenes of {size}", lines=False)
    return Report(
        "scenes by machines",
        (size, effective.label),
        results=list(grid_parts(points, "scene")),
        schema="pixelflow.study.machines/1",
        data={"size": list(args.size), "config": effective.as_object(), "scenes": grid_object(points, "name")},
        failure=WRONG if any(each.found.wrong for each in points) else None,
    )


MACHINES = Study("machines", "scenes of several kinds on every machine that draws them (minutes)", _run, _add_options)
