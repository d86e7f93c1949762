"""PE memory as named ranges: overlap checks and automatic placement."""

from __future__ import annotations

from dataclasses import dataclass

from microcode.language.data import LANE_BYTES, DataKind, data_bytes
from microcode.language.values import Range, Value
from pixelflow.simd.errors import InputError, Place, must_be
from pixelflow.simd.isa.program import AssembledProgram, DataBlock, MemoryRange, RangeForm
from pixelflow.simd.isa.target import ProgramTarget
from pixelflow.simd.report import counted

__all__ = ["MemoryLayout"]


@dataclass(frozen=True, slots=True)
class _Taken:
    """Bytes of a range that overlaps no other."""

    name: str
    start: int
    end: int
    where: str
    placed: bool = False
    """Whether the assembler chose the address."""

    def overlaps(self, start: int, end: int) -> bool:
        return self.start < end and start < self.end

    def __str__(self) -> str:
        return f"range {self.name}, bytes {self.start}..{self.end - 1}" + (f" ({self.where})" if self.where else "")


def _where(place: Place | None) -> str:
    return f"{place.file}:{place.line}" if place else ""


class MemoryLayout:
    """The ranges, scratch areas and initial contents of a program under construction."""

    def __init__(self, target: ProgramTarget[AssembledProgram]) -> None:
        self._target = target
        self._ranges: dict[str, Range] = {}
        self._places: dict[str, str] = {}
        self._forms: dict[str, str] = {}
        self._taken: list[_Taken] = []
        self._used = bytearray(target.memory_bytes)
        """1 for each byte that automatic placement must not take."""
        self._data: list[tuple[DataBlock, str]] = []

    def range(
        self,
        name: str,
        size: int,
        at: int | None = None,
        *,
        form: RangeForm | str | None = None,
        place: Place | None = None,
    ) -> Range:
        """Declare a range; without ``at`` it gets the first free bytes of main memory.

        Raises InputError where it overlaps another range, leaves the PE, finds no room, or has no room for its form.
        """
        self._new_name(name)
        self._declare(name, size, form)
        start = self._free(name, size) if at is None else at
        self._inside(name, start, size)
        for taken in self._taken:
            if taken.overlaps(start, start + size):
                raise InputError(f"range {name}, bytes {start}..{start + size - 1}, overlaps {taken}")
        self._taken.append(_Taken(name, start, start + size, _where(place), at is None))
        return self._add(name, start, size, place)

    def overlay(
        self, name: str, size: int, at: int, *, form: RangeForm | str | None = None, place: Place | None = None
    ) -> Range:
        """Declare a range that may overlap others on purpose."""
        self._new_name(name)
        self._declare(name, size, form)
        self._inside(name, at, size)
        return self._add(name, at, size, place)

    def scratch(self, routine: str, start: int, size: int, *, place: Place | None = None) -> None:
        """Note that a routine uses bytes as scratch: automatic placement avoids them.

        Raises InputError where they leave the PE or a range that the assembler placed earlier lies there.
        """
        self._inside(f"scratch of {routine}", start, size, kind="")
        for taken in self._taken:
            itself = (taken.start, taken.end) == (start, start + size)
            if taken.placed and not itself and taken.overlaps(start, start + size):
                area = f"scratch of {routine}, bytes {start}..{start + size - 1}"
                raise InputError(f"{area}, overlaps {taken}, which was placed before; put the routine first")
        self._use(start, size)

    def data(self, start: int, room: int, kind: DataKind, values: tuple[Value, ...], place: Place | None) -> None:
        """Set initial memory from ``start`` on; ``room`` bytes may be written.

        Raises InputError where the values do not fit, or another data section writes the same bytes.
        """
        if kind is DataKind.LANE:
            size = values[0] if values else room
            if not isinstance(size, int) or not 1 <= size <= min(room, LANE_BYTES):
                raise InputError(f"a lane number takes 1..{min(room, LANE_BYTES)} bytes, not {size}")
            block = DataBlock(start, (), size)
        else:
            try:
                found = data_bytes(kind, values)
            except ValueError as error:
                raise InputError(str(error)) from None
            if len(found) > room:
                raise InputError(f"{len(found)} bytes of data, but there is room for {room}")
            block, size = DataBlock(start, found), len(found)
        for other, where in self._data:
            end = other.start + (other.lanes or len(other.values))
            if start < end and other.start < start + size:
                raise InputError(f"bytes {start}..{start + size - 1} have data already" + (f" ({where})" * bool(where)))
        self._data.append((block, _where(place)))

    def room(self, start: int) -> int:
        """Return how many bytes there are from an address to the end of the range it lies in, or of the PE."""
        ends = [item.end for item in self._ranges.values() if item.start <= start < item.end]
        return max(ends, default=self._target.memory_bytes) - start

    @property
    def ranges(self) -> tuple[MemoryRange, ...]:
        """All ranges, by address."""
        found = sorted(self._ranges.values(), key=lambda item: (item.start, item.size, item.name))
        return tuple(MemoryRange(item.name, item.start, item.size, self._forms[item.name]) for item in found)

    @property
    def blocks(self) -> tuple[DataBlock, ...]:
        """Initial memory, by address."""
        return tuple(sorted((block for block, _ in self._data), key=lambda block: block.start))

    def _declare(self, name: str, size: int, form: RangeForm | str | None) -> None:
        """Note the form of a range of at least one byte."""
        must_be(size, int, f"a number of bytes for range {name}")
        if size < 1:
            raise InputError(f"range {name} has size {size}; a range has at least one byte")
        try:
            declared = None if form is None else RangeForm(form)
        except ValueError:
            raise InputError(f"{form!r} is not a form: {', '.join(each.value for each in RangeForm)}") from None
        misfit = "" if declared is None else declared.misfit(size)
        if misfit:
            raise InputError(f"range {name} has {counted(size, 'byte')}; {misfit}")
        self._forms[name] = "" if declared is None else declared.value

    def _new_name(self, name: str) -> None:
        if name in self._ranges:
            where = self._places[name]
            raise InputError(f"range {name} is declared twice" + (f", first in {where}" if where else ""))

    def _add(self, name: str, start: int, size: int, place: Place | None) -> Range:
        found = self._ranges[name] = Range(name, start, size)
        self._use(start, size)
        self._places[name] = _where(place)
        return found

    def _inside(self, name: str, start: int, size: int, *, kind: str = "range ") -> None:
        limit = self._target.memory_bytes
        if start < 0 or size < 1 or start + size > limit:
            span = f"{kind}{name}, bytes {start}..{start + size - 1}"
            raise InputError(f"{span}, leaves {self._target.owner}: its memory is 0..{limit - 1}")

    def _free(self, name: str, size: int) -> int:
        """Return the first address in main memory where ``size`` bytes are free."""
        limit, step = self._target.placed_bytes, self._target.alignment
        start = self._used.find(bytes(size), 0, limit) if 0 <= size <= limit else -1
        while start > 0 and start % step:
            start = self._used.find(bytes(size), start + step - start % step, limit)
        if start < 0:
            raise InputError(f"no room for range {name}: main memory has no {size} free bytes in a row")
        return start

    def _use(self, start: int, size: int) -> None:
        self._used[start : start + size] = b"\1" * size
