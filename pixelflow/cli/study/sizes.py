"""The study of sizes: triangles of one size drawn by several machines, size by size."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import PurePath

from pixelflow.cli.draw.pictures import check_figure
from pixelflow.cli.shell.arguments import add_engine_option, count
from pixelflow.cli.shell.machine import configuration
from pixelflow.cli.shell.machine_values import add_drawing_options, add_sides_option, told_sides
from pixelflow.cli.shell.output import output_file
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.cli.study.record import Study
from pixelflow.simd.comparison.figure import save_sizes
from pixelflow.simd.comparison.sizes import SIZES, sizes_drawn, sizes_report
from pixelflow.simd.drawing import Frame
from pixelflow.simd.machine import machine_named
from pixelflow.simd.report import Report
from tessellation.scenes import sized

__all__ = ["TRIANGLE_SIZES"]

_COUNT, _SCREEN = 2000, (640, 480)
"""Triangles of each size, equilateral, anywhere on the screen at any angle."""


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=_sizes, default=SIZES, metavar="PIXELS,...",
        help=f"pixels of a triangle (default: {','.join(map(str, SIZES))})")  # fmt: skip
    parser.add_argument("--count", type=count, default=_COUNT, metavar="N",
        help=f"triangles of each size (default: {_COUNT})")  # fmt: skip
    parser.add_argument("--figure", metavar="FILE", help="draw it, .png or .svg (needs matplotlib: extra plot)")
    machines = add_drawing_options(parser, "compare")
    add_sides_option(parser, machines, " and ".join(name for name, each in machines.items() if each.compared))
    add_engine_option(parser)


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(count(each) for each in text.split(","))


def _run(args: argparse.Namespace, screen: Screen) -> Report:
    effective = configuration(args, screen)
    if args.figure:
        check_figure(args.figure)
    words = told_sides(args, screen, effective.config, [n for n, each in args.machines.items() if each.compared])
    drawers = {name: machine_named(name).draw for name in words}
    sides = {args.machines[name].title: partial(drawer, **words[name]) for name, drawer in drawers.items() if drawer}
    with Progress(screen, counts=False) as progress:
        rows = sizes_drawn(sides, partial(_of_size, args.count), progress.tell, args.sizes)
    if args.figure:
        with output_file(args.figure, binary=True) as stream:
            save_sizes(stream, PurePath(args.figure).suffix.lower()[1:], rows)
    return sizes_report(rows, (effective.label,))


def _of_size(triangles: int, pixels: int) -> Frame:
    return Frame(*_SCREEN, (0, 0, 0), (sized(*_SCREEN, count=triangles, pixels=pixels),))


TRIANGLE_SIZES = Study(
    "triangle-sizes",
    "triangles of 1 to 8,000 pixels on several machines, and where these cross (minutes)",
    _run,
    _add_options,
)
