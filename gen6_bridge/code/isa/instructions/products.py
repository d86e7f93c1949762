"""Planes, lines and dot products of floats."""

from __future__ import annotations

from gen6_bridge.code.isa.declarations import DST, SRC0, SRC1, EuFamily, declare, described
from gen6_bridge.code.isa.encoding.operands import REGISTER_BYTES, EuDestination, File, Source, SourceRegion
from gen6_bridge.code.isa.encoding.text import TextShape
from gen6_bridge.code.isa.meanings.execution import Execution
from gen6_bridge.code.isa.meanings.places import elements
from gen6_bridge.code.isa.meanings.state import CHANNELS
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.units import Standing

__all__: list[str] = []

_ORDER = "Mesa; the order of additions and whether products are rounded are not public"


def _coefficient(run: Execution[Word, Bit], src0: Source, component: int) -> Word:
    return _float_at(run, src0, (4 * component,) * CHANNELS)


def _float_at(run: Execution[Word, Bit], source: Source, places: tuple[int, ...]) -> Word:
    if not isinstance(source, SourceRegion) or source.file is not File.GENERAL or source.address is not None:
        raise MachineFault("planes and coordinates lie in general registers")
    return run.flushed(run.signs(run.at(source, places), source))


@declare("line", 89, DST, SRC0, SRC1, family=EuFamily.PRODUCT, floats=True, standing=Standing.INVENTED, source=_ORDER)
def _line(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Line: dst = s.x * src1 + s.w, where s are the four floats from src0 on."""
    slope, origin = _coefficient(run, src0, 0), _coefficient(run, src0, 3)
    run.give_float(dst, run.multiply_add(slope, run.float(src1), origin))


@declare(
    "pln", 90, DST, SRC0, SRC1, family=EuFamily.PRODUCT, floats=True, pairs=True, standing=Standing.INVENTED,
    source=_ORDER,
)  # fmt: skip
def _pln(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
    """Plane: dst = s.x * u + s.y * v + s.w, where s are the four floats from src0 on.

    u and v lie in pairs of registers from src1 on: u of channels 0 to 7, their v, then u and v of channels 8 to 15.
    """
    starts = [max(each, 0) // 8 * 2 * REGISTER_BYTES + max(each, 0) % 8 * 4 for each in elements(run.span)]
    u, v = (_float_at(run, src1, tuple(each + half * REGISTER_BYTES for each in starts)) for half in (0, 1))
    first = run.multiply_add(_coefficient(run, src0, 0), u, _coefficient(run, src0, 3))
    run.give_float(dst, run.multiply_add(_coefficient(run, src0, 1), v, first))


def _dot(mnemonic: str, opcode: int, terms: int, text: str, *, homogeneous: bool = False) -> None:
    def meaning(run: Execution[Word, Bit], dst: EuDestination, src0: Source, src1: Source) -> None:
        lanes, x, y = run.lanes, run.float(src0), run.float(src1)
        total = None
        for term in range(terms):
            sources = [channel // 4 * 4 + term for channel in range(CHANNELS)]
            a, b = lanes.route(x, sources), lanes.route(y, sources)
            if total is None:
                total = run.product(a, b)
            elif homogeneous and term == 3:
                total = run.flushed(lanes.float_add(b, total))
            else:
                total = run.multiply_add(a, b, total)
        assert total is not None
        run.give_float(dst, total)

    declare(
        mnemonic, opcode, DST, SRC0, SRC1, family=EuFamily.PRODUCT, floats=True, standing=Standing.INVENTED,
        source=_ORDER,
        shape=TextShape(mnemonic, True, 2),
    )(described(meaning, text))  # fmt: skip


_GROUPS = " of each group of four channels, to all four of them."
_dot("dp4", 84, 4, "Dot product of four" + _GROUPS)
_dot("dph", 85, 4, "Dot product of four, the last of src0 taken as 1," + _GROUPS, homogeneous=True)
_dot("dp3", 86, 3, "Dot product of the first three" + _GROUPS)
_dot("dp2", 87, 2, "Dot product of the first two" + _GROUPS)
