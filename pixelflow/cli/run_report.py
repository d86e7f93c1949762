"""The cycle report of a run: totals, stages, and the profile by family, routine and source line."""

from __future__ import annotations

from typing import Any

from pixelflow.cli.screen import Column, Screen, number
from pixelflow.config import NodeConfig
from pixelflow.node import Run

__all__ = ["machine_time", "profile_object", "show_cycles"]

_MOST_LINES = 20


def machine_time(seconds: float) -> str:
    """Return a time with a unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:,.4g} {unit}"
    return f"{seconds * 1e9:,.4g} ns"


def show_cycles(screen: Screen, account: Run, config: NodeConfig, *, profile: bool) -> None:
    """Print executed cycles; with ``profile`` also where they went."""
    screen.text(
        f"{account.cycles:,} cycles, {machine_time(account.seconds_at_clock)} at {config.clock_mhz} MHz, "
        f"{account.instructions:,} instructions"
    )
    if account.stages:
        _show(screen, account, "stage", [(name, cycles) for name, cycles in account.by_stage.items()])
    if not profile:
        return
    _show(screen, account, "family", [(family.value, cycles) for family, cycles in account.by_family.items()])
    _show_routines(screen, account)
    _show_lines(screen, account)


def _share(cycles: int, account: Run) -> str:
    return f"{100 * cycles / account.cycles:.1f} %" if account.cycles else "-"


def _show(screen: Screen, account: Run, name: str, rows: list[tuple[str, int]]) -> None:
    screen.text()
    columns = [Column("cycles", numbers=True), Column("share", numbers=True), Column(name)]
    screen.table(columns, [[number(cycles), _share(cycles, account), text] for text, cycles in rows])


def _show_routines(screen: Screen, account: Run) -> None:
    screen.text()
    columns = [Column("own", numbers=True), Column("with calls", numbers=True), Column("calls", numbers=True)]
    columns += [Column("a call", numbers=True), Column("routine")]
    uses = sorted(account.by_routine.values(), key=lambda use: -use.own_cycles)
    rows = [[number(use.own_cycles), number(use.total_cycles), number(use.calls), _each(use), use.name] for use in uses]
    screen.table(columns, rows)


def _each(use: Any) -> str:
    return number(use.total_cycles // use.calls) if use.total_cycles % use.calls == 0 else "varies"


def _show_lines(screen: Screen, account: Run) -> None:
    spent = sorted(account.by_line.items(), key=lambda item: -item[1])
    rows = []
    for line, cycles in spent[:_MOST_LINES]:
        if cycles:
            where = f"{line.file}:{line.line}" if line else "(no source)"
            rows.append([number(cycles), _share(cycles, account), where, line.text.strip() if line else ""])
    if not rows:
        return
    screen.text()
    columns = [Column("cycles", numbers=True), Column("share", numbers=True), Column("line"), Column("source")]
    screen.table(columns, rows)
    rest = sum(1 for _, cycles in spent[_MOST_LINES:] if cycles)
    if rest:
        screen.text(f"and {rest:,} more lines; all of them: --json --profile")


def profile_object(account: Run, *, lines: bool) -> dict[str, Any]:
    """Return the profile for JSON; ``lines`` adds every source line."""
    found: dict[str, Any] = {
        "families": {family.value: cycles for family, cycles in account.by_family.items()},
        "stages": account.by_stage,
        "routines": {
            use.name: {"calls": use.calls, "own_cycles": use.own_cycles, "total_cycles": use.total_cycles}
            for use in account.by_routine.values()
        },
    }
    if lines:
        found["lines"] = [
            {"file": line.file, "line": line.line, "cycles": cycles}
            for line, cycles in account.by_line.items()
            if line is not None and cycles
        ]
    return found
