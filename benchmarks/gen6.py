"""How fast programs of the Gen6 EU are simulated: threads side by side, by numpy and as native code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter

import numpy as np

from benchmarks.benchmark import Benchmark, Case, Note
from gen6_bridge.program import EuProgram, assemble_eu
from gen6_bridge.unit import ExecutionUnit
from pixelflow.simd.report import Column, Fact, Json, Part, Table, number, spread

_THREADS = 64
_CHANNELS = 16
_TURNS = 50
_ENGINES = {"numpy": "rows", "native code": "compiled"}
_BODY = """
add (16) g20<1>F g10<8,8,1>F g12<8,8,1>F
mul (16) g22<1>F g20<8,8,1>F g12<8,8,1>F
add (16) g24<1>D g20<8,8,1>D g22<8,8,1>D
mac (16) g26<1>F g10<8,8,1>F g12<8,8,1>F
mov (16) g28<1>F g24<8,8,1>D
and (16) g30<1>UD g24<8,8,1>UD 255UD
cmp.l.f0.0 (16) null<1>F g26<8,8,1>F g10<8,8,1>F
(+f0.0) mov (16) g32<1>F g10<8,8,1>F
"""


class _Shading:
    """The work of a benchmark."""

    def __init__(self) -> None:
        self.operations = 0

    def prepare(self, rounds: int, note: Note) -> Iterator[tuple[str, list[Case]]]:
        program = assemble_eu(_BODY * _TURNS)
        self.operations = len(program.code) * _THREADS * _CHANNELS
        cases = []
        for name, engine in _ENGINES.items():
            unit = _unit(program, engine)
            unit.run()  # native code is made once
            cases.append(Case(name, lambda unit=unit: (_again(unit),)))  # type: ignore[misc]
        yield "", cases

    def report(self, cases: Sequence[Case]) -> list[Part]:
        """Return the times, and channel-operations a second."""
        rows = [(each.name, each.spread(), round(self.operations / each.median())) for each in cases]
        columns = (
            Column("by", fixed=True, key="engine"), Column("s [min..max]", spread(4), "seconds"),
            Column("channel-operations/s", number, "rate"),
        )  # fmt: skip
        about: dict[str, Json] = {"threads": _THREADS, "channels": _CHANNELS, "operations": self.operations}
        return [
            *(Fact(None, key=f"gen6.{key}", value=value) for key, value in about.items()),
            Table(columns, rows, key="gen6.seconds", named="engine"),
        ]


def _unit(program: EuProgram, engine: str) -> ExecutionUnit:
    unit = ExecutionUnit(program.code, _THREADS, engine=engine)
    unit.set_register(10, np.linspace(1, 2, 32, dtype=np.float32))
    return unit


def _again(unit: ExecutionUnit) -> float:
    """Return the seconds of a run from the first instruction on."""
    unit.restart()
    begin = perf_counter()
    unit.run()
    return perf_counter() - begin


_WORK = _Shading()
SHADING = Benchmark(_WORK.prepare, _WORK.report)
"""Times of 400 instructions of sixteen channels in 64 threads."""
