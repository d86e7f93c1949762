"""A run that can be taken again: program, machine, the state from which it began, and pokes on the way, in one file.

Runs are deterministic, so everything that happened at any cycle follows from these.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import UnionType
from typing import Any

from pixelflow.config import NodeConfig, load_config
from pixelflow.isa import Program
from pixelflow.node.node import Node
from pixelflow.node.parts.array.loaded import with_loaded
from pixelflow.node.replay.pokes import Poke
from pixelflow.node.replay.replay import Replay
from pixelflow.node.run.streams.semaphores import STREAMS
from pixelflow.node.saved.archive import DAMAGED, has_kinds, read_archive, trusted, write_archive
from pixelflow.node.saved.kinds import is_like
from pixelflow.observe import Bus, Event, RunBegan, RunEnded
from pixelflow.simd.errors import Fault, InputError, Place
from pixelflow.simd.files import ARRAYS, read_bytes
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.snapshot import Snapshot

__all__ = ["Recorder", "RunEnd", "SavedRun"]

SCHEMA = "pixelflow.saved_run/2"

_KINDS: Mapping[str, type | UnionType] = {
    "program": str,
    "config": dict,
    "config_sha256": str,
    "command": str,
    "entry": str | None,
    "max_cycles": int | None,
    "end": dict | None,
}
_END_KINDS: Mapping[str, type | UnionType] = {"cycles": int, "reason": str, "digest": str | None}
"""What the header of a file holds."""

_PROGRAMS_OWN = ("halt", "deadlock", "cycle limit", "fault")
"""Ends that a replay comes to as well; where something else stopped the run, its end is not known."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a saved run ended."""

    cycles: int
    reason: str
    """As in `Run.reason`."""
    digest: str | None
    """The hash of all PE state after a run that came to its end, None for one that something stopped."""


@dataclass(frozen=True)
class SavedRun:
    """A run as it began, and how it ended where that is known."""

    program: Program
    config: NodeConfig
    command: str
    """The command line that made it, for people."""
    entry: str | None
    """The stream that ran alone, None where both ran."""
    max_cycles: int | None
    state: Snapshot = field(repr=False)
    """The node's state at cycle 0."""
    end: RunEnd | None
    pokes: tuple[Poke, ...] = ()
    """What a user changed on the way: part of the run."""
    file: str = field(default="the saved run", compare=False)
    """Where it was read from, for messages."""

    @classmethod
    def of(cls, replay: Replay, command: str) -> SavedRun:
        """Return the run of a replay, with its pokes; with its end where the replay stands there."""
        run, end = replay.account, None
        if replay.ended and run is not None and run.reason in _PROGRAMS_OWN:
            end = RunEnd(run.total_cycles, run.reason, replay.node.digest() if run.reason == "halt" else None)
        limit = next(iter(replay.streams.values())).max_cycles
        pokes = tuple(replay.pokes.made.values())
        config = replay.node.config
        return cls(replay.program, config, command, replay.entry, limit, replay.begun, end, pokes)

    def replay(self, engine: str = AUTO, *, watch: Callable[[Bus], None] | None = None, **options: Any) -> Replay:
        """Return the run at cycle 0, on a node of its own; ``options`` are those of `Replay`.

        ``watch`` is called with the node's bus before the run begins.
        """
        node = Node(self.config, engine)
        if not is_like(self.state, Node(self.config, "rows").snapshot()):
            raise _refusal(DAMAGED, self.file)
        with trusted(self.file):
            node.restore(self.state)
            if watch is not None:
                watch(node.bus)
            of = node, self.program
            found = _Again(*of, entry=self.entry, max_cycles=self.max_cycles, pokes=self.pokes, **options)
        found.file = self.file
        return found

    def check_end(self, replay: Replay) -> None:
        """Raise InputError where a replay that is at its end has not ended as the saved run did.

        One with other pokes is another run.
        """
        if self.end is None or replay.account is None or tuple(replay.pokes.made.values()) != self.pokes:
            return
        wanted = (self.end.reason, self.end.cycles)
        found = (replay.account.reason, replay.account.total_cycles)
        if self.end.digest is not None:
            wanted, found = (*wanted, self.end.digest[:12]), (*found, replay.node.digest()[:12])
        if self.end.reason == "halt" and found != wanted:
            message = f"the run ended with {wanted}, executed again it ends with {found}"
            hint = "the file is damaged or of another version; where a new record does the same, it is a defect here"
            raise InputError(Fault(message, Place(self.file), hint))

    def to_bytes(self) -> bytes:
        """Return the file's contents; the same run gives the same bytes."""
        end = self.end and {"cycles": self.end.cycles, "reason": self.end.reason, "digest": self.end.digest}
        about = {
            "program": self.program.to_json(),
            "config": self.config.values,
            "config_sha256": self.config.sha256,
            "command": self.command,
            "entry": self.entry,
            "max_cycles": self.max_cycles,
            "end": end,
            **({"pokes": [each.as_object() for each in self.pokes]} if self.pokes else {}),
        }
        return write_archive(SCHEMA, about, self.state)

    @classmethod
    def from_bytes(cls, data: bytes, file: str = "the saved run") -> SavedRun:
        """Return the run of a file's contents; raises InputError for a damaged one or one of another version."""

        def refuse(message: str) -> InputError:
            return _refusal(message, file)

        header, state = read_archive(data, SCHEMA, "saved run", refuse)
        if not isinstance(state, dict) or not has_kinds(header, _KINDS) or header["entry"] not in (None, *STREAMS):
            raise refuse(DAMAGED)
        if header["end"] is not None and not has_kinds(header["end"], _END_KINDS):
            raise refuse(DAMAGED)
        try:
            program = Program.from_json(header["program"], file)
            config = load_config(None, [f"{key}={json.dumps(value)}" for key, value in header["config"].items()])
            if config.sha256 != header["config_sha256"]:
                raise refuse("is of another version: its configuration means another machine now")
            end = None if header["end"] is None else RunEnd(**header["end"])
            pokes = tuple(Poke.from_object(each, config.array) for each in header.get("pokes", []))
            entry, limit = header["entry"], header["max_cycles"]
            state = with_loaded(state, [program.sha256] if program.data else [])
            return cls(program, config, header["command"], entry, limit, state, end, pokes, file)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise refuse(DAMAGED) from None

    @classmethod
    def load(cls, path: str | Path) -> SavedRun:
        """Read a file; raises InputError where it cannot be read or is not a saved run of this version."""
        return cls.from_bytes(read_bytes(path, ARRAYS), str(path))


