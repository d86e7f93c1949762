"""The cycle report of a run: totals, stages, and the profile by family, routine and source line."""

from __future__ import annotations

from typing import Any

from pixelflow.cli.shell.screen import Column, Screen, counted, number
from pixelflow.config import NodeConfig
from pixelflow.node import Run

__all__ = [
    "machine_time",
    "profile_object",
    "show_cycles",
    "show_run",
    "streams_object",
]

_MOST_LINES = 20


def machine_time(seconds: float) -> str:
    """Return a time with a unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:,.4g} {unit}"
    return f"{seconds * 1e9:,.4g} ns"


def show_run(screen: Screen, account: Run, config: NodeConfig, *, profile: bool) -> None:
    """Print what a run took: of one stream, or of both side by side."""
    if account.beside is None:
        show_cycles(screen, account, config, profile=profile)
        return
    total = account.total_cycles
    screen.text(
        f"{counted(total, 'cycle')}, {machine_time(config.seconds(total))} at {config.clock_mhz} MHz, "
        f"{sum(each.instructions for each in account.streams):,} instructions in 2 streams"
    )
    screen.text()
    _show_streams(screen, account)
    for each in account.streams:
        name = each.stream.upper()
        if each.stages:
            _show(screen, each, f"stage of {name}", _stage_rows(each))
        if profile:
            _show_profile(screen, each, f" of {name}")


def _show_streams(screen: Screen, account: Run) -> None:
    """Print the two streams beside each other, what the TASICs were busy, and what was moved."""
    streams = account.streams
    reasons = dict.fromkeys(reason for each in streams for reason in each.waits)
    rows = [["busy", *(number(each.busy) for each in streams)]]
    rows += [[f"wait {reason}", *(number(each.waits.get(reason, 0)) for each in streams)] for reason in reasons]
    rows.append(["total", *(number(each.cycles) for each in streams)])
    screen.table([Column("cycles", fixed=True), *(Column(each.stream.upper(), numbers=True) for each in streams)], rows)
    screen.text(f"TASICs busy: {', '.join(number(cycles) for cycles in account.tasic_cycles)} cycles (each module)")
    moved = account.ledger
    if moved.commands:
        screen.text(
            f"on the local ports: {number(moved.inbound.counted)} bytes out of PEs, "
            f"{number(moved.outbound.counted)} into PEs"
        )


def _stage_rows(account: Run) -> list[tuple[str, int]]:
    """Return a line for the work of each stage and one for each reason why it waited."""
    rows = []
    for name, cycles in account.by_stage.items():
        waits = account.waits_by_stage.get(name, {})
        rows.append((name, cycles - sum(waits.values())))
        rows += [(f"{name}: wait {reason}", waited) for reason, waited in waits.items()]
    return rows


def show_cycles(screen: Screen, account: Run, config: NodeConfig, *, profile: bool) -> None:
    """Print executed cycles; with ``profile`` also where they went."""
    screen.text(
        f"{counted(account.cycles, 'cycle')}, {machine_time(account.seconds_at_clock)} at {config.clock_mhz} MHz, "
        f"{counted(account.instructions, 'instruction')}"
    )
    if account.stages:
        _show(screen, account, "stage", _stage_rows(account))
    if profile:
        _show_profile(screen, account, "")


def _show_profile(screen: Screen, account: Run, whose: str) -> None:
    families = [(family.value, cycles) for family, cycles in account.by_family.items()]
    families += [(f"(wait {reason})", cycles) for reason, cycles in account.waits.items()]
    _show(screen, account, f"family{whose}", families)
    _show_routines(screen, account, whose)
    _show_lines(screen, account, whose)


def _share(cycles: int, account: Run) -> str:
    return f"{100 * cycles / account.cycles:.1f} %" if account.cycles else "-"


def _show(screen: Screen, account: Run, name: str, rows: list[tuple[str, int]]) -> None:
    screen.text()
    columns = [Column("cycles", numbers=True), Column("share", numbers=True), Column(name)]
    screen.table(columns, [[number(cycles), _share(cycles, account), text] for text, cycles in rows])


def _show_routines(screen: Screen, account: Run, whose: str) -> None:
    screen.text()
    columns = [Column("own", numbers=True), Column("with calls", numbers=True), Column("calls", numbers=True)]
    columns += [Column("a call", numbers=True), Column(f"routine{whose}")]
    uses = sorted(account.by_routine.values(), key=lambda use: -use.own_cycles)
    rows = [[number(use.own_cycles), number(use.total_cycles), number(use.calls), _each(use), use.name] for use in uses]
    screen.table(columns, rows)


def _each(use: Any) -> str:
    return number(use.total_cycles // use.calls) if use.total_cycles % use.calls == 0 else "varies"


def _show_lines(screen: Screen, account: Run, whose: str) -> None:
    spent = sorted(account.by_line.items(), key=lambda item: -item[1])
    rows = []
    for line, cycles in spent[:_MOST_LINES]:
        if cycles:
            where = f"{line.file}:{line.line}" if line else "(no source)"
            rows.append([number(cycles), _share(cycles, account), where, line.text.strip() if line else ""])
    if not rows:
        return
    screen.text()
    columns = [Column("cycles", numbers=True), Column("share", numbers=True), Column(f"line{whose}"), Column("source")]
    screen.table(columns, rows)
    rest = sum(1 for _, cycles in spent[_MOST_LINES:] if cycles)
    if rest:
        screen.text(f"and {counted(rest, 'more line')}; all of them: --json --profile")


def streams_object(account: Run, *, lines: bool) -> dict[str, Any]:
    """Return both streams for JSON, by name: cycles, busy cycles, waits by reason, stages with their waits, profile."""
    return {
        each.stream: {
            "cycles": each.cycles,
            "busy_cycles": each.busy,
            "wait_cycles": each.waits,
            "stage_wait_cycles": each.waits_by_stage,
            "instructions": each.instructions,
            "profile": profile_object(each, lines=lines),
        }
        for each in account.streams
    }


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
