"""Native code for stretches of instructions without a branch or a message, by the core's programs for groups."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from gen6_bridge.isa.declarations import EuInstruction, EuUnit
from gen6_bridge.isa.execution import IP, FloatRules, Span
from pixelflow.simd.lanes.engine import Shape
from pixelflow.simd.lanes.form import Part, places_of
from pixelflow.simd.lanes.native.group_program import GroupProgram
from pixelflow.simd.lanes.native.group_run import GroupRuns
from pixelflow.simd.lanes.numbers import record_numbers
from pixelflow.simd.lanes.words import WordsEngine

WORTH = 20_000
"""Instructions times threads after which a stretch is compiled: about what numpy does in the same time."""
_STOPPED = 0xFFFFFFFF


class NativeStretches:
    """Native code of one program's stretches; numpy executes those that cannot be compiled."""

    def __init__(
        self, instructions: Sequence[EuInstruction], spans: Sequence[Sequence[Span]], shape: Shape, rules: FloatRules
    ) -> None:
        self._instructions, self._spans, self._shape, self._rules = instructions, spans, shape, rules
        self._runs: dict[tuple[int, int], GroupRuns | None] = {}
        self._done: dict[tuple[int, int], int] = {}

    def execute(self, lanes: WordsEngine, first: int, past: int, threads: int, *, at_once: bool) -> bool:
        """Execute a stretch natively in all threads; return False, with nothing changed, where that is not possible.

        ``at_once``: compile it the first time, whether or not it is worth it.
        """
        key = first, past
        if key not in self._runs:
            self._done[key] = self._done.get(key, 0) + (past - first) * threads
            if self._done[key] < WORTH and not at_once:
                return False
            self._runs[key] = self._made(first, past)
        runs = self._runs[key]
        return runs is not None and runs.run(lanes, past - first).is_done

    def _made(self, first: int, past: int) -> GroupRuns | None:
        if any(each.declaration.unit is EuUnit.MATH for each in self._instructions[first:past]):
            return None  # recorded forms do not have its functions
        places, parts = places_of(self._shape), list[Part]()
        for number in range(first, past):
            instruction, spans = self._instructions[number], self._spans[number]
            meaning = partial(instruction.execute, arithmetic=self._rules, spans=spans)
            parts.append(record_numbers(meaning, places))
        return GroupRuns(
            GroupProgram(
                shape=self._shape,
                parts=parts,
                branches=[False] * len(parts),
                addresses=range(len(parts) + 1),
                following=IP,
                stopped=_STOPPED,
                begins=[0],
            )
        )
