"""What a run did in which no time was simulated: counts, and not a single cycle."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from pixelflow.isa import Program
from pixelflow.simd.report import Report, Shown, counted, overview, plain_table

__all__ = ["UntimedRun"]


@dataclass(frozen=True, slots=True, repr=False)
class UntimedRun(Shown):
    """The account of one stream of a function-only run. It knows no cycles."""

    program: Program
    engine: str
    stream: str
    executed: tuple[int, ...]
    """How often each instruction of ``program.instructions`` was executed."""
    stages: tuple[str, ...]
    """MARKs in the order they were met."""
    calls: dict[str, int]
    """How often each routine was called."""
    moved: dict[str, int]
    """Bytes of data that transfers moved, by way (`texture_unit.WAYS`), for both streams together."""
    reason: str = "halt"
    """Why the run ended: ``halt``, or what stopped it."""
    beside: UntimedRun | None = None
    """The account of the texture stream that ran beside this one."""

    def __repr__(self) -> str:
        name, count = self.program.name, self.instructions
        return f"UntimedRun({name!r}, {self.stream}, {count} instructions, no time simulated, engine {self.engine})"

    def report(self) -> Report:
        """Return what the streams executed, passed and called, and the bytes that moved."""
        tables = (
            plain_table(("stream", "instructions"), tuple((each.stream, each.instructions) for each in self.streams)),
            plain_table(("stage", "times"), tuple(self.by_stage.items())),
            plain_table(("routine", "calls"), tuple(self.calls.items())),
            plain_table(("instruction", "times"), tuple(self.by_mnemonic.items())),
            plain_table(("moved from, to", "bytes"), tuple((way, count) for way, count in self.moved.items() if count)),
        )
        facts = (
            ("program", f"{self.program.name or '(without a name)'} ({self.program.sha256[:12]})"),
            ("engine", self.engine),
            ("time", "none was simulated"),
            *((("ended by", self.reason),) if self.reason != "halt" else ()),
        )
        total = sum(each.instructions for each in self.streams)
        return overview(f"function-only run of {counted(total, 'instruction')}", facts, tables)

    @property
    def streams(self) -> tuple[UntimedRun, ...]:
        """This account and the one beside it."""
        return (self,) if self.beside is None else (self, self.beside)

    @property
    def instructions(self) -> int:
        """Instructions executed, control included."""
        return sum(self.executed)

    @property
    def by_mnemonic(self) -> dict[str, int]:
        """How often the instructions of each mnemonic were executed, the most frequent first."""
        totals: Counter[str] = Counter()
        for instruction, times in zip(self.program.instructions, self.executed, strict=True):
            totals[instruction.declaration.mnemonic] += times
        return {mnemonic: times for mnemonic, times in totals.most_common() if times}

    @property
    def by_stage(self) -> dict[str, int]:
        """How often each stage was begun, in the order of their first MARK."""
        return dict(Counter(self.stages))
