"""Moves and selection."""

from __future__ import annotations

from gen6_bridge.code.isa.declarations import DST, SRC0, SRC1, EuFamily, declare
from gen6_bridge.code.isa.encoding.operands import EuDestination, Source, SourceRegion
from gen6_bridge.code.isa.encoding.text import TextShape
from gen6_bridge.code.isa.encoding.types import ExecutionType
from gen6_bridge.code.isa.meanings.execution import Execution
from pixelflow.simd.lanes.algebra import Bit, Word

__all__: list[str] = []


@declare("mov", 1, DST, SRC0, family=EuFamily.MOVE)
def _mov(run: Execution[Word, Bit], dst: EuDestination, src0: Source) -> None:
    """Move, converting: dst = src0.

    A float moved to a float without modifier and saturation keeps every bit; denormals of others become zeros.
    """
    if run.execution_type(src0) is ExecutionType.F:
        modified = isinstance(src0, SourceRegion) and src0.modified
        raw = dst.type.floats and not modified and not run.controls.saturates
        run.give_float(dst, run.float(src0, raw=raw), raw=raw)
    else:
        run.give_integer(dst, run.integer(src0))


@declare("sel", 2, DST, SRC0, SRC1, family=EuFamily.MOVE, shape=TextShape("sel", True, 2, shows_flag=False))
def _sel(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Select: dst = src0 where the predicate holds, else src1; with a condition, where it holds between the sources.

    ``sel.l`` is the smaller of two, ``sel.ge`` the larger. Flags stay. A predicate that chooses disables nothing.
    """
    lanes, floats = run.lanes, run.execution_type(src0, src1) is ExecutionType.F
    condition = run.controls.selector
    run.chooses = not condition
    if floats:
        x, y = run.float(src0), run.float(src1)
        if condition:
            # With a NaN on one side minimum and maximum give the other.
            equal, less = lanes.float_equal(x, y), lanes.float_less(x, y)
            first_nan, second_nan = (lanes.complement(lanes.float_equal(each, each)) for each in (x, y))
            chosen = run.condition(equal, less, lanes.either(first_nan, second_nan))
            chosen = lanes.both(lanes.either(chosen, second_nan), lanes.complement(first_nan))
        else:
            chosen = run.predicate
        run.give_selected(dst, lanes.select(chosen, x, y), None)
        return
    a, b = run.integer(src0), run.integer(src1)
    if condition:
        chosen = run.condition(run.integers.equal(a, b), run.integers.less(a, b), lanes.bit(False))
    else:
        chosen = run.predicate
    run.give_selected(dst, None, run.integers.chosen(chosen, a, b))
