"""The report of a run: cycles, stages, profile by family, routine and source line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pixelflow.caveats import coded
from pixelflow.config import NodeConfig
from pixelflow.node.account import RoutineUse, Run, UntimedRun, stage_figures
from pixelflow.node.assumptions import guesses, guesses_without_time, set_in_vain, times_set_in_vain
from pixelflow.simd.configuration import Effective
from pixelflow.simd.report import (
    Column,
    Json,
    Part,
    Report,
    Table,
    counted,
    largest,
    machine_time,
    number,
    share,
    shares,
)

_MOST_LINES = 20
_MOST_STAGES = 8
"""Stages that a brief names."""


def report_of(
    program: str,
    effective: Effective[NodeConfig],
    account: Run | UntimedRun,
    *,
    profile: bool,
    failure: str | None,
    hints: Sequence[str] = (),
) -> Report:
    """Return what a run of a program took, or what it did where no time was simulated, with hints at the end."""
    config = effective.config
    digest, machine = account.program.sha256[:6], (effective.label, f"engine {account.engine}")
    subject = (f"{program} ({digest})", *machine)
    answer: list[Part] = [f"{program}: {run_answer(account, config)}", " · ".join((f"program {digest}", *machine))]
    if isinstance(account, UntimedRun):
        used = guesses_without_time([account])
        return Report(
            "pixelflow run",
            subject,
            [run_answer(account, config), *untimed_parts(account), *used.parts],
            brief=[*answer, *hints, used.line],
            schema="pixelflow.untimed_run/1",
            data=untimed_object(account),
            notes=times_set_in_vain(effective),
        )
    used = guesses([account], config)
    streams = account.streams if profile else ()
    lines = [part for each in streams for part in profile_parts(each, f" of {each.stream.upper()}")]
    return Report(
        "pixelflow run",
        subject,
        [*run_parts(account, config, profile=profile), *used.parts],
        brief=[*answer, *run_brief(account), *lines, "", *hints, used.line],
        schema="pixelflow.run/1",
        data=run_object(account, config, profile=profile),
        notes=set_in_vain([account], effective),
        figures=stage_figures([account]),
        failure=failure,
    )


# --- a run with its time ---------------------------------------------------------------------------------------------


def run_answer(account: Run | UntimedRun, config: NodeConfig) -> str:
    """Return the cycles and instructions of a run, in a line."""
    instructions = counted(sum(each.instructions for each in account.streams), "instruction")
    work = f"{instructions} in 2 streams" if len(account.streams) > 1 else instructions
    if isinstance(account, UntimedRun):
        return f"{_ended(account)}{work}; {coded('no time was simulated', 'PF103')}"
    total = account.total_cycles
    time = f"{counted(total, 'cycle')}, {machine_time(config.seconds(total))} at {config.clock_mhz} MHz"
    return f"{_ended(account)}{time}, {work}"


def run_brief(account: Run) -> Iterator[Part]:
    """Yield the cycles of a run by stream and by its longest stages."""
    streams = account.streams
    if len(streams) > 1:
        yield from ("", _stream_table(account))
    stages = [
        (f"{each.stream.upper()}: {name}" if len(streams) > 1 else name, cycles)
        for each in streams
        if each.stages
        for name, cycles in _stage_rows(each)
    ]
    if stages:
        most = _MOST_STAGES // len(streams) + 1
        yield from ("", shares(largest(stages, most), "cycles", "stage"))


def run_parts(account: Run, config: NodeConfig, *, profile: bool) -> Iterator[Part]:
    """Yield the cycles of the streams; with ``profile`` also by family, routine and source line."""
    streams = account.streams
    yield run_answer(account, config)
    if len(streams) > 1:
        yield from ("", *_streams(account))
    for each in streams:
        name = f" of {each.stream.upper()}" if len(streams) > 1 else ""
        if each.stages:
            yield from ("", shares(_stage_rows(each), "cycles", f"stage{name}", total=each.cycles))
        if profile:
            yield from profile_parts(each, name)


def _ended(account: Run | UntimedRun) -> str:
    """Return the words before the counts of a run that was stopped."""
    if account.reason == "halt":
        return ""
    return "interrupted after " if account.reason == "interrupted" else f"stopped by {account.reason} after "


def _stream_table(account: Run) -> Table:
    """Return a table with a column for each stream."""
    streams = account.streams
    reasons = dict.fromkeys(reason for each in streams for reason in each.waits)
    rows: list[Sequence[Json]] = [("busy", *(each.busy for each in streams))]
    for reason in reasons:
        rows.append((f"wait {reason}", *(each.waits.get(reason, 0) for each in streams)))
    rows.append(("total", *(each.cycles for each in streams)))
    return Table([Column("cycles", fixed=True), *(Column(each.stream.upper(), number) for each in streams)], rows)


def _streams(account: Run) -> Iterator[Part]:
    """Yield the cycles of both streams, the busy cycles of the TASICs, and the bytes moved."""
    yield _stream_table(account)
    yield f"TASICs busy: {', '.join(number(cycles) for cycles in account.tasic_cycles)} cycles (each module)"
    moved = account.ledger
    if moved is not None and moved.commands:
        into, out, idle = moved.outbound.used, moved.inbound.used, moved.slots - moved.slots_used
        slots = f"; {counted(moved.slots, 'slot')}, {number(idle)} of them idle"
        yield f"on the local ports: {number(out)} bytes out of PEs, {number(into)} into PEs{slots}"
        if moved.over.used:
            yield f"between TASICs: {number(moved.over.used)} bytes, addresses included, to other modules"


def _stage_rows(account: Run) -> Iterator[tuple[str, int]]:
    """Yield a row for the work of each stage and one for each reason of its waits."""
    for name, cycles in account.by_stage.items():
        waits = account.waits_by_stage.get(name, {})
        yield name, cycles - sum(waits.values())
        yield from ((f"{name}: wait {reason}", waited) for reason, waited in waits.items())


def profile_parts(account: Run, whose: str) -> Iterator[Part]:
    """Yield the cycles of a stream by family, routine and source line."""
    families = [(family.value, cycles) for family, cycles in account.by_family.items()]
    families += [(f"(wait {reason})", cycles) for reason, cycles in account.waits.items()]
    yield from ("", shares(families, "cycles", f"family{whose}", total=account.cycles))
    columns = (
        Column("own", number), Column("with calls", number), Column("calls", number), Column("a call", number),
        Column(f"routine{whose}"),
    )  # fmt: skip
    uses = sorted(account.by_routine.values(), key=lambda use: -use.own_cycles)
    yield from ("", Table(columns, [(u.own_cycles, u.total_cycles, u.calls, _a_call(u), u.name) for u in uses]))
    yield from _lines(account, whose)


def _a_call(use: RoutineUse) -> int | str:
    return use.total_cycles // use.calls if use.total_cycles % use.calls == 0 else "varies"


def _lines(account: Run, whose: str) -> Iterator[Part]:
    spent = sorted(((line, n) for line, n in account.by_line.items() if n), key=lambda item: -item[1])
    if not spent:
        return
    columns = (Column("cycles", number), Column("share", number), Column(f"line{whose}"), Column("source"))
    rows = [
        (
            n,
            share(n, account.cycles),
            f"{line.file}:{line.line}" if line else "(no source)",
            line.text.strip() if line else "",
        )
        for line, n in spent[:_MOST_LINES]
    ]
    yield from ("", Table(columns, rows))
    if len(spent) > _MOST_LINES:
        yield f"and {counted(len(spent) - _MOST_LINES, 'more line')}; all of them: --json --profile"


def run_object(account: Run, config: NodeConfig, *, profile: bool) -> dict[str, Json]:
    """Return a run for JSON; ``profile`` adds every source line."""
    return {
        "result": {
            "cycles": account.total_cycles,
            "seconds_at_clock": config.seconds(account.total_cycles),
            "instructions": sum(each.instructions for each in account.streams),
            "reason": account.reason,
        },
        "streams": {
            each.stream: {
                "cycles": each.cycles,
                "busy_cycles": each.busy,
                "wait_cycles": each.waits,
                "stage_wait_cycles": each.waits_by_stage,
                "instructions": each.instructions,
                "profile": _profile_object(each, lines=profile),
            }
            for each in account.streams
        },
        "tasic_busy_cycles": list(account.tasic_cycles),
        "ledger": None if account.ledger is None else account.ledger.as_object(),
        "profile": _profile_object(account, lines=profile),
        "guesses": guesses([account], config).as_object(),
    }


def _profile_object(account: Run, *, lines: bool) -> dict[str, Json]:
    found: dict[str, Json] = {
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


# --- a run without time ----------------------------------------------------------------------------------------------


def untimed_parts(account: UntimedRun) -> Iterator[Part]:
    """Yield the stages and calls of a run without time, and the bytes moved."""
    streams = account.streams
    tables = []
    for each in streams:
        whose = f" of {each.stream.upper()}" if len(streams) > 1 else ""
        tables += [(f"stage{whose}", "times", each.by_stage), (f"routine{whose}", "calls", each.calls)]
    tables.append(("data moved", "bytes", {way: count for way, count in account.moved.items() if count}))
    for what, unit, counts in tables:
        if counts:
            yield from ("", Table([Column(unit, number), Column(what)], [(n, name) for name, n in counts.items()]))


def untimed_object(account: UntimedRun) -> dict[str, Json]:
    """Return a run without time for JSON: instructions, stages and calls of each stream; bytes moved by way."""
    return {
        "result": {"instructions": sum(each.instructions for each in account.streams), "reason": account.reason},
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
        "guesses": guesses_without_time([account]).as_object(),
    }
