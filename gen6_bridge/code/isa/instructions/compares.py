"""Compares."""

from __future__ import annotations

from gen6_bridge.code.isa.declarations import DST, SRC0, SRC1, EuFamily, declare, described
from gen6_bridge.code.isa.encoding.operands import EuDestination, Source
from gen6_bridge.code.isa.encoding.types import ExecutionType
from gen6_bridge.code.isa.meanings.execution import Execution
from pixelflow.simd.lanes.algebra import Bit, Word

__all__: list[str] = []

_TEXT = """Compare: the flags of enabled channels say whether the condition holds between src0 and src1.

Nothing overflows. With a NaN every condition but ``ne`` and ``u`` is false. A destination that is not null takes
all ones where the condition holds, else 0."""


def _compare(mnemonic: str, opcode: int, text: str) -> None:
    def meaning(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
        lanes = run.lanes
        if run.execution_type(src0, src1) is ExecutionType.F:
            x, y = run.float(src0), run.float(src1)
            nan = lanes.complement(lanes.both(lanes.float_equal(x, x), lanes.float_equal(y, y)))
            run.give_condition(dst, run.condition(lanes.float_equal(x, y), lanes.float_less(x, y), nan))
            return
        a, b = run.integer(src0), run.integer(src1)
        holds = run.condition(run.integers.equal(a, b), run.integers.less(a, b), lanes.bit(False))
        run.give_condition(dst, holds)

    declare(mnemonic, opcode, DST, SRC0, SRC1, family=EuFamily.COMPARE)(described(meaning, text))


_compare("cmp", 16, _TEXT)
_compare("cmpn", 17, _TEXT + "\n\nIts rule for NaNs is not public; it is taken for that of ``cmp``.")
