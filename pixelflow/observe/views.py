"""Views of a node's runs: what its watchers read of streams, runs and accounts. The real objects satisfy these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pixelflow.simd.observe import views as core
from pixelflow.simd.observe.views import ProgramView

__all__ = ["AccountView", "RunView", "StreamView"]


class StreamView(Protocol):
    """An instruction stream while it runs (`pixelflow.node.streams.stream.Stream`)."""

    name: str
    cycle: int
    index: int
    """Position of the next instruction."""
    halted: bool
    executed: Sequence[int]
    waits: Mapping[str, int]
    waiting: int | None
    """The semaphore for which it waits."""
    semaphores: Any
    """``counts`` holds the count of each semaphore whose signals this stream gets."""
    stages: Sequence[tuple[str, int]]
    frames: Sequence[Any]
    """The running calls, innermost last: ``name``, ``parameters``, ``loops``."""

    @property
    def busy(self) -> int:
        """Cycles of the instructions executed so far."""


class RunView(core.RunView, Protocol):
    """A run while it goes on on a node."""

    @property
    def streams(self) -> Mapping[str, StreamView]: ...

    @property
    def tasic_cycles(self) -> tuple[int, ...]:
        """Busy cycles of the TASICs of each module; empty where one stream runs alone."""

    @property
    def gni_cycles(self) -> Mapping[str, int]:
        """Busy cycles of the paths out of the GNI."""


class AccountView(core.AccountView, Protocol):
    """The account of one stream of a run that has ended, with that of the other beside it (`pixelflow.node.Run`)."""

    program: ProgramView
    engine: str
    stream: str
    cycles: int
    waits: Mapping[str, int]
    tasic_cycles: tuple[int, ...]
    gni_cycles: Mapping[str, int]
    ledger: Any

    @property
    def streams(self) -> Sequence[AccountView]:
        """This account and the one beside it."""

    @property
    def total_cycles(self) -> int:
        """Cycles until all streams had ended."""

    @property
    def busy(self) -> int:
        """Cycles of the instructions executed."""

    @property
    def instructions(self) -> int:
        """Instructions executed, control included."""

    @property
    def microinstructions(self) -> int:
        """Instructions executed that took at least one cycle."""

    @property
    def by_family(self) -> Mapping[Any, int]:
        """Cycles by instruction family."""

    @property
    def by_routine(self) -> Mapping[str, Any]:
        """Use of each routine: ``calls``, ``own_cycles``, ``total_cycles``."""

    @property
    def by_stage(self) -> Mapping[str, int]:
        """Cycles from each MARK to the next."""
