"""What a frame of the dashboard shows, as plain values: nothing in here belongs to a running machine."""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.simd.dashboard.over_time import Utilisation

__all__ = [
    "DashboardState",
    "MapState",
    "ModuleState",
    "SemaphoreState",
    "SourceRow",
    "StageState",
    "StreamState",
]


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A line of a program near the instruction where a stream is."""

    label: str
    """The number of the source line, or the word address where no source is known."""
    text: str
    here: bool


@dataclass(frozen=True, slots=True)
class StreamState:
    """One instruction stream at the cycle of the frame.

    ``busy + sum of waits + idle + open`` is the cycle of the frame; ``open`` are cycles that other streams have
    simulated already and this one has not.
    """

    name: str
    busy: int
    waits: tuple[tuple[str, int], ...]
    """(reason, cycles); a wait that goes on is counted up to the cycle of the frame."""
    idle: int
    open: int
    halted: bool
    instruction: str
    place: str
    """File and line, or the word address."""
    routine: str
    """Empty in the main program."""
    source: tuple[SourceRow, ...]
    ahead: int
    """Cycles beyond that of the frame that this stream has been taken already."""
    remaining: int | None
    """Cycles that the instruction has still to run; None where that is not known."""
    waiting_for: str | None
    since: int | None
    """The cycle from which on it waits."""
    loops: tuple[int, ...] = ()
    """Rounds that are left of the open loops of the running routine, innermost last."""

    @property
    def wait(self) -> int:
        """Cycles spent waiting, whatever for."""
        return sum(cycles for _, cycles in self.waits)


@dataclass(frozen=True, slots=True)
class ModuleState:
    """One module; None where the run does not model the quantity, or where nobody could tell it."""

    module: int
    enabled: int | None
    busy: int | None
    """Cycles in which its TASICs were busy."""
    accesses: int | None
    """Accesses to each of its SDRAMs."""
    from_emcs: int | None
    """Bytes for which there were slots from its EMCs to its TASICs, those of EMCs without a PE left among them."""
    to_emcs: int | None
    open_rows: tuple[int | None, ...] | None = None
    """For each bank the row that is open, None in it for a closed bank."""


@dataclass(frozen=True, slots=True)
class SemaphoreState:
    """One semaphore that the program uses."""

    number: int
    count: int
    signalled_by: tuple[str, ...]
    taken_by: tuple[str, ...]
    waiting: str | None
    """The stream that waits for it now."""


@dataclass(frozen=True, slots=True)
class MapState:
    """One flag or byte of every PE at its place in the plane: ``cells[y * width + x]``; a flag is 0 or 1."""

    title: str
    width: int
    height: int
    cells: bytes
    flag: bool


@dataclass(frozen=True, slots=True)
class StageState:
    """A stage that a stream has begun: its MARK, and the cycles from there to the next MARK or to now."""

    stream: str
    name: str
    cycles: int
    running: bool


@dataclass(frozen=True, slots=True)
class DashboardState:
    """Everything that a frame shows."""

    program: str
    program_hash: str
    config: str
    config_hash: str
    engine: str
    status: str
    """``running``, ``playing``, ``paused``, ``stopped here``, or why the run ended."""
    cycle: int
    seconds: float
    """Machine time at the clock."""
    clock_mhz: int
    rate: float | None
    """Simulated cycles in a second of wall time; None in a frame that stands still."""
    pes: int
    streams: tuple[StreamState, ...]
    modules: tuple[ModuleState, ...]
    texture_missing: str | None
    """Why TASICs, SDRAMs and GNI took no part in the run, None where they did."""
    banks_missing: str | None
    """Why there are no SDRAM banks to show, None where ``open_rows`` are known."""
    gni: tuple[tuple[str, int], ...]
    """(path, busy cycles) of the paths out of the GNI that were used."""
    semaphores: tuple[SemaphoreState, ...]
    array: MapState | None
    utilisation: Utilisation | None
    stages: tuple[StageState, ...] = ()
    part: tuple[int, int | None] | None = None
    """Number and total of the pass where a command makes several; None for a total that nobody knows."""
    total: int | None = None
    """Cycles of the whole run, where they are known."""
    notes: tuple[str, ...] = ()
