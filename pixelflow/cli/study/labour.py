"""The study of the division of labour between EMCs and GPs (thesis 3.1.2), executed in full."""

from __future__ import annotations

import argparse
from functools import partial

from pixelflow.cli.shell.arguments import UsageError, count, parsed
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.cli.study.record import Study, node_of
from pixelflow.simd.commands import whole_number
from pixelflow.simd.report import Report
from tessellation.picture import SAMPLES, SIZE, View
from tessellation.plan.mapping import MAX_SAMPLES, MIN_SAMPLES
from tessellation.rendering.labour import labour_report

__all__ = ["LABOUR"]


def _add_options(parser: argparse.ArgumentParser) -> None:
    bounds = f"{MIN_SAMPLES} to {MAX_SAMPLES}"
    parser.add_argument("--samples", type=_samples, default=SAMPLES, metavar="K",
        help=f"samples of the teapot's patches along u and v, {bounds} (default: {SAMPLES})")  # fmt: skip
    parser.add_argument("--gps", type=count, default=1, metavar="N",
        help="GPs of the node that take what the EMCs send (default: 1)")  # fmt: skip


def _samples(text: str) -> int:
    wanted = f"{MIN_SAMPLES} to {MAX_SAMPLES} samples"
    return parsed(partial(whole_number, least=MIN_SAMPLES, most=MAX_SAMPLES, wanted=wanted), text)


def _run(args: argparse.Namespace, screen: Screen) -> Report:
    config = node_of(args)
    if args.gps > config.gni.gp_count:
        raise UsageError(f"--gps {args.gps}", f"this node has {config.gni.gp_count} (gni.gp_count)")
    width, height = SIZE
    with Progress(screen, counts=False) as progress:
        return labour_report(config, args.samples, args.gps, View(width=width, height=height), progress.tell)


LABOUR = Study(
    "labour",
    "points, projected points or instruction words from the EMCs, side by side (about 20 s)",
    _run,
    _add_options,
)
