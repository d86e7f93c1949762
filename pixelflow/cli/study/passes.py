"""Studies of passes and pictures, timing only: guesses moved, schedules side by side, words at a rate, kept results."""

from __future__ import annotations

import argparse

from pixelflow.cli.shell.arguments import UsageError, count
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.cli.study.record import Study, node_of
from pixelflow.simd.report import Report
from tessellation.microprogram.method import SCHEDULES as _ORDERS
from tessellation.rendering.renderer import region_programs
from tessellation.scenes import SceneSource, load_scene
from tessellation.studies.caching import caching_report
from tessellation.studies.schedules import schedules_report
from tessellation.studies.sensitivity import sensitivity_report
from tessellation.studies.supply import RATES, supply_report
from tessellation.studies.workloads import INPUTS, Workload

__all__ = ["CACHING", "SCHEDULES", "SENSITIVITY", "SUPPLY", "picture"]


def picture(name: str, size: tuple[int, int] | None = None) -> Workload:
    """Return the programs with which a node draws the teapot; its tessellation is no part of them."""
    return Workload(name, region_programs(load_scene("teapot", SceneSource(size=size)).frame))


def _sensitivity(args: argparse.Namespace, screen: Screen) -> Report:
    config = node_of(args)
    with Progress(screen, counts=False) as progress:
        return sensitivity_report(config, picture("the teapot in one region", (128, 64)), progress.tell)


def _add_schedules(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--inputs", nargs="+", choices=INPUTS, default=list(INPUTS), metavar="INPUT",
        help=f"which of {', '.join(INPUTS)} (default: all)")  # fmt: skip


def _schedules(args: argparse.Namespace, screen: Screen) -> Report:
    config = node_of(args)
    with Progress(screen, counts=False) as progress:
        return schedules_report(config, args.inputs, progress.tell)


def _add_supply(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rates", type=_rates, default=RATES, metavar="MB/S,...",
        help=f"rates of the path to each IGC (default: {','.join(map(str, RATES))})")  # fmt: skip


def _rates(text: str) -> tuple[int, ...]:
    return tuple(count(each) for each in text.split(","))


def _supply(args: argparse.Namespace, screen: Screen) -> Report:
    config = node_of(args)
    if config.igc.supply:
        raise UsageError(
            "study supply", f"igc.supply is {config.igc.supply}, and the rates of this study take its place",
            f"name the rate as one of its own: --rates {config.igc.supply}",
        )  # fmt: skip
    with Progress(screen, counts=False) as progress:
        return supply_report(config, args.rates, picture("the teapot in all its regions"), progress.tell)


def _add_caching(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--schedules", nargs="+", choices=_ORDERS, default=list(_ORDERS), metavar="SCHEDULE",
        help=f"which of {', '.join(_ORDERS)} (default: all)")  # fmt: skip


def _caching(args: argparse.Namespace, screen: Screen) -> Report:
    config = node_of(args)
    with Progress(screen, counts=False) as progress:
        return caching_report(config, args.schedules, progress.tell)


SENSITIVITY = Study(
    "sensitivity", "move every guess, and say what it changes, the largest first (about 20 s)", _sensitivity
)
SCHEDULES = Study(
    "schedules",
    "schedule x library x results x input, and the gain by its causes (one to two minutes)",
    _schedules,
    _add_schedules,
)
SUPPLY = Study("supply", "passes and a picture where instruction words come at a rate", _supply, _add_supply)
CACHING = Study(
    "caching",
    "results kept in texture memory after their pass and beside the next, by way and schedule (about a minute)",
    _caching,
    _add_caching,
)
