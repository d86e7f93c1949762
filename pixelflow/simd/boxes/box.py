"""A box: a timed part of the machine. What it is stands in an immutable spec, what it holds in a state dataclass."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from pixelflow.simd.boxes.wire import Level, Wire
from pixelflow.simd.errors import InternalError
from pixelflow.simd.observe import Bus
from pixelflow.simd.units import Cycle

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Box"]

SpecT = TypeVar("SpecT", covariant=True)
StateT = TypeVar("StateT", bound="DataclassInstance", covariant=True)


class Box(ABC, Generic[SpecT, StateT]):
    """One timed part; all that it knows of others comes over its wires.

    A subclass names its ports in ``inputs`` and ``outputs`` (class attributes, or set per instance where the number
    of ports follows from the spec) and implements :meth:`next_event` and :meth:`tick`. State changes in ``tick`` only.

    The clock ticks a box at its next event and whenever something arrives on one of its inputs. An item that is left
    unread does not tick the box again.
    """

    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()

    def __init__(self, name: str, spec: SpecT, state: StateT) -> None:
        declared = getattr(type(spec), "__dataclass_params__", None)
        if declared is None or not declared.frozen:
            raise InternalError(f"box {name}: its spec must be a frozen dataclass, not {type(spec).__name__}")
        if not is_dataclass(state) or isinstance(state, type):
            raise InternalError(f"box {name}: its state must be a dataclass, not {type(state).__name__}")
        self.name = name
        self.spec = spec
        self.state = state
        self.bus = Bus()
        """Where the box tells what it does; whoever drives it may put another bus here."""
        self.wires: dict[str, Wire] = {}
        """The wire at each port; filled in by the netlist."""

    def wired(self) -> None:
        """Take note that every port has its wire: called once, by the clock."""

    def level(self, port: str) -> Level:
        """Return the wire at a port, which always carries a value; raises InternalError where it does not."""
        wire = self.wires[port]
        if not isinstance(wire, Level):
            raise InternalError(f"box {self.name}: the wire at {port} carries items, not a value")
        return wire

    @abstractmethod
    def next_event(self) -> Cycle | None:
        """Return the next cycle in which the box has something to do by itself, or None where it can only wait.

        It lies after the last tick, and changes only by a tick.
        """

    @abstractmethod
    def tick(self, cycle: Cycle) -> None:
        """Do everything that happens in ``cycle``: read inputs, change state, send."""

    def why_blocked(self) -> str | None:
        """Return what the box is waiting for, in words, or None where it needs nothing to be finished.

        A run that comes to a standstill while a box gives a reason is a deadlock, and the reason is printed.
        """
        return None

    @property
    def worked(self) -> int:
        """How far the box has come with what no wire carries; a run in which neither goes on is a deadlock."""
        return 0

    @property
    def done(self) -> bool:
        """Whether the box will send nothing more unless something arrives; a run ends when all are done."""
        return self.next_event() is None and self.why_blocked() is None

    def snapshot(self) -> dict[str, object]:
        """Return a copy of the state, by field; dataclasses inside stay what they are."""
        return copy.deepcopy({each.name: getattr(self.state, each.name) for each in fields(self.state)})

    def restore(self, snapshot: dict[str, object]) -> None:
        """Put the box into the state of a snapshot."""
        kind = type(self.state)
        known = {each.name for each in fields(kind)}
        if known != set(snapshot):
            raise InternalError(f"box {self.name}: the snapshot has {sorted(snapshot)}, the state {sorted(known)}")
        self.state = kind(**copy.deepcopy(snapshot))
