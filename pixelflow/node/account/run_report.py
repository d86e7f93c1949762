"""The report of a run: cycles, stages, profile by family, routine and source line, and the guesses that took part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import compress

from pixelflow.config import Effective, NodeConfig, Param, leaves
from pixelflow.isa import Declaration, Transfers, Unit
from pixelflow.isa.control import HALT, MARK
from pixelflow.node.account.run import RoutineUse, Run
from pixelflow.node.account.untimed_run import UntimedRun
from pixelflow.simd.report import Column, Json, Part, Table, counted, machine_time, number, share, shares
from pixelflow.simd.units import Standing

__all__ = [
    "Guesses",
    "guesses",
    "guesses_without_time",
    "run_object",
    "run_parts",
    "set_in_vain",
    "times_set_in_vain",
    "untimed_object",
    "untimed_parts",
]

_MOST_LINES = 20
_GUESSED = (Standing.FITTED, Standing.INVENTED)


# --- a run with its time ---------------------------------------------------------------------------------------------


def run_parts(account: Run, config: NodeConfig, *, profile: bool) -> Iterator[Part]:
    """Yield what a run took: of one stream, or of both side by side; with ``profile`` also where the cycles went."""
    total, streams = account.total_cycles, account.streams
    instructions = sum(each.instructions for each in streams)
    time = f"{counted(total, 'cycle')}, {machine_time(config.seconds(total))} at {config.clock_mhz} MHz"
    if len(streams) == 1:
        yield f"{time}, {counted(instructions, 'instruction')}"
    else:
        yield f"{time}, {instructions:,} instructions in 2 streams"
        yield from ("", *_streams(account))
    for each in streams:
        name = f" of {each.stream.upper()}" if len(streams) > 1 else ""
        if each.stages:
            yield from ("", shares(_stage_rows(each), "cycles", f"stage{name}", total=each.cycles))
        if profile:
            yield from _profile(each, name)


def _streams(account: Run) -> Iterator[Part]:
    """Yield the two streams beside each other, what the TASICs were busy, and what was moved."""
    streams = account.streams
    reasons = dict.fromkeys(reason for each in streams for reason in each.waits)
    rows = [
        ("busy", *(each.busy for each in streams)),
        *((f"wait {reason}", *(each.waits.get(reason, 0) for each in streams)) for reason in reasons),
        ("total", *(each.cycles for each in streams)),
    ]
    yield Table([Column("cycles", fixed=True), *(Column(each.stream.upper(), number) for each in streams)], rows)
    yield f"TASICs busy: {', '.join(number(cycles) for cycles in account.tasic_cycles)} cycles (each module)"
    moved = account.ledger
    if moved is not None and moved.commands:
        into, out = moved.outbound.counted, moved.inbound.counted
        yield f"on the local ports: {number(out)} bytes out of PEs, {number(into)} into PEs"


def _stage_rows(account: Run) -> Iterator[tuple[str, int]]:
    """Yield a line for the work of each stage and one for each reason why it waited."""
    for name, cycles in account.by_stage.items():
        waits = account.waits_by_stage.get(name, {})
        yield name, cycles - sum(waits.values())
        yield from ((f"{name}: wait {reason}", waited) for reason, waited in waits.items())


def _profile(account: Run, whose: str) -> Iterator[Part]:
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
    """Return what a run took for JSON; ``profile`` adds every source line."""
    return {
        "result": {
            "cycles": account.total_cycles,
            "seconds_at_clock": config.seconds(account.total_cycles),
            "instructions": sum(each.instructions for each in account.streams),
            "reason": "halt",
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
        "ledger": account.ledger.as_object(),
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
    """Yield what a run did, and that its time is unknown."""
    streams = account.streams
    total = sum(each.instructions for each in streams)
    where = f" in {len(streams)} streams" if len(streams) > 1 else ""
    yield f"{counted(total, 'instruction')}{where}; no time was simulated"
    tables = []
    for each in streams:
        whose = f" of {each.stream.upper()}" if len(streams) > 1 else ""
        tables += [(f"stage{whose}", "times", each.by_stage), (f"routine{whose}", "calls", each.calls)]
    tables.append(("data moved", "bytes", {way: count for way, count in account.moved.items() if count}))
    for what, unit, counts in tables:
        if counts:
            yield from ("", Table([Column(unit, number), Column(what)], [(n, name) for name, n in counts.items()]))


def untimed_object(account: UntimedRun) -> dict[str, Json]:
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
        "guesses": guesses_without_time([account]).as_object(),
    }


# --- guesses: values of the configuration, and instructions, that are fitted or invented and took part ----------------


@dataclass(frozen=True, slots=True)
class Guesses:
    """What runs used that the thesis does not print."""

    values: dict[str, tuple[object, Standing]]
    """Configuration values by key."""
    instructions: dict[Standing, list[str]]
    """Executed mnemonics whose existence or cost is a guess, by standing."""

    def as_object(self) -> dict[str, Json]:
        """Return both for JSON."""
        return {
            "values": [f"{key} = {value} ({standing})" for key, (value, standing) in self.values.items()],
            "instructions": {standing.value: mnemonics for standing, mnemonics in self.instructions.items()},
        }

    @property
    def parts(self) -> list[Part]:
        """A paragraph of names and counts, and where to read on; nothing where there are none."""
        sections: dict[str, list[str]] = {}
        for key in self.values:
            section, _, name = key.rpartition(".")
            sections.setdefault(section, []).append(name)
        found = [
            f"{section}.{names[0]}" if len(names) == 1 else f"{section}: {', '.join(names)}"
            for section, names in sections.items()
        ]
        counts = [f"{len(mnemonics)} {standing}" for standing, mnemonics in self.instructions.items()]
        if counts:
            total = sum(len(mnemonics) for mnemonics in self.instructions.values())
            found.append(f"{counted(total, 'instruction')} ({', '.join(counts)})")
        return ["", "guesses used: " + "; ".join(found) + "; see: pixelflow about --model"] if found else []


def guesses(runs: Iterable[Run], config: NodeConfig) -> Guesses:
    """Return the guesses that took part in ``runs`` on the machine of ``config``."""
    runs = list(runs)
    part = _TookPart(runs, config)
    values = {
        key: (value, about.standing)
        for key, about, value, default in leaves(config)
        if about.read_by is not None and about.standing in _GUESSED and part.of(about, value, default)
    }
    return Guesses(values, _guessed(part.executed))


def guesses_without_time(runs: Iterable[UntimedRun]) -> Guesses:
    """Return the guesses that took part where no time was simulated: instructions alone."""
    return Guesses({}, _guessed(_executed(runs)))


def _guessed(executed: Iterable[Declaration]) -> dict[Standing, list[str]]:
    found = {standing: [each.mnemonic for each in executed if each.standing is standing] for standing in _GUESSED}
    return {standing: mnemonics for standing, mnemonics in found.items() if mnemonics}


def set_in_vain(runs: Iterable[Run], effective: Effective) -> list[str]:
    """Return which values somebody set although nothing that was executed depends on them."""
    part = _TookPart(list(runs), effective.config)
    return [
        f"note: {key} (set by {origin}) made no difference: nothing that was executed depends on it"
        for key, about, value, default, origin in _set(effective)
        if about.matters != "limit" and not part.of(about, value, default)
    ]


def times_set_in_vain(effective: Effective) -> list[str]:
    """Return which values somebody set that are about time, where none was simulated."""
    return [
        f"note: {key} (set by {origin}) made no difference: no time was simulated"
        for key, about, _, _, origin in _set(effective)
        if not about.state
    ]


def _set(effective: Effective) -> Iterator[tuple[str, Param, object, object, str]]:
    """Yield key, param, value, default and origin of what is read and is not as the preset has it."""
    for key, about, value, default in leaves(effective.config):
        origin = effective.set_by[key]
        if about.read_by is not None and not origin.startswith("preset "):
            yield key, about, value, default, origin


def _executed(runs: Iterable[Run | UntimedRun]) -> dict[Declaration, None]:
    """Return the declarations of all instructions that were executed, in the order of the programs."""
    found: dict[int, Declaration] = {}  # by the object: there is one of each
    for run in runs:
        for each in run.streams:
            done = compress(each.program.instructions, each.executed)
            found |= {id(instruction.declaration): instruction.declaration for instruction in done}
    return dict.fromkeys(found.values())


class _TookPart:
    """Which values of a configuration could have made a difference to what was executed."""

    def __init__(self, runs: list[Run], config: NodeConfig) -> None:
        self.executed = _executed(runs)
        paths = {path for run in runs for path in run.gni_cycles}
        loads = {path for path in paths if path.startswith("from_gni")}
        moved = {each.transfers for each in self.executed} & {Transfers.READ, Transfers.WRITE}
        self._matters = {
            "": True,
            "transfers": bool(moved),
            "reads": Transfers.READ in moved,
            "writes": Transfers.WRITE in moved,
            "refresh": bool(moved) and config.sdram.refresh,
            "paths": bool(paths),
            "loads": bool(loads),
            "results": bool(paths - loads),
            "limit": False,  # a run that ended stayed below it
            "pictures": False,  # nodes are joined by those that draw
        }

    def of(self, about: Param, value: object, default: object) -> bool:
        """Return whether it is so for one value."""
        if about.matters == "control":
            # That the HALT at the end is free is no guess worth telling.
            control = {each for each in self.executed if each.unit is Unit.SEQUENCER and each is not MARK}
            return bool(control - {HALT}) or (bool(control) and bool(value))
        if about.matters == "option":  # a switch of the model: no guess while it is as delivered
            return self._matters["transfers"] and value != default
        return self._matters[about.matters]
