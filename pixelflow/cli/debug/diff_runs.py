"""The comparison of two saved runs: where they part, and what each side did there."""

from __future__ import annotations

import argparse
from typing import Any

from pixelflow.cli.debug.diff import difference_object, show_differences
from pixelflow.cli.shell.machine import engine_of
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.debugger import Divergence, first_divergence
from pixelflow.debugger.views import line, place, source_text
from pixelflow.node import Replay, SavedRun

__all__ = ["compare_runs"]


def compare_runs(screen: Screen, args: argparse.Namespace, first: SavedRun, second: SavedRun) -> int:
    """Execute two saved runs side by side and report the first difference; returns 1 where there is one."""
    engine = engine_of(args, screen)
    sides = (first.replay(engine), second.replay(engine))
    ends = [run.end.cycles for run in (first, second) if run.end is not None]
    with Progress(screen, min(ends, default=None)) as progress:
        progress.doing("cycles")
        found = first_divergence(*sides, progress.step)
    if screen.json:
        differences = [] if found is None else [difference_object(each) for each in found.differences]
        parted = None if found is None else _object(found, sides)
        screen.object("pixelflow.diff/1", kind="run", equal=found is None, parted=parted, differences=differences)
    elif found is not None:
        _show(screen, found, sides)
    elif not screen.quiet:
        screen.text(f"no difference: both end at cycle {sides[0].position:,} with the same data")
    return int(found is not None)


def _object(found: Divergence, sides: tuple[Replay, Replay]) -> dict[str, Any]:
    executed = [
        [
            {"stream": stream, "where": side.program.where(index), "text": side.program.instructions[index].text()}
            for stream, index in began
        ]
        for side, began in zip(sides, found.executed, strict=True)
    ]
    return {
        "cycle": found.cycle,
        "executed": executed,
        "texture_modules": list(found.modules),
        "ends": list(found.ends),
    }


def _show(screen: Screen, found: Divergence, sides: tuple[Replay, Replay]) -> None:
    if found.cycle < 0:
        screen.text("the runs begin with different data")
    else:
        screen.text(f"the runs are equal up to cycle {found.cycle:,} and part in it")
    for name, side, began, end in zip("AB", sides, found.executed, found.ends, strict=True):
        for stream, index in began:
            where = f"{place(side.program, index):<22} {source_text(side.program, index)}"
            line(screen, f"  {name}  {stream.upper()}  {where}")
        if end is not None:
            reason = "halt" if side.account is None else side.account.reason
            screen.text(f"  {name}  ends at cycle {end:,}: {reason}")
        elif not began and found.cycle >= 0:
            screen.text(f"  {name}  begins no instruction in this cycle")
    if found.differences:
        screen.text()
        show_differences(screen, list(found.differences))
    if found.modules:
        screen.text(f"texture memory differs in module {', '.join(str(module) for module in found.modules)}")
