"""Execute a study: what the thesis's pass and others take where something that nobody printed is another.

sensitivity moves every guess of the machine, one at a time: each value that is fitted or invented, each ability of the
ALU, each start-up. schedules puts the schedules beside each other, library by library, with results and without.
supply lets the instructions' words come at a rate; these are executed at that moment, timing only. labour is the
division of labour between EMCs and GPs, executed in full. triangle-sizes draws triangles of one size on several
machines, size by size.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import PurePath
from pkgutil import resolve_name

from pixelflow.cli.draw.pictures import check_figure
from pixelflow.cli.shell.arguments import (
    UsageError,
    add_common_options,
    add_config_options,
    add_engine_option,
    count,
    parsed,
)
from pixelflow.cli.shell.engines import engine_of
from pixelflow.cli.shell.machine import configuration
from pixelflow.cli.shell.machine_values import (
    PIXELFLOW,
    add_drawing_options,
    examples_for,
    refuse_options_of_others,
    told,
)
from pixelflow.cli.shell.output import output_file
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.config import load_config
from pixelflow.simd.commands import whole_number
from pixelflow.simd.comparison.figure import save_sizes
from pixelflow.simd.comparison.sizes import SIZES, sizes_drawn, sizes_report
from pixelflow.simd.drawing import Frame
from pixelflow.simd.machine import commands_of_machines, machine_named
from pixelflow.simd.report import Report, number
from tessellation.picture import SAMPLES, SIZE, View
from tessellation.plan.mapping import MAX_SAMPLES, MIN_SAMPLES
from tessellation.rendering.labour import labour_report
from tessellation.rendering.renderer import region_programs
from tessellation.scenes import SceneSource, load_scene, sized
from tessellation.studies.schedules import schedules_report
from tessellation.studies.sensitivity import sensitivity_report
from tessellation.studies.supply import RATES, supply_report
from tessellation.studies.workloads import INPUTS, Workload

EXAMPLES = (
    "pixelflow study supply --rates 400",
    "pixelflow study schedules --inputs full --json",
    "pixelflow study labour --samples 16 --gps 2",
    "pixelflow study triangle-sizes --sizes 1,1000 --count 20 --cores 2",
    *examples_for("study", PIXELFLOW),
)

_SIZES = "triangle-sizes"
_COUNT, _SCREEN = 2000, (640, 480)
"""Triangles of each size, equilateral, anywhere on the screen at any angle."""
_HELP = {
    "sensitivity": "move every guess, and say what it changes, the largest first (about 20 s)",
    "schedules": "schedule x library x results x input, and the gain by its causes (one to two minutes)",
    "supply": "passes and a picture where instruction words come at a rate",
    "labour": "points, projected points or instruction words from the EMCs, side by side (about 20 s)",
    _SIZES: "triangles of 1 to 8,000 pixels on both machines, and where these cross (about two minutes)",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the studies."""
    of_machines = {name: each.studies for name, each in commands_of_machines(PIXELFLOW).items()}
    studies = parser.add_subparsers(dest="study", required=True, metavar="|".join(_HELP))
    for name, text in _HELP.items():
        each = studies.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
        if name == "supply":
            each.add_argument("--rates", type=_rates, default=RATES, metavar="MB/S,...",
                help=f"rates of the path to each IGC (default: {','.join(map(str, RATES))})")  # fmt: skip
        if name == "schedules":
            each.add_argument("--inputs", nargs="+", choices=INPUTS, default=list(INPUTS), metavar="INPUT",
                help=f"which of {', '.join(INPUTS)} (default: all)")  # fmt: skip
        if name == "labour":
            bounds = f"{MIN_SAMPLES} to {MAX_SAMPLES}"
            each.add_argument("--samples", type=_samples, default=SAMPLES, metavar="K",
                help=f"samples of the teapot's patches along u and v, {bounds} (default: {SAMPLES})")  # fmt: skip
            each.add_argument("--gps", type=count, default=1, metavar="N",
                help="GPs of the node that take what the EMCs send (default: 1)")  # fmt: skip
        if name == _SIZES:
            _add_sizes(each)
        others = {machine: places[name] for machine, places in of_machines.items() if name in places}
        each.set_defaults(others=others, machine=PIXELFLOW)
        if others:
            each.add_argument("--machine", choices=(PIXELFLOW, *others), default=PIXELFLOW,
                help=f"of which machine (default: {PIXELFLOW})")  # fmt: skip
        add_config_options(each)
        add_common_options(each)


