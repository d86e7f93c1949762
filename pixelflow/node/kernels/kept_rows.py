"""Rows of lanes compared with bytes that are kept, and given such bytes, in native code.

Bytes are kept tile by tile, row by row, in the order of the lanes in the state. Where the same lanes of every 64 take
part, only their bytes are kept, and vectors spread them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.node.kernels.float_kernel import LANES
from pixelflow.node.kernels.folding import FoldedRow
from pixelflow.simd.lanes.native.compiled_engine import CompiledAction, Foreign

_VECTOR = f"<{LANES} x i8>"


class Tiles(NamedTuple):
    """The layout of lanes in the state: its address, bytes and lanes of a tile, bytes from row to row."""

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
    """The lanes of every 64 that they are for."""
    repeats: bool = False
    sources: tuple[int, ...] | None = None
    """For each of these lanes the position of its byte among those kept for 64 lanes; None where each has its own."""
    blocks: NDArray[np.int64] | None = None
    """The block that the bytes of each tile belong to: int64[tile, byte]."""

    @property
    def placing(self) -> Foreign:
        """The native function that gives rows what is kept."""
        return placing(self.lanes, self.sources, repeats=self.repeats)

    def renew(self, blocks: NDArray[np.uint8]) -> None:
        """Keep other bytes of the same blocks: uint8[block, row]."""
        self.values[...] = blocks[self.blocks].transpose(0, 2, 1)

    def operands(self, tiles: Tiles) -> list[int]:
        """Return the operands of native functions."""
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
    """Gives kept bytes to rows, or compares them: then ``differs`` becomes 1 where they are not equal."""

    kept: Kept = field(kw_only=True)
    differs: NDArray[np.uint8] | None = field(default=None, kw_only=True)


def keep(first: int, rows: NDArray[np.uint8], tiles: Tiles, served: NDArray[np.bool_] | None = None) -> Kept | None:
    """Keep uint8[row, lane] of the lanes that are served: bool[lane], all of them by default.

    Returns None where not the same lanes of every 64 are served, or none.
    """
    groups = np.ones((1, LANES), bool) if served is None else served.reshape(-1, LANES)
    lanes = tuple(np.flatnonzero(groups[0]).tolist())
    if not lanes or (groups != groups[0]).any():
        return None
    chosen = rows.reshape(len(rows), -1, tiles.lanes // LANES, LANES)[..., lanes]
    values = chosen.reshape(len(rows), chosen.shape[1], -1).transpose(1, 0, 2)
    return Kept(first, np.ascontiguousarray(values), lanes)


def keep_shared(first: int, blocks: NDArray[np.uint8], source: NDArray[np.int64], tiles: Tiles) -> Kept | None:
    """Keep blocks, uint8[block, row], for lanes that share them: ``source`` is the block of each lane, or -1.

    Returns None where not every 64 lanes share blocks in the same way, or where no lane gets one.
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
                kept: Kept | None = Kept(alike[0].place, np.ascontiguousarray(values[None, :, :LANES]), repeats=True)
            else:
                kept = keep(alike[0].place, values, tiles, None if served is None else np.frombuffer(served, np.bool_))
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
    """Return the function that gives rows the bytes kept for these of every 64 lanes; others stay as they are.

    Operands and parameters are those of `Kept`.
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

    Operands are those of `Kept` and the address of the byte.
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
  br i1 %wrong, label %differ, label %done
differ:
  store i8 1, ptr %flag
  br label %done
done:
  ret ptr %past"""
    return Foreign(head + body + _TAIL.format(**sizes) + end)
