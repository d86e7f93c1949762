"""Repeated runs on the macro engine: what lanes ask for is compared by native code, or known beforehand.

Rows that are asked for in the same way as before are given at once. Where what the lanes ask follows from the program
and from the places of the lanes alone, nobody has to look, and the whole run is one piece of native code: only the
masks with which it begins can make a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pixelflow.node.kernels.folding import FoldedRow, Following
from pixelflow.node.kernels.fusing import FusedItem
from pixelflow.node.kernels.kernel import LANES
from pixelflow.simd.lanes import Shape
from pixelflow.simd.lanes.engine import RepeatedRows
from pixelflow.simd.lanes.form import Part
from pixelflow.simd.lanes.native.compiled_engine import CompiledAction, Foreign

# Rows of lanes compared with bytes that are kept, and given such bytes, in native code.
#
# What is kept lies tile by tile, row by row, as the lanes do in the state. Where the same lanes of every 64 take part,
# only their bytes are kept, and vectors spread them.


_VECTOR = f"<{LANES} x i8>"


@dataclass(frozen=True, slots=True)
class Tiles:
    """How lanes lie in the state: where it begins, bytes and lanes of a tile, bytes from row to row."""

    address: int
    size: int
    lanes: int
    stride: int


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Bytes of consecutive rows starting at ``first``, as native code reads them: uint8[tile, row, byte].

    Bytes that are the same for every 64 lanes are kept once: uint8[1, row, 64], and ``repeats`` is set.
    """

    first: int
    values: NDArray[np.uint8]
    lanes: tuple[int, ...] = tuple(range(LANES))
    """Which of every 64 lanes they are for."""
    repeats: bool = False
    sources: tuple[int, ...] | None = None
    """For each of these lanes which of the bytes it gets that are kept for 64; None where each has its own."""
    blocks: NDArray[np.int64] | None = None
    """Of which block the bytes of each tile are: int64[tile, byte]."""

    @property
    def placing(self) -> Foreign:
        """The native function that gives rows what is kept."""
        return placing(self.lanes, self.sources, repeats=self.repeats)

    def renew(self, blocks: NDArray[np.uint8]) -> None:
        """Keep other bytes of the same blocks: uint8[block, row]."""
        self.values[...] = blocks[self.blocks].transpose(0, 2, 1)

    def operands(self, tiles: Tiles) -> list[int]:
        """Return what native functions get."""
        of_tile = 0 if self.repeats else self.values[0].nbytes
        place = (self.first * tiles.stride, tiles.stride, self.values.shape[1])
        return [tiles.address, tiles.size, self.values.ctypes.data, of_tile, self.values.shape[2], *place]

    def carry_out(self, state: NDArray[np.uint8], differs: NDArray[np.uint8] | None) -> None:
        """Do the same to the rows of a state, uint8[tile, row, lane], without native code."""
        sources = range(len(self.lanes)) if self.sources is None else self.sources
        values = self.values.reshape(len(self.values), len(self.values[0]), -1, 1 + max(sources))
        for number, lane in zip(sources, self.lanes, strict=True):
            if differs is None:
                state[:, :, lane::LANES] = values[..., number]
            else:
                differs[0] |= bool((state[:, :, lane::LANES] != values[..., number]).any())


@dataclass(eq=False, slots=True)
class Motion(CompiledAction):
    """Bytes that are kept are given to rows, or compared with them: then ``differs`` becomes 1 where they are not."""

    kept: Kept = field(kw_only=True)
    differs: NDArray[np.uint8] | None = field(default=None, kw_only=True)


def keep_all(first: int, rows: NDArray[np.uint8], tiles: Tiles) -> Kept:
    """Keep rows of all lanes: uint8[row, lane]."""
    values = rows.reshape(len(rows), -1, tiles.lanes).transpose(1, 0, 2)
    return Kept(first, values.copy())


