"""Engines: the interface of all in addition to the algebra, and the tables that choose one.

An engine is driven in two steps: `prepare` turns a meaning (a function over the algebra) into an action, `run` carries
out actions in order. The same action may run any number of times.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import InputError
from pixelflow.simd.lanes.algebra import Algebra

# The shape of a group of lanes: how many, how much memory each has, which registers and flags.


@dataclass(frozen=True, slots=True)
class Shape:
    """Dimensions of an engine's state.

    ``lanes`` is a multiple of ``group``, the reach of `route`. ``carries`` are flags that mostly enter additions,
    ``masks`` flags that mostly gate writes; an engine may represent the two kinds differently.
    """

    lanes: int
    group: int
    rows: int
    words: tuple[str, ...]
    carries: tuple[str, ...]
    masks: tuple[str, ...]
    bits: int = 8
    """Size of a word: of each register, and of each row of lane memory."""
    counters: tuple[str, ...] = ()
    """Registers for watchers, which are not part of the state: neither saved nor in its digest."""

    def __post_init__(self) -> None:
        if self.lanes <= 0 or self.group <= 0 or self.lanes % self.group:
            raise ValueError(f"{self.lanes} lanes are not a whole number of groups of {self.group}")
        if self.bits not in (8, 32):
            raise ValueError(f"no engine serves words of {self.bits} bits: 8 or 32")
        names = (*self.words, *self.carries, *self.masks, *self.counters)
        if len(set(names)) != len(names):
            raise ValueError("two registers or flags have the same name")


Meaning = Callable[[Algebra[Any, Any]], None]
"""A function over the algebra of any engine, whatever its words and bits are."""
Action = Any
"""Whatever the engine's `prepare` returns; opaque to everyone else."""
Template = Action
"""Whatever the engine's `template` returns; likewise."""
Numbered = Callable[[Sequence[int]], Meaning]
"""From a few numbers, which `affine` alone is given, to a meaning."""