class _Again(Replay):
    """A replay from a file, whose name an error has that no state of a run leads to."""

    file = ""

    def _advance(self, cycle: int) -> None:
        with trusted(self.file):
            super()._advance(cycle)


class Recorder:
    """Subscribes to the runs of a node and keeps one of them: the first, or the one of a number counted from 1."""

    def __init__(self, node: Node, command: str, number: int = 1) -> None:
        self._node = node
        node.array.exact = True  # the end is compared with that of a replay, on any engine
        self._command = command
        self._number = number
        self._runs = 0
        self.saved: SavedRun | None = None
        """The run, from its beginning on; with its end when it has ended."""

    @property
    def runs(self) -> int:
        """How many runs have begun."""
        return self._runs

    def attach(self, bus: Bus) -> None:
        """Listen; before the runs begin."""
        bus.subscribe(self.hear, RunBegan, RunEnded)

    def hear(self, event: Event) -> None:
        """Take the state of the node when the run begins; raises InputError for a run without PE data."""
        match event:
            case RunBegan():
                self._runs += 1
                if self._runs == self._number:
                    self._begin(event)
            case RunEnded() if self._runs == self._number and event.reason in _PROGRAMS_OWN:
                digest = self._node.digest() if event.reason == "halt" else None
                self.saved = replace(self.saved, end=RunEnd(event.cycle, event.reason, digest))

    def _begin(self, event: RunBegan) -> None:
        if not event.function:
            raise InputError("a timing-only run has no PE data, so there is no run to save")
        if event.cycle:
            raise InputError(f"a run that was loaded at cycle {event.cycle} cannot be saved: it has no beginning")
        streams = event.view.streams
        entry = None if len(streams) > 1 else next(iter(streams))
        limit = next(iter(streams.values())).max_cycles
        self.saved = SavedRun(
            event.program, self._node.config, self._command, entry, limit, self._node.snapshot(), None
        )


def _refusal(message: str, file: str) -> InputError:
    return InputError(Fault(message, Place(file), "record it again: pixelflow run PROG --record FILE.npz"))