def _add_sizes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", type=_sizes, default=SIZES, metavar="PIXELS,...",
        help=f"pixels of a triangle (default: {','.join(map(str, SIZES))})")  # fmt: skip
    parser.add_argument("--count", type=count, default=_COUNT, metavar="N",
        help=f"triangles of each size (default: {_COUNT})")  # fmt: skip
    parser.add_argument("--figure", metavar="FILE", help="draw it, .png or .svg (needs matplotlib: extra plot)")
    add_drawing_options(parser, "compare")
    add_engine_option(parser)


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(count(each) for each in text.split(","))


def _rates(text: str) -> tuple[int, ...]:
    return tuple(count(each) for each in text.split(","))


def _samples(text: str) -> int:
    wanted = f"{MIN_SAMPLES} to {MAX_SAMPLES} samples"
    return parsed(partial(whole_number, least=MIN_SAMPLES, most=MAX_SAMPLES, wanted=wanted), text)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Execute the study."""
    if args.machine in args.others:
        return _of_another(args, screen)
    if args.study == _SIZES:
        return _triangle_sizes(args, screen)
    config = load_config(args.config, args.overrides, args.preset)
    if config.lanes != 8192:
        raise UsageError(
            "study", f"passes and pictures of a study need 8,192 PEs, this machine has {number(config.lanes)}"
        )
    if args.study == "supply" and config.igc.supply:
        raise UsageError(
            "study supply", f"igc.supply is {config.igc.supply}, and the rates of this study take its place",
            f"name the rate as one of its own: --rates {config.igc.supply}",
        )  # fmt: skip
    if args.study == "labour" and args.gps > config.gni.gp_count:
        raise UsageError(f"--gps {args.gps}", f"this node has {config.gni.gp_count} (gni.gp_count)")
    with Progress(screen, counts=False) as progress:
        if args.study == "sensitivity":
            return sensitivity_report(config, picture("the teapot in one region", (128, 64)), progress.tell)
        if args.study == "schedules":
            return schedules_report(config, args.inputs, progress.tell)
        if args.study == "labour":
            width, height = SIZE
            return labour_report(config, args.samples, args.gps, View(width=width, height=height), progress.tell)
        return supply_report(config, args.rates, picture("the teapot in all its regions"), progress.tell)


def _triangle_sizes(args: argparse.Namespace, screen: Screen) -> Report:
    effective = configuration(args, screen)
    machines = [name for name, drawing in args.machines.items() if drawing.compared]
    refuse_options_of_others(args, machines)
    if args.figure:
        check_figure(args.figure)
    args.engine = engine_of(args, screen)
    words = {name: dict(told(args, name)) for name in machines}
    words[PIXELFLOW] |= {"config": effective.config, "engine": args.engine}
    drawers = {name: machine_named(name).draw for name in machines}
    sides = {args.machines[name].title: partial(drawer, **words[name]) for name, drawer in drawers.items() if drawer}
    with Progress(screen, counts=False) as progress:
        rows = sizes_drawn(sides, partial(_of_size, args.count), progress.tell, args.sizes)
    if args.figure:
        with output_file(args.figure, binary=True) as stream:
            save_sizes(stream, PurePath(args.figure).suffix.lower()[1:], rows)
    return sizes_report(rows, (effective.label,))


def _of_size(triangles: int, pixels: int) -> Frame:
    return Frame(*_SCREEN, (0, 0, 0), (sized(*_SCREEN, count=triangles, pixels=pixels),))


def _of_another(args: argparse.Namespace, screen: Screen) -> Report:
    if args.config or args.overrides or args.preset:
        raise UsageError(f"study {args.study}", f"values of a node change nothing on {args.machine}", "leave them out")
    with Progress(screen, counts=False) as progress:
        report: Report = resolve_name(args.others[args.machine])(progress.tell)
    return report


def picture(name: str, size: tuple[int, int] | None = None) -> Workload:
    """Return the programs with which a node draws the teapot; its tessellation is no part of them."""
    return Workload(name, region_programs(load_scene("teapot", SceneSource(size=size)).frame))
