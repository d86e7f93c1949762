"""Execute a study: what the thesis's pass and others take where something that nobody printed is another.

sensitivity moves every guess of the machine, one at a time: each value that is fitted or invented, each ability of the
ALU, each start-up. schedules puts the schedules beside each other, library by library, with results and without.
supply lets the instructions' words come at a rate. caching keeps results in texture memory, after the passes and
beside them; all these are executed at that moment, timing only. labour is the
division of labour between EMCs and GPs, executed in full. triangle-sizes draws triangles of one size on several
machines, size by size; machines draws scenes of several kinds on every machine that draws them. sampling puts patches
sampled by view beside all sampled alike, executed with data; turning draws the frames of a moving camera from
instruction words that the EMCs make, in both ways, beside other machines.
"""

from __future__ import annotations

import argparse
from pkgutil import resolve_name

from pixelflow.cli.shell.arguments import UsageError, add_common_options, add_config_options
from pixelflow.cli.shell.machine_values import PIXELFLOW, examples_for
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.cli.study.labour import LABOUR
from pixelflow.cli.study.machines import MACHINES
from pixelflow.cli.study.passes import CACHING, SCHEDULES, SENSITIVITY, SUPPLY
from pixelflow.cli.study.sampling import SAMPLING
from pixelflow.cli.study.sizes import TRIANGLE_SIZES
from pixelflow.cli.study.turning import TURNING
from pixelflow.simd.machine import commands_of_machines
from pixelflow.simd.report import Report

EXAMPLES = (
    "pixelflow study supply --rates 400",
    "pixelflow study schedules --inputs full --json",
    "pixelflow study labour --samples 16 --gps 2",
    "pixelflow study turning --frames 0,40 --size 64x48 --cores 2",
    "pixelflow study triangle-sizes --sizes 1,1000 --count 20 --cores 2",
    "pixelflow study machines --scenes layers --size 32x24 --machine gen6",
    *examples_for("study", PIXELFLOW),
)

_STUDIES = {
    each.name: each
    for each in (SENSITIVITY, SCHEDULES, SUPPLY, CACHING, SAMPLING, LABOUR, TURNING, TRIANGLE_SIZES, MACHINES)
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the studies."""
    of_machines = {name: each.studies for name, each in commands_of_machines(PIXELFLOW).items()}
    studies = parser.add_subparsers(dest="study", required=True, metavar="|".join(_STUDIES))
    for name, study in _STUDIES.items():
        each = studies.add_parser(name, help=study.help, description=study.help[0].upper() + study.help[1:] + ".")
        study.add_options(each)
        others = {machine: places[name] for machine, places in of_machines.items() if name in places}
        each.set_defaults(others=others, machine=PIXELFLOW)
        if others:
            each.add_argument("--machine", choices=(PIXELFLOW, *others), default=PIXELFLOW,
                help=f"of which machine (default: {PIXELFLOW})")  # fmt: skip
        add_config_options(each)
        add_common_options(each)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Execute the study."""
    return _of_another(args, screen) if args.machine in args.others else _STUDIES[args.study].run(args, screen)


def _of_another(args: argparse.Namespace, screen: Screen) -> Report:
    if args.config or args.overrides or args.preset:
        raise UsageError(f"study {args.study}", f"values of a node change nothing on {args.machine}", "leave them out")
    with Progress(screen, counts=False) as progress:
        report: Report = resolve_name(args.others[args.machine])(progress.tell)
    return report
