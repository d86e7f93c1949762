"""Repeated runs on the macro engine: what lanes ask for is compared by native code, or known beforehand.

Rows that are asked for in the same way as before are given at once. Where what the lanes ask follows from the program
and from the places of the lanes alone, nobody has to look, and the whole run is one piece of native code: only the
masks with which it begins can make a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pixelflow.node.parts.kernels.folding import Following
from pixelflow.node.parts.kernels.fusing import FusedItem
from pixelflow.node.parts.kernels.moving import Motion
from pixelflow.simd.lanes import Shape
from pixelflow.simd.lanes.compiled.engine import CompiledAction

__all__ = ["MacroRepeats"]

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
        """Whether other blocks can be given."""
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

    def asks(self, rows: _Rows) -> bool:
        """Return whether it is known that here the lanes ask the same."""
        return all(self._follower.holds(first, values) for first, values in rows.asked)

    def give(self, rows: _Rows) -> None:
        """Add that rows are given."""
        self._actions.append(rows.place)
        kept = rows.place.kept
        self._follower.forget(kept.first, kept.values.shape[1])

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
        compare = tuple(engine.comparing(where, values, differs) for where, values in asked if len(values))
        place = engine.placing_shared(first, blocks, source)
        if place is None and (source >= 0).any():
            place = engine.placing(first, np.ascontiguousarray(blocks[source].T), source >= 0)
        return None if None in (place, *compare) else _Rows(engine, asked, compare, differs, place)

    def one_piece(self) -> _Piece | None:
        """Return a run of one piece without anything in it; None where native code cannot be made."""
        differs = np.zeros(1, np.uint8)
        full = np.full((1, self._engine.shape.lanes), 0xFF, np.uint8)
        look = tuple(self._engine.comparing(mask, full, differs) for mask in _FULL)
        return None if None in look else _Piece(self._engine, look, differs)


def _is_same(engine: _Engine, differs: NDArray[np.uint8]) -> bool:
    """Return whether nothing has differed, for the next look too."""
    engine.settle()
    if differs[0]:
        differs[0] = 0
        return False
    return True


class _Follower:
    """What is known of the lanes while actions are carried out, whatever their data are."""

    def __init__(self, engine: _Engine, full: Iterable[str]) -> None:
        self._engine = engine
        self._place = engine.places
        self._following = Following(engine.shape.lanes, engine.known, [self._place[name] for name in full], True)

    def carry_out(self, action: CompiledAction) -> None:
        """Follow an action. Of a call, nothing is known after it of what it writes or leaves with anything."""
        for item in self._engine.items(action):
            if item.part is not None:
                self._following.carry_out(item.part)
                continue
            for name in item.call.left:
                self._following.forget(self._place[name])
            for first, count in (item.call.places[0], item.call.scratch):
                self.forget(first, count)

    def forget(self, first: int, count: int) -> None:
        """Know nothing of these rows any more."""
        for row in range(first, first + count):
            self._following.forget(row)

    def holds(self, first: int | str, rows: NDArray[np.uint8]) -> bool:
        """Return whether rows from ``first`` on, or a flag of 0 and 255, are known to be these: uint8[row, lane]."""
        first = self._place[first] if isinstance(first, str) else first
        return all(self._following.holds(first + index, row) for index, row in enumerate(rows))
