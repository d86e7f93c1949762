"""Options that say how passes are carried out, for `pixelflow tessellate` and `serve`, and which go together."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pixelflow.cli.shell.arguments import UsageError
from tessellation import Method, Patch
from tessellation.microprogram.passes import (
    CACHING_WAYS,
    CONTROL_POINTS,
    GP_WAYS,
    KEPT,
    RESULT_WAYS,
    SCHEDULES,
    TRANSFERS,
    schedule_named,
)
from tessellation.microprogram.texture_source import SENDS
from tessellation.plan.precision import MANTISSAS
from tessellation.plan.texture_layout import REPLICATIONS
from tessellation.surface.trims.polygon import DEFAULT_TOLERANCE, TOLERANCES

__all__ = ["add_method_options", "add_result_options", "check_trims", "method_of"]


def add_method_options(parser: argparse.ArgumentParser) -> None:
    """Add the way of the control points, the schedule, and the precision."""
    add = parser.add_argument
    add("--control-points", choices=CONTROL_POINTS, default=CONTROL_POINTS[0],
        help="how control points reach the PEs (default: from texture memory)")  # fmt: skip
    add("--schedule", type=schedule_named, choices=SCHEDULES, default=SCHEDULES[0],
        help="order of work: the thesis's (default), with columns shared by PEs, or that and sums in fixed point, in "
        "the fewest cycles")  # fmt: skip
    add("--sends", type=int, choices=SENDS, default=None, metavar="S",
        help="sends per block and transfer of the thesis's schedule: 16, 8, 4 (default), 2 or 1")  # fmt: skip
    add("--transfers", choices=TRANSFERS, default=None,
        help="control points come beside the computation on those before (default), or apart from it")  # fmt: skip
    add("--mantissa-bytes", type=int, choices=MANTISSAS, default=3, metavar="N",
        help="mantissa of all arithmetic: 3 (binary32, default) to 6; results are rounded to binary32")  # fmt: skip
    add("--hybrid", action="store_true", help="with longer mantissas: keep the control points binary32")
    add("--replication", type=int, choices=REPLICATIONS, default=None, metavar="N",
        help="modules that hold each patch: 1 (default), 2 or 4")  # fmt: skip
    add("--load", choices=GP_WAYS, default=None,
        help="how the database gets into texture memory: at once (default), or loaded from GP memory")  # fmt: skip
    add("--trim-tolerance", type=_trim_tolerance, default=None, metavar="SHARE",
        help="how far triangles of trimmed patches may be from trim curves, as a share of a patch's extent: "
        f"{TOLERANCES[0]} to {TOLERANCES[1]} (default: {DEFAULT_TOLERANCE})")  # fmt: skip


def _trim_tolerance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    low, high = TOLERANCES
    if not low <= value <= high:
        raise argparse.ArgumentTypeError(f"expected a share from {low} to {high}; found {text[:40]!r}")
    return value


def add_result_options(parser: argparse.ArgumentParser) -> None:
    """Add the way of the results; without these options ``set_defaults`` must say it."""
    add = parser.add_argument
    add("--results", choices=RESULT_WAYS, default=RESULT_WAYS[0],
        help="way of the results: read at once (default); to GP memory after a pass (gp); points during a pass and "
        "normals after it (gp-fine); all during the next pass (gp-coarse); points during a pass and normals during "
        "the next (gp-both)")  # fmt: skip
    add("--gps", type=int, choices=range(1, 9), default=None, metavar="N",
        help="GPs that take results (default: 1 for the schedule of the thesis, else all of the node)")  # fmt: skip
    add("--cache", choices=CACHING_WAYS, default=None,
        help="keep the results of each pass in texture memory, and read them back at the end (appendix B): an address "
        "for each word, a base for three PEs, that with alternate banks, or that in sets of 4 + 2 words, which "
        "leave no gap")  # fmt: skip
    add("--kept", choices=KEPT, default=None,
        help="when --cache does that: after each pass (default), or beside the computation of the next")  # fmt: skip


def method_of(args: argparse.Namespace) -> Method:
    """Return how the passes are carried out; raises UsageError for options that have no effect together."""
    _refuse_idle(args)
    return Method(
        args.control_points, args.schedule, 4 if args.sends is None else args.sends, args.replication or 1,
        args.mantissa_bytes, hybrid=args.hybrid, load=args.load or GP_WAYS[0], results=args.results, gps=args.gps,
        cache=args.cache, kept=args.kept, transfers=args.transfers or TRANSFERS[0],
        trim_tolerance=DEFAULT_TOLERANCE if args.trim_tolerance is None else args.trim_tolerance,
    )  # fmt: skip


def check_trims(args: argparse.Namespace, patches: Sequence[Patch]) -> None:
    """Raise UsageError for a tolerance of trims where no patch has one."""
    if args.trim_tolerance is not None and all(patch.trim is None for patch in patches):
        raise UsageError("--trim-tolerance", f"no patch of {args.patches[:60]} is trimmed", "leave it out")


def _refuse_idle(args: argparse.Namespace) -> None:
    lee, fine = args.control_points == "lee", args.results in ("gp-fine", "gp-both")
    shared = args.schedule != SCHEDULES[0]
    idle = (
        (lee and args.sends is not None, "--sends", "sends are reads of texture memory, and the LEE reads none"),
        (lee and args.replication is not None, "--replication", "through the LEE no module holds patches"),
        (lee and args.transfers is not None, "--transfers", "the LEE makes no transfers"),
        (
            lee and args.load is not None,
            "--load",
            "a database is loaded into texture memory, which the LEE does not use",
        ),
        (lee and shared, "--schedule", f"schedule {args.schedule} needs control points from texture memory"),
        (lee and fine, f"--results {args.results}", "points leave beside reads of texture memory; the LEE reads none"),
    )
    for is_idle, option, reason in idle:
        if is_idle:
            raise UsageError(option, reason, f"leave out {option.split()[0]} or --control-points lee")
    if shared and args.sends is not None:
        raise UsageError("--sends", "shared columns are read by 8 bytes for two PEs each", "leave out --sends")
    if args.schedule == "fixed-sums" and fine:
        raise UsageError("--results", "with sums in fixed point points are complete after the last read alone",
                         "choose direct, gp or gp-coarse")  # fmt: skip
    if args.schedule == "fixed-sums" and args.mantissa_bytes > 3:
        raise UsageError("--mantissa-bytes", "sums in fixed point have no mantissas", "leave it out")
    if args.transfers == "apart" and args.results in ("gp-fine", "gp-coarse", "gp-both"):
        raise UsageError("--transfers", "these results leave beside transfers", "choose --results direct or gp")
    if args.gps is not None and args.results == "direct":
        raise UsageError("--gps", "results that are read at once go to no GP", "choose another --results")
    if args.cache is not None and args.results in ("gp-coarse", "gp-both"):
        raise UsageError("--cache", "results that leave during the next pass cannot be kept", "leave it out")
    if args.kept is not None and args.cache is None:
        raise UsageError(f"--kept {args.kept}", "no results are kept", f"choose a way: --cache {CACHING_WAYS[-1]}")
    if args.kept == "beside" and fine:
        raise UsageError(f"--kept {args.kept}", "points that leave during their pass need the same marks and ports",
                         "choose --results direct or gp")  # fmt: skip
    if args.hybrid and args.mantissa_bytes == 3:
        raise UsageError("--hybrid", "a hybrid needs mantissas of 4 to 6 bytes", "add --mantissa-bytes 4")
