"""Native code for stretches of instructions without a branch or a message, by the core's programs for groups."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from gen6_bridge.isa.declarations import EuInstruction, EuUnit
from gen6_bridge.isa.execution import IP, FloatRules, Span
from pixelflow.simd.lanes.engine import Shape
from pixelflow.simd.lanes.native.group_run import Stretches

_WORTH = 20_000


def native_stretches(
    instructions: Sequence[EuInstruction], spans: Sequence[Sequence[Span]], shape: Shape, rules: FloatRules
) -> Stretches:
    """Return the native code of one program's stretches; recorded forms do not have the functions of the math unit."""

    def meaning(number: int) -> partial[None] | None:
        instruction = instructions[number]
        if instruction.declaration.unit is EuUnit.MATH:
            return None
        return partial(instruction.execute, arithmetic=rules, spans=spans[number])

    return Stretches(shape, IP, _WORTH, meaning)
