"""Vector loads, stores, gather, scatter, packed accesses, and the route across sixteen lanes."""

from __future__ import annotations

from larrabee_bridge.vpu.isa.declarations import (
    DST,
    INDICES,
    MEMORY,
    SRC,
    VALUE,
    WHERE,
    WIDE_SRC,
    A,
    Pipe,
    VectorFamily,
    count,
    declare,
)
from larrabee_bridge.vpu.isa.meanings import (
    Type,
    address,
    masked,
    plus,
    source,
    wide_mask,
    wide_source,
    wide_write,
    write,
)
from larrabee_bridge.vpu.isa.operands import LANES, Memory, Vector, VectorSource
from pixelflow.simd.lanes.algebra import Bit, Word
from pixelflow.simd.lanes.numbers import NumberAlgebra
from pixelflow.simd.units import Standing

_PROTOTYPE = "Larrabee new instructions C++ prototype library (Intel 2009)"
_LINES = "Seiler et al. 2008, 3.3: usually one cache line a cycle"


@declare("vloadps", 0x61, DST, SRC, family=VectorFamily.CONVERT)
def vloadps(lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource) -> None:
    """Load floats, or copy a register through a swizzle; what is narrower in memory is widened to floats."""
    write(lanes, dst, source(lanes, src, Type.FLOAT))


@declare("vloadpi", 0x62, DST, SRC, family=VectorFamily.CONVERT)
def vloadpi(lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource) -> None:
    """Load integers, or copy a register through a swizzle; uint8 and sint16 are widened to integers.

    unorm8 and float16 become floats here too, since they are not integers.
    """
    write(lanes, dst, source(lanes, src, Type.INTEGER))


@declare("vstored", 0x63, MEMORY, VALUE, family=VectorFamily.MEMORY, pipe=Pipe.EITHER, source="Seiler et al. 2008, 3.2")
def vstored(lanes: NumberAlgebra[Word, Bit], memory: Memory, value: Vector) -> None:
    """Store sixteen words starting at [memory], under a mask: disabled words of memory keep their values."""
    places = plus(lanes, address(lanes, memory), lanes.series([4 * lane for lane in range(LANES)]))
    lanes.put(places, lanes.load(value.number), 4, masked(lanes, memory))


@declare("vloadq", 0x8B, DST, WIDE_SRC, family=VectorFamily.CONVERT, source=_PROTOTYPE)
def vloadq(lanes: NumberAlgebra[Word, Bit], dst: Vector, src: VectorSource) -> None:
    """Load eight numbers of 64 bits, or copy a register through a swizzle of them."""
    wide_write(lanes, dst, wide_source(lanes, src))


@declare("vstoreq", 0x8C, MEMORY, VALUE, family=VectorFamily.MEMORY, pipe=Pipe.EITHER, source=_PROTOTYPE)
def vstoreq(lanes: NumberAlgebra[Word, Bit], memory: Memory, value: Vector) -> None:
    """Store eight numbers of 64 bits starting at [memory]; disabled ones keep their values in memory."""
    places = plus(lanes, address(lanes, memory), lanes.series([4 * lane for lane in range(LANES)]))
    lanes.put(places, lanes.load(value.number), 4, wide_mask(lanes, memory))


@declare("vgatherd", 0x64, DST, INDICES, WHERE, family=VectorFamily.MEMORY, source=_LINES)
def vgatherd(lanes: NumberAlgebra[Word, Bit], dst: Vector, indices: Vector, where: Memory) -> None:
    """Gather: each enabled lane of dst takes the word at [where] plus its own offset in bytes."""
    enabled = masked(lanes, dst)
    places = plus(lanes, address(lanes, where), lanes.load(indices.number))
    lanes.store(dst.number, lanes.fetch(places, 4, enabled), enabled)


@declare("vscatterd", 0x65, MEMORY, INDICES, VALUE, family=VectorFamily.MEMORY, source=_LINES)
def vscatterd(lanes: NumberAlgebra[Word, Bit], memory: Memory, indices: Vector, value: Vector) -> None:
    """Scatter: each enabled lane writes its word to [memory] plus its own offset in bytes.

    Where lanes meet, the highest wins.
    """
    places = plus(lanes, address(lanes, memory), lanes.load(indices.number))
    lanes.put(places, lanes.load(value.number), 4, masked(lanes, memory))


