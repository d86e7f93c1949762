"""A run of a program on the vector unit: its threads' cycles, alone and on shared cores, and its report."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.config import invented
from larrabee_bridge.vpu.core_image import SharedCore
from larrabee_bridge.vpu.isa import NAMES, VectorFamily
from larrabee_bridge.vpu.issue import Core
from larrabee_bridge.vpu.program import MEMORY_BYTES, TARGET, VectorProgram
from larrabee_bridge.vpu.vector_unit import VectorUnit
from pixelflow.caveats import coded, resting_on
from pixelflow.simd.configuration import leaves
from pixelflow.simd.errors import Fault, InputError, UsageError
from pixelflow.simd.report import Column, Json, Part, Report, Shown, Table, counted, largest, number, shares, verbatim

_MOST_FAMILIES = 5
"""Families of instructions in a brief."""
_LARGEST = 4096
"""Largest number of bytes of memory to show."""


@dataclass(frozen=True)
class ShownWords:
    """Final state to show: registers of thread 0 and ranges of memory, first byte and size of each."""

    registers: tuple[str, ...] = ()
    memory: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    form: str = "int"
    """Format of words: ``hex``, ``int``, ``float`` or ``double``, two words each, the low one first."""

    @classmethod
    def of(cls, program: VectorProgram, show: Sequence[str], ranges: Sequence[str], form: str) -> ShownWords:
        """Return the state named by the options ``--show`` and ``--range``; raises UsageError for unknown names."""
        registers = tuple(name.strip() for names in show for name in names.split(","))
        for name in registers:
            if name not in NAMES:
                raise UsageError(f"--show {name}", f"there is no register {name}", "v0..v31, k0..k7, r0..r15")
        return cls(registers, {text: _span(text, program) for text in ranges}, form)


def _span(text: str, program: VectorProgram) -> tuple[int, int]:
    """Return first byte and size of a range of the program, or of START:BYTES."""
    ranges = {each.name: (each.start, each.size) for each in program.ranges}
    start, colon, size = text.partition(":")
    if text in ranges:
        first, length = ranges[text]
    elif colon and start.isdigit() and size.isdigit():
        first, length = int(start), int(size)
    else:
        hint = f"ranges: {', '.join(ranges)}; or START:BYTES" if ranges else "write START:BYTES"
        raise UsageError(f"--range {text}", "is not a range of the program", hint)
    if first % 4 or length % 4 or not 0 < length <= _LARGEST or first + length > MEMORY_BYTES:
        raise UsageError(f"--range {text}", f"expected whole words inside the memory, {_LARGEST} bytes at most")
    return first, length


class VectorRun(Shown):
    """Ended threads of a program: registers and memory, cycles alone and on shared cores."""

    def __init__(
        self,
        unit: VectorUnit,
        core: Core,
        cores: Sequence[SharedCore] = (),
        per_core: int | None = None,
        reason: str = "halt",
        shown: ShownWords | None = None,
    ) -> None:
        """``cores`` have ``per_core`` threads each; ``reason`` is why the run ended, ``shown`` the state to report."""
        self.unit, self.core, self.cores, self.per_core, self.reason = unit, core, tuple(cores), per_core, reason
        self.shown = shown or ShownWords()

    @property
    def cycles(self) -> int:
        """Cycles of the longest thread alone on a core, or of the longest core if threads share cores."""
        return max((each.cycles for each in self.cores), default=int(self.core.cycles.max()))

    @property
    def total_cycles(self) -> int:
        """Same as `cycles`, for subscribers of any machine."""
        return self.cycles

    @cached_property
    def figures(self) -> dict[str, NDArray[np.int64]]:
        """Counts of each thread alone on a core, by name: int64[thread] each."""
        return {
            "cycles alone on a core": self.core.cycles,
            "instructions": sum(self.core.counts.values(), np.zeros_like(self.core.cycles)),
            "of them paired": self.core.paired,
            "cycles waited for a result": self.core.waited,
            "cache lines touched": self.core.lines,
        }

    @property
    def mix(self) -> dict[VectorFamily, int]:
        """Instructions of all threads together, by family, without zeros."""
        return {family: int(counts.sum()) for family, counts in self.core.counts.items() if counts.any()}

    @property
    def invented(self) -> list[str]:
        """Invented values of the core model that this run depends on."""
        return invented(self.core.config)

    def register(self, name: str) -> list[int]:
        """Return a register of thread 0: sixteen words of a vector, or one number; raises InputError."""
        if name not in TARGET.names or name[0] not in "vkr":
            raise InputError(Fault(f"there is no register {name}", hint="v0..v31, k0..k7, r0..r15"))
        number = int(name[1:])
        if name[0] == "v":
            return self.unit.vector(number)[0].tolist()
        return [int((self.unit.mask if name[0] == "k" else self.unit.scalar)(number)[0])]

    def words(self, start: int, size: int) -> list[int]:
        """Return ``size`` bytes of memory starting at ``start``, as words."""
        return self.unit.memory.data[0, start : start + size].view("<u4").tolist()

    def report(self) -> Report:
        """Return counts and the requested words; an odd number of words is shown as integers, not doubles."""
        program = self.unit.program
        registers = {name: self.register(name) for name in self.shown.registers}
        memory = {name: self.words(*span) for name, span in self.shown.memory.items()}
        threads = counted(self.unit.threads, "thread")
        columns = [Column("per thread"), *(Column(each, number) for each in ("fewest", "mean", "most"))]
        figures = [(what, int(each.min()), float(each.mean()), int(each.max())) for what, each in self.figures.items()]
        total = sum(self.mix.values())
        mix = [(family.value, count, f"{count / total:.0%}") for family, count in self.mix.items()]
        hits = "" if self.core.config.caches else "; every access hits the L1 cache"
        words: list[Part] = []
        for label, values in (registers | memory).items():
            mask = label[0] == "k" and len(values) == 1
            words += ["", f"{label}: {' '.join(_formed(values, 'hex' if mask else self.shown.form))}"]
        rows = [*figures, *self._shared()]
        alike = all(row[1] == row[-1] for row in rows)
        shown = [columns[0], Column("each", number)] if alike else columns
        return Report(
            parts=[
                f"{program.name}: {threads}; sha256 {program.sha256[:12]}",
                "",
                Table(columns, rows),
                "",
                Table((Column("instructions"), Column("count", number, bars=True), Column("share", verbatim)), mix),
                f"share of the vector unit: {self.core.vector_share:.2f}",
                "",
                f"{coded('no source on Larrabee gives', 'PF101')}: {', '.join(self.invented)}{hits}",
            ],
            brief=[
                f"{program.name}: {counted(self.cycles, 'cycle')}, {counted(total, 'instruction')} of {threads}",
                "",
                Table(shown, [row[: len(shown)] for row in rows]),
                "",
                shares(
                    largest({each.value: n for each, n in self.mix.items()}, _MOST_FAMILIES), "count", "instructions"
                ),
                "",
                resting_on(len(self.invented), "larrabee"),
            ],
            results=words,
            schema="pixelflow.larrabee-run/1",
            data=self._object() | ({"registers": registers, "memory": memory} if words else {}),
        )

    def _shared(self) -> Iterator[tuple[Json, ...]]:
        """Yield the rows of cores that threads share."""
        if not self.cores:
            return
        label = f"core of {self.per_core}: "

        def spread(what: str, values: list[int]) -> tuple[Json, ...]:
            return f"{label}{what}", min(values), sum(values) / len(values), max(values)

        yield spread("cycles", [each.cycles for each in self.cores])
        shares = [each.issued / each.cycles for each in self.cores]
        yield f"{label}cycles with an issue", f"{min(shares):.0%}", "", f"{max(shares):.0%}"
        if self.core.config.caches:
            yield spread("L1 misses", [each.l1_misses or 0 for each in self.cores])
            yield spread("L2 misses", [each.l2_misses or 0 for each in self.cores])

    def _object(self) -> dict[str, Json]:
        unit, core = self.unit, self.core
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
                for each in self.cores
            ]
            or None,
            "config": {key: value for key, _, value, _ in leaves(core.config)},
            "invented": self.invented,
        }


def _formed(words: list[int], form: str) -> list[str]:
    if form == "hex":
        return [f"{word:08x}" for word in words]
    if form == "double" and len(words) % 2 == 0:
        return [f"{value:g}" for value in struct.unpack(f"<{len(words) // 2}d", struct.pack(f"<{len(words)}I", *words))]
    if form in ("int", "double"):
        return [str(word - (word >> 31 << 32)) for word in words]
    return [f"{struct.unpack('<f', struct.pack('<I', word))[0]:g}" for word in words]