def chosen(lengths: Sequence[int], which: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return how long each of the chosen spans is, and the places of what they hold among all spans in order.

    The spans have these ``lengths``; ``which`` are the chosen ones.
    """
    every = np.array(lengths, np.intp)
    taken = every[which]
    return taken, spans((np.cumsum(every) - every)[which], taken)


def spans(firsts: NDArray[np.intp], lengths: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the numbers of spans: for each the first one, and as many as it is long."""
    ends = np.cumsum(lengths)
    return np.arange(int(lengths.sum())) + np.repeat(firsts - ends + lengths, lengths)


Words = NDArray[Any]
"""Words of lanes: uint8 where the shape has words of 8 bits, uint32 where it has words of 32."""


class Engine(ABC):
    """One implementation of the algebra with its state. All state starts as zero, all masks as set nowhere."""

    name: str

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    # --- executing ---------------------------------------------------------------------------------------

    @abstractmethod
    def prepare(self, meaning: Meaning) -> Action:
        """Return the action that executes ``meaning``."""

    @abstractmethod
    def chain(self, actions: Iterable[Action]) -> Action:
        """Return one action that executes actions in order; worth while for what runs many times."""

    def template(self, meaning: Numbered, numbers: int) -> Template:
        """Return what `prepare_all` takes for a meaning that takes this many numbers; the same may be used many
        times.
        """
        return meaning, numbers, None if numbers else self.prepare(meaning(()))

    def prepare_all(
        self, templates: Sequence[Template], which: NDArray[np.intp]
    ) -> Callable[[NDArray[np.int64]], Action]:
        """Return what gives the action that executes many meanings in order, from the numbers of each.

        ``which`` is the template of each; numbers have a row for each, of which it takes the first ones.
        """
        chosen = [templates[kind] for kind in which.tolist()]
        return lambda numbers: self.chain(map(self._prepared, chosen, numbers.tolist()))

    def _prepared(self, template: Template, row: Sequence[int]) -> Action:
        meaning, numbers, action = template
        return self.prepare(meaning(row[:numbers])) if numbers else action

    @abstractmethod
    def run(self, actions: Iterable[Action]) -> None:
        """Execute actions in order; other threads may still be at work on them when this returns."""

    def settle(self) -> None:
        """Return when everything that was run is done. Whatever reads or writes the state does that by itself."""
        return None

    # --- state as numpy arrays ------------------------------------------------------------------------------

    @abstractmethod
    def get_rows(self, start: int, count: int) -> Words:
        """Return a copy of rows ``start`` to ``start + count - 1``: uint8[count, lanes]."""

    @abstractmethod
    def set_rows(self, start: int, values: Words) -> None:
        """Write rows starting at ``start``: uint8[count, lanes]."""

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


# Tables of engines: which one runs, the one that was asked for or the fastest that works here.
#
# The core has one table; a machine with more engines extends it (`Engines.adding`). If native code does not work for
# any reason, the rows engine runs instead and one line says why, except for an optional package that is not installed
# and that the user did not request.


AUTO = "auto"
"""Asks for the fastest engine that works here: the default of library and command."""

_FASTEST, _FALLBACK = "compiled", "rows"


class Choice(NamedTuple):
    """The name of an engine that works here; ``note`` says why it is not the one that was asked for.

    ``why`` is the reason alone, where one was asked for by name.
    """

    engine: str
    note: str | None = None
    why: str | None = None


class Offer(NamedTuple):
    """An engine that can be asked for by its name.

    ``is_native`` says that it needs native code.
    """

    name: str
    make: Callable[[Shape], Engine]
    is_native: bool = False


class Engines:
    """A table of engines."""

    def __init__(self, *offers: Offer) -> None:
        self._offers = {offer.name: offer for offer in offers}
        self.names = tuple(self._offers)

    def adding(self, *offers: Offer) -> Engines:
        """Return a table with more engines."""
        return Engines(*self._offers.values(), *offers)

    def choose(self, wanted: str = AUTO) -> Choice:
        """Return the engine to take for one of `names`, or for `AUTO`.

        Raises InputError for any other name.
        """
        if wanted != AUTO and wanted not in self._offers:
            raise InputError(f"no engine {wanted!r}; there are {', '.join(self.names)}")
        offer = self._offers[_FASTEST if wanted == AUTO else wanted]
        if not offer.is_native:
            return Choice(wanted)
        if find_spec("llvmlite") is None:
            why = "the compiled engine needs llvmlite, which the extra `fast` installs"
            if wanted == AUTO:
                return Choice(_FALLBACK)
        elif (trouble := _trouble()) is not None:
            why = f"the compiled engine does not work here ({trouble})"
        else:
            return Choice(offer.name)
        asked = "" if offer.name == _FASTEST else f"engine {offer.name}: "
        reason = None if wanted == AUTO else asked + why
        return Choice(_FALLBACK, f"{asked}{why}; the {_FALLBACK} engine runs instead", reason)

    def available(self) -> tuple[str, ...]:
        """Return the names of the engines that work here."""
        native = self.choose(AUTO).engine == _FASTEST
        return tuple(name for name, offer in self._offers.items() if native or not offer.is_native)

    def make(self, name: str, shape: Shape) -> Engine:
        """Return a new engine by name, or the one that `choose` takes; raises what `choose` raises."""
        return self._offers[self.choose(name).engine].make(shape)


def _bit_serial(shape: Shape) -> Engine:
    from pixelflow.simd.lanes.bitserial import BitSerialEngine

    return BitSerialEngine(shape)


def _rows(shape: Shape) -> Engine:
    from pixelflow.simd.lanes.rows import RowsEngine

    return RowsEngine(shape)


def _compiled(shape: Shape) -> Engine:
    from pixelflow.simd.lanes.native.compiled_engine import CompiledEngine

    return CompiledEngine(shape)


TABLE = Engines(
    Offer("bit-serial", _bit_serial),
    Offer(_FALLBACK, _rows),
    Offer(_FASTEST, _compiled, is_native=True),
)
"""The reference, the one that always works, and native code (needs the extra ``fast``)."""

ENGINES = TABLE.names
choose, available, make_engine = TABLE.choose, TABLE.available, TABLE.make


@cache
def _trouble() -> str | None:
    """Return what is wrong with native code on this host, in one line, or None where a trial gives the right bits."""
    try:
        from pixelflow.simd.lanes.native.compiled_engine import trial

        right = trial()
    except Exception as error:  # whatever LLVM, the loader or the processor find wrong
        return " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return None if right else "a trial gave wrong bits"
