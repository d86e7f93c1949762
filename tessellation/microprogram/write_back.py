"""Write-back of results while control points come in: the part of them for each read (thesis 4.1.4).

TAS_MemRdGp4 and TAS_MemRdGp8 read for the PEs and send a part of their output ports to the GPs at the same time. Two
ways of overlap use them, alone or together. *Fine-grain*: the points of a pass leave while its derivatives are computed
(table 11). *Coarse-grain*: the results of a pass leave while the next pass is computed; the EMCs copy them into the
ports before they load the addresses of that pass, which have their place in front of them.

A read and the part sent with it both end when the later of the two does. So results are cut into parts of nearly equal
size, one for each read and one for the time after the last, and each goes from as many modules at a time as there are
GPs. No part is so long that the EMCs would wait for it during a read: parts without a read leave after the last one,
during the rest of the arithmetic. For the thesis's own case, points to one GP, this gives the coordinates of one module
each of table 11.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from microcode import Mem
from pixelflow.config import THESIS, ArrayConfig
from pixelflow.simd.errors import InternalError
from tessellation.microprogram.gp_traffic import Returned
from tessellation.microprogram.ports import ARRIVED, FREE, PORT_START, Chance, Keeping, emit_into_port
from tessellation.plan.memory_map import FLOAT_BYTES
from tessellation.plan.schedule import Stage

if TYPE_CHECKING:  # a kept program is found without the assembler
    from microcode import Builder

_LEAST = 3
"""Bytes of the smallest part: fewer would take no less time than the read."""


class WrittenFloat(NamedTuple):
    """A float to be written back: its place in PE memory, and the first read (starting at 0) with which it can go."""

    place: int
    ready: int = 0


class WrittenFloats(NamedTuple):
    """Floats that PEs send, in the order in which they are ready; ``first`` is the first of the six of a result."""

    sent: Returned
    floats: tuple[WrittenFloat, ...]
    first: int = 0

    @property
    def most_parts(self) -> int:
        """The most parts that these floats can be cut into."""
        return -(-FLOAT_BYTES * len(self.floats) // _LEAST) * len(self.sent.groups)


class _Part(NamedTuple):
    """Bytes that every PE of some modules sends."""

    sent: Returned
    modules: int
    start: int
    size: int
    ready: int


class WriteBack:
    """The plan of what is written back during the reads of a pass, which may be nothing."""

    def __init__(
        self,
        array: ArrayConfig = THESIS.array,
        reads: int = 0,
        before: WrittenFloats | None = None,
        own: WrittenFloats | None = None,
        *,
        most: int = 0,
        narrow_to: int | None = None,
        apart: bool = False,
        keeping: Keeping | None = None,
    ) -> None:
        """The floats of the pass ``before`` go first, then this pass's ``own``; the pass has this many reads.

        ``most`` are the bytes of the largest part, sent in about the time of the arithmetic from read to read. Own
        floats longer than binary32 are rounded on their way to the port, in PE memory at ``narrow_to``. If the reads
        are ``apart``, each begins only when its values are the next to be used. ``keeping`` are the writes to texture
        memory during the pass.
        """
        self.apart = apart
        self.keeping = Keeping() if keeping is None else keeping
        self._array, self._before, self._own, self._narrow_to = array, before, own, narrow_to
        self._size = 0
        self._beside: dict[int, _Part] = {}
        self._left: tuple[_Part, ...] = ()
        self._marks: dict[int, Returned] = {}
        """The PEs to be marked before a read, by its number."""
        sendings = [one for one in (before, own) if one is not None]
        self._first = sendings[0].sent if sendings else None
        if sendings:
            self._deal(sendings, reads, most)

    def _deal(self, sendings: Sequence[WrittenFloats], reads: int, most: int) -> None:
        """Deal parts out to the reads."""
        total = sum(FLOAT_BYTES * len(one.floats) * len(one.sent.groups) for one in sendings)
        chances = reads - sendings[0].floats[0].ready + 1
        self._size = min(most, max(_LEAST, -(-total // chances)))
        waiting = deque(part for one in sendings for part in self._cut(one))
        for read in range(reads):
            if waiting and waiting[0].ready <= read:
                self._beside[read] = waiting.popleft()
        self._left = tuple(waiting)
        marked = sendings[0].sent
        for read, part in self._beside.items():
            if part.sent.columns != marked.columns:
                self._marks[read] = marked = part.sent
        if any(part.sent.columns != marked.columns for part in self._left):
            raise InternalError("other PEs send after the last read than before it, and nothing marks them")

    def _sizes(self, sending: WrittenFloats) -> tuple[int, ...]:
        total = FLOAT_BYTES * len(sending.floats)
        return tuple(min(self._size, total - start) for start in range(0, total, self._size))

    def _cut(self, sending: WrittenFloats) -> list[_Part]:
        cut, start = [], 0
        for size in self._sizes(sending):
            ready = sending.floats[(start + size - 1) // FLOAT_BYTES].ready
            first = FLOAT_BYTES * sending.first + start
            cut += [_Part(sending.sent, modules, first, size, ready) for modules in sending.sent.groups]
            start += size
        return cut

    @property
    def before_parts(self) -> tuple[int, ...]:
        """Sizes of the parts, one after the other, in which the bytes of the pass before arrive."""
        return () if self._before is None else self._sizes(self._before)

    @property
    def own_parts(self) -> tuple[int, ...]:
        """The same for this pass's own."""
        return () if self._own is None else self._sizes(self._own)

    @property
    def own_floats(self) -> int:
        """Floats of this pass that leave during it."""
        return 0 if self._own is None else len(self._own.floats)

    @property
    def rest(self) -> bool:
        """True if something leaves after the last read."""
        return bool(self._left)

    def emit_ahead(self, builder: Builder) -> None:
        """Emit the copies of the floats of the pass before, 8 cycles a float, with all PEs enabled."""
        if self._before is None:
            return
        builder.mark(Stage.RETURN.value)
        builder.emit("EMC_SetEnab")
        for index, one in enumerate(self._before.floats, start=self._before.first):
            emit_into_port(builder, one.place, FLOAT_BYTES * index, FLOAT_BYTES)

    def emit_into_port(self, builder: Builder, read: int) -> None:
        """Emit the copies of floats that can leave during the next read, and marks if other PEs send then."""
        own = [] if self._own is None else list(enumerate(self._own.floats, start=self._own.first))
        ready = [(index, one.place) for index, one in own if one.ready == read + 1]
        marks = self._marks.get(read + 1)
        if ready or marks is not None:
            builder.mark(Stage.RETURN.value)
        for index, place in ready:
            if self._narrow_to is not None:
                builder.call("narrow", Mem(self._narrow_to), Mem(place))
                place = self._narrow_to
            emit_into_port(builder, place, FLOAT_BYTES * index, FLOAT_BYTES)
        if marks is not None:
            marks.marks(builder, self._array)

    def emit_start(self, builder: Builder) -> None:
        """Emit the marks of the PEs that send first, 3 or 6 cycles, and in the stream of the TIGC the choice of GPs."""
        if self._first is None:
            return
        builder.emit("EMC_SetEnab")
        self._first.marks(builder, self._array)
        builder.stream("tigc")
        builder.emit("TAS_SetOrder", 0)
        builder.stream("eigc")

    def emit_alone(self, builder: Builder) -> None:
        """Emit all that is written back in a pass that reads nothing."""
        if self._first is None:
            return
        self.emit_start(builder)
        builder.emit("SIGNAL", FREE)
        builder.stream("tigc")
        self.emit_rest(builder)
        builder.stream("eigc")

    def emit_way(self, builder: Builder, read: int) -> None:
        """Emit the destination of the part sent with a read, for the TIGC: two cycles a module, before it waits."""
        if read in self._beside:
            self._emit_way(builder, self._beside[read])

    def emit_read(self, builder: Builder, read: int, instruction: str, *operands: int) -> bool:
        """Emit an instruction that reads and sends, if a part leaves during this read; ``operands`` are its first."""
        part = self._beside.get(read)
        if part is None:
            return False
        builder.emit(instruction, *operands, part.modules, PORT_START + part.start, part.size)
        return True

    def emit_rest(self, builder: Builder) -> None:
        """Emit what leaves after the last read, in the stream of the TIGC."""
        if not self._left:
            return
        builder.mark(Stage.PORTS.value)
        builder.emit("WAIT", FREE)
        builder.mark(Stage.RETURN.value)
        for part in self._left:
            self._emit_way(builder, part)
            builder.emit("TAS_GpWrite", part.modules, PORT_START + part.start, part.size)
        builder.emit("SIGNAL", ARRIVED)

    def _emit_way(self, builder: Builder, part: _Part) -> None:
        part.sent.emit_gps(builder, part.modules)
        part.sent.emit_addresses(builder, self._array, part.start, part.modules)


