"""Function-only runs on the command line: options that they refuse, and the report of what was done."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.shell.screen import Column, Screen, counted, number

if TYPE_CHECKING:
    from pixelflow.node import UntimedRun

__all__ = ["refuse_timed_options", "show_untimed", "untimed_object"]

_TIMED = ("expect_cycles", "profile", "save_at", "load", "stats", "trace", "window", "only", "record", "live", "frame")
"""Options of `pixelflow run` that say something about cycles, or wait for one."""


def refuse_timed_options(args: argparse.Namespace) -> None:
    """Raise UsageError where ``--function-only`` stands beside an option that needs time."""
    if not args.function_only:
        return
    if args.timing_only:
        raise UsageError("--function-only", "--timing-only leaves out all that it does", "leave out one of the two")
    for name in _TIMED:
        given = getattr(args, name)
        if given is not None and given is not False and given != []:  # 0 is a count that was given
            option = f"--{name.replace('_', '-')}"
            raise UsageError(option, "no time is simulated", f"leave out {option} or --function-only")


def show_untimed(screen: Screen, account: UntimedRun) -> None:
    """Print what a run did, and that its time is unknown."""
    streams = account.streams
    total = sum(each.instructions for each in streams)
    where = f" in {len(streams)} streams" if len(streams) > 1 else ""
    screen.text(f"{counted(total, 'instruction')}{where}; no time was simulated")
    for each in streams:
        whose = f" of {each.stream.upper()}" if len(streams) > 1 else ""
        _show(screen, f"stage{whose}", "times", each.by_stage)
        _show(screen, f"routine{whose}", "calls", each.calls)
    _show(screen, "data moved", "bytes", {way: count for way, count in account.moved.items() if count})


def _show(screen: Screen, what: str, counts: str, rows: dict[str, int]) -> None:
    if rows:
        screen.text()
        columns = [Column(counts, numbers=True), Column(what)]
        screen.table(columns, [[number(count), name] for name, count in rows.items()])


def untimed_object(account: UntimedRun) -> dict[str, Any]:
    """Return what a run did for JSON: for each stream instructions, stages and calls; bytes moved by way."""
    return {
        "result": {"instructions": sum(each.instructions for each in account.streams), "reason": "halt"},
        "streams": {
            each.stream: {
                "instructions": each.instructions,
                "mnemonics": each.by_mnemonic,
                "stages": each.by_stage,
                "calls": each.calls,
            }
            for each in account.streams
        },
        "moved_bytes": account.moved,
    }