def _packed(lanes: NumberAlgebra[Word, Bit], memory: Memory, enabled: Bit | None) -> Word:
    """Return the address of each enabled lane's word: consecutive, starting with the lowest lane."""
    rank = lanes.rank(lanes.bit(True) if enabled is None else enabled)
    return plus(lanes, address(lanes, memory), lanes.shift_up(rank, lanes.word(2)))


@declare("vcompressd", 0x66, MEMORY, VALUE, family=VectorFamily.MEMORY, source=_LINES)
def vcompressd(lanes: NumberAlgebra[Word, Bit], memory: Memory, value: Vector) -> None:
    """Packed store: the words of the enabled lanes, one after the other, starting at [memory].

    The hardware splits it at the end of a cache line; here it is one instruction that touches one line or two.
    """
    where = masked(lanes, memory)
    lanes.put(_packed(lanes, memory, where), lanes.load(value.number), 4, where)


@declare("vexpandd", 0x67, DST, WHERE, family=VectorFamily.MEMORY, source=_LINES)
def vexpandd(lanes: NumberAlgebra[Word, Bit], dst: Vector, where: Memory) -> None:
    """Packed load: the enabled lanes of dst take consecutive words starting at [where]."""
    enabled = masked(lanes, dst)
    lanes.store(dst.number, lanes.fetch(_packed(lanes, where, enabled), 4, enabled), enabled)


@declare("vcompressq", 0x8D, MEMORY, VALUE, family=VectorFamily.MEMORY, source=_PROTOTYPE)
def vcompressq(lanes: NumberAlgebra[Word, Bit], memory: Memory, value: Vector) -> None:
    """Packed store: the enabled numbers of 64 bits, one after the other, starting at [memory]."""
    where = wide_mask(lanes, memory)
    lanes.put(_packed(lanes, memory, where), lanes.load(value.number), 4, where)


@declare("vexpandq", 0x8E, DST, WHERE, family=VectorFamily.MEMORY, source=_PROTOTYPE)
def vexpandq(lanes: NumberAlgebra[Word, Bit], dst: Vector, where: Memory) -> None:
    """Packed load: the enabled lanes of dst take consecutive numbers of 64 bits starting at [where]."""
    enabled = wide_mask(lanes, dst)
    lanes.store(dst.number, lanes.fetch(_packed(lanes, where, enabled), 4, enabled), enabled)


@declare(
    "vshuf128x32",
    0x68,
    *(DST, A, count("fours", 0, 255), count("within", 0, 255)),
    family=VectorFamily.CONVERT,
    standing=Standing.INVENTED,
)
def vshuf128x32(lanes: NumberAlgebra[Word, Bit], dst: Vector, a: Vector, fours: int, within: int) -> None:
    """Route across sixteen lanes: four-lane groups by ``fours``, then lanes within each by ``within``.

    Two bits each, lowest first: lane i of four takes lane ``within >> 2 * i & 3``. The name is published, the order of
    the constants recalled.
    """
    sources = [4 * (fours >> 2 * (lane // 4) & 3) + (within >> 2 * (lane % 4) & 3) for lane in range(LANES)]
    write(lanes, dst, lanes.route(lanes.load(a.number), sources))


@declare("vprefetch1", 0x69, WHERE, family=VectorFamily.MEMORY, pipe=Pipe.EITHER, source="Seiler et al. 2008, 3.2")
def vprefetch1(lanes: NumberAlgebra[Word, Bit], where: Memory) -> None:
    """Prefetch a line into the L1 cache; no register and no byte of memory changes, and nothing waits for it."""
    lanes.fetch(address(lanes, where), 1)


@declare("vprefetch2", 0x6A, WHERE, family=VectorFamily.MEMORY, pipe=Pipe.EITHER, source="Seiler et al. 2008, 3.2")
def vprefetch2(lanes: NumberAlgebra[Word, Bit], where: Memory) -> None:
    """Prefetch a line into the L2 slice; no register and no byte of memory changes, and nothing waits for it."""
    lanes.fetch(address(lanes, where), 1)


@declare("vevict", 0x6B, WHERE, family=VectorFamily.MEMORY, pipe=Pipe.EITHER, source="Seiler et al. 2008, 3.2")
def vevict(lanes: NumberAlgebra[Word, Bit], where: Memory) -> None:
    """Mark a line for early eviction: of its sets in both caches it is the next one to leave. No byte changes."""
    lanes.fetch(address(lanes, where), 1)