def emit_transfers(
    builder: Builder,
    transfers: int,
    write_back: WriteBack,
    read: tuple[str, *tuple[int, ...]],
    read_and_send: tuple[str, *tuple[int, ...]],
) -> None:
    """Emit the transfers in the stream of the TIGC, each with its handshake and the write-back during it.

    ``read`` is the instruction of a transfer with its operands, ``read_and_send`` the one that also sends results, with
    its first operands.
    """
    for number in range(transfers):
        builder.mark(Stage.PORTS.value)
        builder.emit("TAS_SetCounter", number)
        write_back.emit_way(builder, number)
        builder.emit("WAIT", FREE)
        builder.mark(Stage.read(number + 1))
        if not write_back.emit_read(builder, number, *read_and_send):
            builder.emit(*read)
        builder.emit("SIGNAL", ARRIVED)
    write_back.emit_rest(builder)
    write_back.keeping.emit_writes(builder)
    builder.stream("eigc")


def emit_start(builder: Builder, write_back: WriteBack) -> None:
    """Emit the copies into the ports before the first transfer, and the signal that starts it."""
    write_back.emit_start(builder)
    if not write_back.apart:
        builder.emit("SIGNAL", FREE)


def emit_arrival(builder: Builder, number: int, write_back: WriteBack) -> None:
    """Emit the wait for a transfer; its copy out of the ports follows, with all PEs enabled."""
    builder.mark((Stage.STALL if number else Stage.FIRST_STALL).value)
    if write_back.apart:
        builder.emit("SIGNAL", FREE)
    builder.emit("WAIT", ARRIVED)
    builder.mark(Stage.COPY.value)
    if number == 0:
        builder.emit("EMC_SetEnab")


def emit_freed(builder: Builder, number: int, transfers: int, write_back: WriteBack) -> None:
    """Emit the copies into the ports after a transfer has been taken out of them, and the signal for the next one."""
    write_back.emit_into_port(builder, number)
    if (number + 1 < transfers and not write_back.apart) or write_back.rest:
        builder.emit("SIGNAL", FREE)
    if number + 1 == transfers:
        write_back.keeping.emit(builder, Chance.READ, Stage.DISTRIBUTION)
    builder.mark(Stage.DISTRIBUTION.value)
