"""The report of a program on the vector unit: cycles, instructions, registers and memory at its end."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from larrabee_bridge.core import Core, invented
from larrabee_bridge.threads import Shared
from larrabee_bridge.vector_unit import VectorUnit
from pixelflow.report import Column, Json, Part, Report, Table, counted, number, verbatim
from pixelflow.simd.config.param import leaves

__all__ = ["Executed", "run_report"]


@dataclass(frozen=True)
class Executed:
    """A program that has run on the vector unit: its threads each alone on a core, and cores that threads share."""

    unit: VectorUnit
    core: Core
    cores: Sequence[Shared]
    per_core: int | None
    registers: Mapping[str, list[int]]
    memory: Mapping[str, list[int]]


def run_report(name: str, done: Executed, form: str) -> Report:
    """Return what it took; words of registers and memory as ``hex``, ``int`` or ``float``."""
    return Report(results=[*_parts(name, done, form)], schema="pixelflow.larrabee-run/1", data=_object(done))


def _parts(name: str, done: Executed, form: str) -> Iterator[Part]:
    unit, core = done.unit, done.core
    yield f"{name}: {counted(unit.threads, 'thread')}; sha256 {unit.program.sha256[:12]}"
    carried_out = sum(core.counts.values())
    figures = {
        "cycles alone on a core": core.cycles,
        "instructions": carried_out,
        "of them paired": core.paired,
        "cycles waited for a result": core.waited,
        "cache lines touched": core.lines,
    }
    rows = [(what, int(each.min()), float(each.mean()), int(each.max())) for what, each in figures.items()]
    columns = [Column("per thread"), *(Column(each, number) for each in ("fewest", "mean", "most"))]
    yield from ("", Table(columns, [*rows, *_of_cores(done)]))
    total = int(carried_out.sum())
    mix = [
        (family.value, int(counts.sum()), f"{counts.sum() / total:.0%}")
        for family, counts in core.counts.items()
        if counts.any()
    ]
    yield from ("", Table((Column("instructions"), Column("count", number), Column("share", verbatim)), mix))
    yield f"share of the vector unit: {core.vector_share:.2f}"
    for label, values in {**done.registers, **done.memory}.items():
        mask = label[0] == "k" and len(values) == 1
        yield from ("", f"{label}: {' '.join(_formed(values, 'hex' if mask else form))}")
    hits = "" if core.config.caches else "; every access hits the L1 cache"
    yield from ("", f"no source on Larrabee gives: {', '.join(invented(core.config))}{hits}")


def _of_cores(done: Executed) -> Iterator[tuple[Json, ...]]:
    """Yield the rows of cores that threads share."""
    if not done.cores:
        return
    label = f"core of {done.per_core}: "

    def spread(what: str, values: list[int]) -> tuple[Json, ...]:
        return f"{label}{what}", min(values), sum(values) / len(values), max(values)

    yield spread("cycles", [each.cycles for each in done.cores])
    shares = [each.issued / each.cycles for each in done.cores]
    yield f"{label}cycles with an issue", f"{min(shares):.0%}", "", f"{max(shares):.0%}"
    if done.core.config.caches:
        yield spread("L1 misses", [each.l1_misses or 0 for each in done.cores])
        yield spread("L2 misses", [each.l2_misses or 0 for each in done.cores])


def _formed(words: list[int], form: str) -> list[str]:
    if form == "hex":
        return [f"{word:08x}" for word in words]
    if form == "int":
        return [str(word - (word >> 31 << 32)) for word in words]
    return [f"{struct.unpack('<f', struct.pack('<I', word))[0]:g}" for word in words]


def _object(done: Executed) -> dict[str, Json]:
    unit, core = done.unit, done.core
    return {
        "program": {"name": unit.program.name, "sha256": unit.program.sha256},
        "threads": unit.threads,
        "cycles": core.cycles.tolist(),
        "paired": core.paired.tolist(),
        "waited": core.waited.tolist(),
        "lines": core.lines.tolist(),
        "instructions": {family.value: counts.tolist() for family, counts in core.counts.items()},
        "vector_share": core.vector_share,
        "cores": [
            {
                "cycles": each.cycles,
                "issued": each.issued,
                "paired": each.paired,
                "l1_misses": each.l1_misses,
                "l2_misses": each.l2_misses,
            }
            for each in done.cores
        ]
        or None,
        "config": {key: value for key, _, value, _ in leaves(core.config)},
        "invented": invented(core.config),
        "registers": done.registers,
        "memory": done.memory,
    }
