"""What every engine offers besides the algebra: state that can be read, written, saved, compared.

An engine is driven in two steps: `prepare` turns a meaning (a function over the algebra) into an action, `run` carries
out actions in order. The same action may run any number of times.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.lanes.algebra import Algebra
from pixelflow.simd.lanes.shape import Shape

__all__ = [
    "Action",
    "Background",
    "Engine",
    "Kernels",
    "Meaning",
    "Numbered",
    "OnePiece",
    "RepeatedRows",
    "Repeats",
    "Template",
]

Meaning = Callable[[Algebra[Any, Any]], None]
"""A function over the algebra of any engine, whatever its words and bits are."""
Action = Any
"""Whatever the engine's `prepare` returns; opaque to everyone else."""
Template = Action
"""Whatever the engine's `template` returns; likewise."""
Numbered = Callable[[Sequence[int]], Meaning]
"""From a few numbers, which `affine` alone is given, to a meaning."""


Words = NDArray[Any]
"""Words of lanes: uint8 where the shape has words of 8 bits, uint32 where it has words of 32."""


class Background(Protocol):
    """What an engine offers whose `Engine.run` may leave work to other threads."""

    def settle(self) -> None:
        """Return when everything that was run is done. Whatever reads or writes the state does that by itself."""


class RepeatedRows(Protocol):
    """Rows that lanes ask for in the same way time and again, and what they are given each time."""

    @property
    def compare(self) -> Sequence[Action]:
        """Actions that look whether all that is asked is the same."""

    def is_asked(self) -> bool:
        """Return whether it was, once ``compare`` has looked."""

    @property
    def place(self) -> Action:
        """The action that puts what is given into its rows."""

    def renew(self, blocks: NDArray[np.uint8]) -> bool:
        """Give other blocks from now on: uint8[block, row]; returns False where that cannot be done."""

    @property
    def is_renewable(self) -> bool:
        """Whether it can."""


class OnePiece(Protocol):
    """A run as one piece of native code, as far as nobody has to look on the way what lanes ask for."""

    def follow(self, actions: Iterable[Action]) -> None:
        """Add actions."""

    def asks(self, rows: RepeatedRows) -> bool:
        """Return whether it is known that here the lanes ask the same, whatever their data are."""

    def give(self, rows: RepeatedRows) -> None:
        """Add that rows are given."""

    def run(self) -> bool:
        """Make the run, where the masks are as they were taken to be at its beginning; return whether it was made."""


class Repeats(Protocol):
    """What an engine offers for runs that come again."""

    def fuse(self, action: Action) -> None:
        """Make the fastest code of an action now."""

    def rows(
        self,
        asked: Sequence[tuple[int | str, NDArray[np.uint8]]],
        first: int,
        blocks: NDArray[np.uint8],
        source: NDArray[np.int64],
    ) -> RepeatedRows | None:
        """Return rows that are given where lanes ask the same; None where none are, or native code cannot be made.

        ``asked`` has rows from a row on, or a flag of 0 and 255: uint8[row, lane]. Given are ``blocks``, uint8[block,
        row], from row ``first`` on; ``source`` names the block of each lane, -1 for lanes that get none.
        """

    def one_piece(self) -> OnePiece | None:
        """Return a run of one piece without anything in it; None where native code cannot be made."""


class Kernels(Protocol):
    """What an engine offers that carries out whole routines."""

    def kernel(self, call: Any, microcode: Callable[[], Sequence[Action]]) -> Action | None:
        """Return the action of a call; None where it has none. ``microcode`` gives those of the single steps."""


class Engine(ABC):
    """One implementation of the algebra with its state. All state starts as zero, all masks as set nowhere."""

    name: str

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.repeats: Repeats | None = None
        """How runs that come again are made quickly; None on engines that have no way of their own for them."""
        self.kernels: Kernels | None = None
        """Who carries out whole routines; None on engines that carry out every step."""
        self.background: Background | None = None
        """Who may still be at work after `run`; None on engines that have done everything by then."""

    # --- carrying out ---------------------------------------------------------------------------------------

    @abstractmethod
    def prepare(self, meaning: Meaning) -> Action:
        """Return the action that carries out ``meaning``."""

    @abstractmethod
    def chain(self, actions: Iterable[Action]) -> Action:
        """Return one action that carries out actions in order; worth while for what runs many times."""

    def template(self, meaning: Numbered, numbers: int) -> Template:
        """Return what `prepare_all` takes for a meaning that takes so many numbers; the same may be used many times."""
        return meaning, numbers, None if numbers else self.prepare(meaning(()))

    def prepare_all(self, templates: Sequence[Template], which: NDArray[np.intp], numbers: NDArray[np.int64]) -> Action:
        """Return the action that carries out many meanings in order.

        ``which`` is the template of each, ``numbers`` has a row for each, of which it takes the first ones.
        """
        return self.chain(
            self._prepared(templates[kind], row) for kind, row in zip(which.tolist(), numbers.tolist(), strict=True)
        )

    def _prepared(self, template: Template, row: Sequence[int]) -> Action:
        meaning, numbers, action = template
        return self.prepare(meaning(row[:numbers])) if numbers else action

    @abstractmethod
    def run(self, actions: Iterable[Action]) -> None:
        """Carry out actions in order."""

    # --- state as numpy arrays ------------------------------------------------------------------------------

    @abstractmethod
    def get_rows(self, start: int, count: int) -> Words:
        """Return a copy of rows ``start`` to ``start + count - 1``: uint8[count, lanes]."""

    @abstractmethod
    def set_rows(self, start: int, values: Words) -> None:
        """Write rows from ``start`` on: uint8[count, lanes]."""

    @abstractmethod
    def get_word(self, name: str) -> Words:
        """Return a copy of a register: uint8[lanes]."""

    @abstractmethod
    def set_word(self, name: str, values: Words) -> None:
        """Write a register: uint8[lanes]."""

    @abstractmethod
    def get_bit(self, name: str) -> NDArray[np.bool_]:
        """Return a copy of a flag: bool[lanes]."""

    @abstractmethod
    def set_bit(self, name: str, values: NDArray[np.bool_]) -> None:
        """Write a flag: bool[lanes]."""

    @abstractmethod
    def set_coordinates(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> None:
        """Set each lane's x and y, which `affine` uses; both not negative, below 2^16."""

    # --- for all engines ------------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """Return the whole state by name: ``rows``, then every register and flag."""
        state: dict[str, NDArray[Any]] = {"rows": self.get_rows(0, self.shape.rows)}
        state |= {name: self.get_word(name) for name in self.shape.words}
        return state | {name: self.get_bit(name) for name in (*self.shape.carries, *self.shape.masks)}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Set the whole state to what `snapshot` returned, from this or any other engine of the same shape."""
        self.set_rows(0, state["rows"])
        for name in self.shape.words:
            self.set_word(name, state[name])
        for name in (*self.shape.carries, *self.shape.masks):
            self.set_bit(name, state[name])

    def digest(self) -> str:
        """Return a hash of the whole state, the same in every engine that holds the same bits."""
        seen = hashlib.sha256()
        for name, values in self.snapshot().items():
            seen.update(name.encode())
            seen.update(np.ascontiguousarray(values).tobytes())
        return seen.hexdigest()
