"""Elements of the accumulators that channels have: of an operand that names one, and where one is implied.

The two accumulators are sixteen elements, one a channel: of four bytes acc0 holds eight and acc1 the others, words all
lie in acc0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from gen6_bridge.code.isa.encoding.operands import EuDestination
from gen6_bridge.code.isa.encoding.types import EuType, ExecutionType
from gen6_bridge.code.isa.meanings.places import Span, elements
from gen6_bridge.code.isa.meanings.state import CHANNELS
from pixelflow.simd.errors import MachineFault

__all__ = ["come_from", "explicit_elements", "implied_elements"]


def _there(found: Iterable[int]) -> tuple[int, ...]:
    channels = tuple(found)
    if max(channels) >= CHANNELS:
        raise MachineFault(f"channel {max(channels)} of the accumulator, there are {CHANNELS}")
    return channels


def explicit_elements(places: Sequence[int], kind: EuType) -> tuple[int, ...]:
    """Return for each channel its element of an accumulator that is named; raises MachineFault past the last."""
    return _there(place // max(kind.size, 2) for place in places)


@lru_cache(maxsize=1 << 16)
def implied_elements(operand: EuDestination, computed: ExecutionType, span: Span) -> tuple[int, ...]:
    """Return for each channel its element of an implied accumulator, 0 where it takes no part.

    It has the destination's sub-register and stride: so Intel's compiler has it (HWConformity::fixAcc), and public
    programs rely on it. Of four bytes it is acc1 for the second quarter. An element is as wide as what is computed or
    written, whichever is wider. An indirect destination is taken for one at a register's start. Raises MachineFault
    past the last element.
    """
    size = operand.type.size
    step = size * (operand.stride if operand.mask is None else 1)
    width = min(max(size, computed.size), step or size)
    start = 0 if operand.address is not None else operand.sub
    start += span[0] * width if width >= ExecutionType.D.size else 0
    return _there((start + each * step) // width if each >= 0 else 0 for each in elements(span))


@lru_cache(maxsize=1 << 16)
def come_from(channels: tuple[int, ...], span: Span) -> dict[int, int]:
    """Return by element the channel that has it; nothing where each channel that takes part has its own."""
    own = elements(span)
    come = {to: at for at, to in enumerate(channels) if own[at] >= 0}
    return {} if all(to == at for to, at in come.items()) else come