def keep_some(first: int, rows: NDArray[np.uint8], served: NDArray[np.bool_], tiles: Tiles) -> Kept | None:
    """Keep rows of the lanes that are served; None where these are not the same of every 64, or none."""
    groups = served.reshape(-1, LANES)
    lanes = tuple(np.flatnonzero(groups[0]).tolist())
    if not lanes or (groups != groups[0]).any():
        return None
    chosen = rows.reshape(len(rows), -1, tiles.lanes // LANES, LANES)[..., lanes]
    values = chosen.reshape(len(rows), chosen.shape[1], -1).transpose(1, 0, 2)
    return Kept(first, np.ascontiguousarray(values), lanes)


def keep_shared(first: int, blocks: NDArray[np.uint8], source: NDArray[np.int64], tiles: Tiles) -> Kept | None:
    """Keep blocks, uint8[block, row], of which each lane gets the one that ``source`` says, none where that is -1.

    None where not every 64 lanes share blocks in the same way, or where nobody gets one.
    """
    groups = source.reshape(-1, LANES)
    lanes = tuple(np.flatnonzero(groups[0] >= 0).tolist())
    if not lanes or ((groups >= 0) != (groups[0] >= 0)).any():
        return None
    chosen = groups[:, lanes]
    firsts = [number for number, block in enumerate(chosen[0]) if block not in chosen[0, :number]]
    shared = chosen[:, firsts]
    sources = tuple(int(np.flatnonzero(shared[0] == block)[0]) for block in chosen[0])
    if (shared[:, sources] != chosen).any():
        return None
    of_tile = shared.reshape(len(source) // tiles.lanes, -1)
    return Kept(first, blocks[of_tile].transpose(0, 2, 1).copy(), lanes, sources=sources, blocks=of_tile)


def keep_folded(rows: Sequence[FoldedRow], tiles: Tiles) -> list[Kept] | None:
    """Keep rows that straight code leaves; None where one keeps lanes that are not the same of every 64."""
    found: list[Kept] = []
    alike: list[FoldedRow] = []
    for row in (*sorted(rows, key=lambda row: row.place), None):
        if alike and (row is None or row.place != alike[-1].place + 1 or _kind(row) != _kind(alike[0])):
            repeats, served = _kind(alike[0])
            values = np.array([each.values for each in alike])
            if repeats and served is None:
                found.append(Kept(alike[0].place, np.ascontiguousarray(values[None, :, :LANES]), repeats=True))
            elif served is None:
                found.append(keep_all(alike[0].place, values, tiles))
            else:
                kept = keep_some(alike[0].place, values, np.frombuffer(served, np.bool_), tiles)
                if kept is None:
                    return None
                found.append(kept)
            alike = []
        if row is not None:
            alike.append(row)
    return found


def _kind(row: FoldedRow) -> tuple[bool, bytes | None]:
    """Return whether a row is the same for every 64 lanes, and which lanes are given it, None for all."""
    groups = row.values.reshape(-1, LANES)
    return bool((groups == groups[0]).all()), None if row.kept is None else (~row.kept).tobytes()


_HEAD = """entry:
{loads}
  %tile.at = ptrtoint ptr %tile to i64
  %distance = sub i64 %tile.at, %base
  %number = udiv i64 %distance, %size
  %inside = urem i64 %distance, %size
  %strips = udiv i64 %inside, {lanes}
  %passed = mul i64 %strips, {bytes}
  %tiles.at = mul i64 %number, %each
  %kept.at = add i64 %tiles.at, %passed
  %first.from = getelementptr i8, ptr %kept, i64 %kept.at
  %first.to = getelementptr i8, ptr %tile, i64 %first
  br label %row
row:
  %r = phi i64 [0, %entry], [%r.next, %row.end]
  %from = phi ptr [%first.from, %entry], [%from.next, %row.end]
  %to = phi ptr [%first.to, %entry], [%to.next, %row.end]
  br label %strip
strip:
  %at = phi i64 [0, %row], [%next, %strip]
  %source = phi ptr [%from, %row], [%source.next, %strip]
  %place = getelementptr i8, ptr %to, i64 %at
"""

_TAIL = """
  %source.next = getelementptr i8, ptr %source, i64 {bytes}
  %next = add nuw nsw i64 %at, {lanes}
  %more = icmp ult i64 %next, %lanes
  br i1 %more, label %strip, label %row.end
row.end:
  %from.next = getelementptr i8, ptr %from, i64 %row.bytes
  %to.next = getelementptr i8, ptr %to, i64 %stride
  %r.next = add nuw nsw i64 %r, 1
  %rows.more = icmp ult i64 %r.next, %rows
  br i1 %rows.more, label %row, label %end
end:
"""

_OPERANDS = ("i64 base", "i64 size", "ptr kept", "i64 each", "i64 row.bytes", "i64 first", "i64 stride", "i64 rows")


def _loads(operands: Sequence[str]) -> str:
    lines = []
    for slot, operand in enumerate(operands):
        kind, name = operand.split()
        lines.append(f"  %{name}.place = getelementptr i64, ptr %code, i64 {slot}")
        lines.append(f"  %{name} = load {kind}, ptr %{name}.place")
    return "\n".join([*lines, f"  %past = getelementptr i64, ptr %code, i64 {len(operands)}"])


def placing(lanes: tuple[int, ...], sources: tuple[int, ...] | None = None, *, repeats: bool = False) -> Foreign:
    """Return the function that gives rows what is kept for these of every 64 lanes; others stay as they are.

    Operands: those of `Kept`. ``sources`` tells which of the bytes that are kept for 64 lanes each of them gets, its
    own without. ``repeats`` takes the same bytes for every 64 lanes.
    """
    sources = tuple(range(len(lanes))) if sources is None else sources
    count = 1 + max(sources)
    number = dict(zip(lanes, sources, strict=True))
    order = ", ".join(f"i32 {number.get(lane, 0)}" for lane in range(LANES))
    taken = ", ".join(f"i1 {int(lane in number)}" for lane in range(LANES))
    some = f"<{count} x i8>"
    body = f"""
  %few = load {some}, ptr %source, align 1
  %spread = shufflevector {some} %few, {some} poison, <{LANES} x i32> <{order}>
  %old = load {_VECTOR}, ptr %place, align 16
  %new = select <{LANES} x i1> <{taken}>, {_VECTOR} %spread, {_VECTOR} %old
  store {_VECTOR} %new, ptr %place, align 16"""
    sizes = {"bytes": 0 if repeats else count, "lanes": LANES}
    head = _HEAD.format(loads=_loads(_OPERANDS), **sizes)
    return Foreign(head + body + _TAIL.format(**sizes) + "  ret ptr %past")


def comparing() -> Foreign:
    """Return the function that sets a byte to 1 where a row is not what is kept of it for all lanes.

    Operands: those of `Kept`, the address of the byte.
    """
    body = f"""
  %kept.bytes = load {_VECTOR}, ptr %source, align 1
  %bytes = load {_VECTOR}, ptr %place, align 16
  %other = icmp ne {_VECTOR} %kept.bytes, %bytes
  %other.bits = bitcast <{LANES} x i1> %other to i{LANES}
  %some = load i64, ptr %differs
  %now = or i64 %some, %other.bits
  store i64 %now, ptr %differs"""
    loads = _loads([*_OPERANDS, "ptr flag"])
    sizes = {"bytes": LANES, "lanes": LANES}
    head = _HEAD.format(loads=f"{loads}\n  %differs = alloca i64\n  store i64 0, ptr %differs", **sizes)
    end = """  %all = load i64, ptr %differs
  %wrong = icmp ne i64 %all, 0
  br i1 %wrong, label %tell, label %done
tell:
  store i8 1, ptr %flag
  br label %done
done:
  ret ptr %past"""
    return Foreign(head + body + _TAIL.format(**sizes) + end)


_FULL = ("E", "L")
"""Masks that must be full at the beginning of a run in one piece: every lane is enabled, outside routines."""


class _Engine(Protocol):
    """What is used of the macro engine."""

    shape: Shape
    known: dict[int, NDArray[np.uint8]]

    @property
    def places(self) -> Mapping[str, int]: ...
    def comparing(self, first: int | str, rows: NDArray[np.uint8], differs: NDArray[np.uint8]) -> Motion | None: ...
    def placing(self, first: int, rows: NDArray[np.uint8], served: NDArray[np.bool_]) -> Motion | None: ...
    def placing_shared(self, first: int, blocks: NDArray[np.uint8], source: NDArray[np.int64]) -> Motion | None: ...
    def items(self, action: CompiledAction) -> Iterator[FusedItem]: ...
    def fuse(self, action: CompiledAction) -> None: ...
    def run(self, actions: Iterable[CompiledAction]) -> None: ...
    def settle(self) -> None: ...


@dataclass(eq=False, slots=True)
class _Rows:
    """Rows that are given where lanes ask the same (`RepeatedRows`)."""

    engine: _Engine
    asked: Sequence[tuple[int | str, NDArray[np.uint8]]]
    compare: tuple[Motion, ...]
    differs: NDArray[np.uint8]
    """The first byte is 1 after ``compare`` where lanes ask something else."""
    place: Motion

    def is_asked(self) -> bool:
        """Return whether lanes ask for the same, once ``compare`` has looked."""
        return _is_same(self.engine, self.differs)

    @property
    def is_renewable(self) -> bool:
        """True if other blocks can be given."""
        return self.place.kept.blocks is not None

    def renew(self, blocks: NDArray[np.uint8]) -> bool:
        """Give other blocks from now on."""
        if self.is_renewable:
            self.place.kept.renew(blocks)
        return self.is_renewable


class _Piece:
    """A run as one program of the lanes (`OnePiece`)."""

    def __init__(self, engine: _Engine, look: tuple[Motion, ...], differs: NDArray[np.uint8]) -> None:
        self._engine = engine
        self._look = look
        self._differs = differs
        self._follower = _Follower(engine, _FULL)
        self._actions: list[CompiledAction] = []

    def follow(self, actions: Iterable[CompiledAction]) -> None:
        """Add actions."""
        for action in actions:
            self._actions.append(action)
            self._follower.carry_out(action)

    def asks(self, rows: RepeatedRows) -> bool:
        """Return whether it is known that here the lanes ask the same."""
        return all(self._follower.holds(first, values) for first, values in rows.asked)

    def give(self, rows: RepeatedRows) -> None:
        """Add that rows are given."""
        place: Motion = rows.place
        self._actions.append(place)
        self._follower.forget(place.kept.first, place.kept.values.shape[1])

    def run(self) -> bool:
        """Make the run, where the masks are full."""
        self._engine.run(self._look)
        if not _is_same(self._engine, self._differs):
            return False
        self._engine.run(self._actions)
        return True


class MacroRepeats:
    """What the macro engine offers for runs that come again (`Repeats`)."""

    def __init__(self, engine: _Engine) -> None:
        self._engine = engine

    def fuse(self, action: CompiledAction) -> None:
        """Make the fused code of a chain now."""
        self._engine.fuse(action)

    def rows(
        self,
        asked: Sequence[tuple[int | str, NDArray[np.uint8]]],
        first: int,
        blocks: NDArray[np.uint8],
        source: NDArray[np.int64],
    ) -> _Rows | None:
        """Return rows that are given where lanes ask the same; None where none are, or native code cannot be made."""
        engine, differs = self._engine, np.zeros(1, np.uint8)
        compare = _all_there(engine.comparing(where, values, differs) for where, values in asked if len(values))
        place = engine.placing_shared(first, blocks, source)
        if place is None and (source >= 0).any():
            place = engine.placing(first, np.ascontiguousarray(blocks[source].T), source >= 0)
        return None if place is None or compare is None else _Rows(engine, asked, compare, differs, place)

    def one_piece(self) -> _Piece | None:
        """Return a run of one piece without anything in it; None where native code cannot be made."""
        differs = np.zeros(1, np.uint8)
        full = np.full((1, self._engine.shape.lanes), 0xFF, np.uint8)
        look = _all_there(self._engine.comparing(mask, full, differs) for mask in _FULL)
        return None if look is None else _Piece(self._engine, look, differs)


def _all_there(motions: Iterable[Motion | None]) -> tuple[Motion, ...] | None:
    """Return motions of which none is missing, else None."""
    found = tuple(motions)
    there = tuple(each for each in found if each is not None)
    return there if len(there) == len(found) else None


def _is_same(engine: _Engine, differs: NDArray[np.uint8]) -> bool:
    """Return whether nothing has differed, for the next look too."""
    engine.settle()
    if differs[0]:
        differs[0] = 0
        return False
    return True


class _Follower:
    """What is known of the lanes while actions are executed, whatever their data are."""

    def __init__(self, engine: _Engine, full: Iterable[str]) -> None:
        self._engine = engine
        self._place = engine.places
        self._following = Following(engine.shape.lanes, engine.known, [self._place[name] for name in full], True)

    def carry_out(self, action: CompiledAction) -> None:
        """Follow an action. Of a call, nothing is known after it of what it writes or leaves with anything."""
        for item in self._engine.items(action):
            if isinstance(item.what, Part):
                self._following.carry_out(item.what)
                continue
            for name in item.what.left:
                self._following.forget(self._place[name])
            for first, count in (item.what.places[0], item.what.scratch):
                self.forget(first, count)

    def forget(self, first: int, count: int) -> None:
        """Know nothing of these rows any more."""
        for row in range(first, first + count):
            self._following.forget(row)

    def holds(self, first: int | str, rows: NDArray[np.uint8]) -> bool:
        """Return whether rows starting at ``first``, or a flag of 0 and 255, are known to be these: uint8[row,
        lane].
        """
        first = self._place[first] if isinstance(first, str) else first
        return all(self._following.holds(first + index, row) for index, row in enumerate(rows))
