"""The state of a run between two cycles, and the file that holds it (see `archive`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pixelflow.config import NodeConfig
from pixelflow.isa import Program
from pixelflow.node.parts.array.loaded import with_loaded
from pixelflow.node.run.streams.semaphores import STREAMS
from pixelflow.node.saved.archive import DAMAGED, has_kinds, read_archive, write_archive
from pixelflow.node.saved.kinds import is_like
from pixelflow.simd.config.param import shorten
from pixelflow.simd.errors import Fault, InputError, Place
from pixelflow.simd.files import ARRAYS, read_bytes, replacing
from pixelflow.simd.snapshot import Snapshot

__all__ = ["SCHEMA", "Checkpoint"]

SCHEMA = "pixelflow.checkpoint/2"


def _refusal(message: str, file: str) -> InputError:
    return InputError(Fault(message, Place(file), "save it again: pixelflow run PROG --save-at CYCLE FILE"))


@dataclass(frozen=True)
class Checkpoint:
    """A run as it is when everything that begins before ``cycle`` is done, and nothing else."""

    program_sha256: str
    config_sha256: str
    cycle: int
    entry: str | None
    """The stream that runs alone, None where both run."""
    state: Snapshot
    file: str = field(default="the checkpoint", compare=False)
    """Where it was read from, for messages."""
    config: Mapping[str, object] = field(default_factory=dict, compare=False)
    """The values of the configuration by key, for messages; empty in files of before."""

    def check(self, program: Program, config: NodeConfig) -> None:
        """Raise InputError with every reason why this is no state of a run of ``program`` on ``config``."""
        faults = []
        for what, found, wanted in (
            ("program", self.program_sha256, program.sha256),
            ("configuration", self.config_sha256, config.sha256),
        ):
            if found != wanted:
                hint = self._difference(config) if what == "configuration" else None
                message = f"was saved with another {what}: {found[:12]}, this one is {wanted[:12]}"
                faults.append(Fault(message, Place(self.file), hint))
        if faults:
            raise InputError(faults)

    def _difference(self, config: NodeConfig) -> str | None:
        """Return the first key whose value is another one in ``config``, None where the file does not say."""
        here = config.values
        other = [key for key, value in self.config.items() if key in here and here[key] != value]
        if not other:
            return None
        first = other[0]
        more = f", and {len(other) - 1} more" if len(other) > 1 else ""
        return f"{first} is {shorten(self.config[first])} there, {shorten(here[first])} here{more}"

    def check_state(self, node: Snapshot, run: Snapshot) -> None:
        """Raise InputError where the state has not the form of a node's and of a run's that has not begun."""
        found = self.state.get("run")
        held = {key: value for key, value in self.state.items() if key != "run"}
        if not is_like(held, node) or not isinstance(found, dict) or found.keys() != run.keys():
            raise _refusal(DAMAGED, self.file)

    def to_bytes(self) -> bytes:
        """Return the file's contents; the same state gives the same bytes."""
        about = {
            "program_sha256": self.program_sha256,
            "config_sha256": self.config_sha256,
            "cycle": self.cycle,
            "entry": self.entry,
            "config": dict(self.config),
        }
        return write_archive(SCHEMA, about, self.state)

    @classmethod
    def from_bytes(cls, data: bytes, file: str = "the checkpoint") -> Checkpoint:
        """Return the checkpoint of a file's contents; raises InputError for a damaged one or one of another version."""

        def refuse(message: str) -> InputError:
            return _refusal(message, file)

        header, state = read_archive(data, SCHEMA, "checkpoint", refuse)
        kinds = {"program_sha256": str, "config_sha256": str, "cycle": int, "entry": str | None}
        if not isinstance(state, dict) or not has_kinds(header, kinds) or header["entry"] not in (None, *STREAMS):
            raise refuse(DAMAGED)
        config = header.get("config")
        known = config if isinstance(config, dict) else {}
        of = header["program_sha256"], header["config_sha256"]
        return cls(*of, header["cycle"], header["entry"], with_loaded(state, ()), file, known)

    def save(self, path: str | Path) -> None:
        """Write the file: beside its place first, so that no half of it ever has its name."""
        data = self.to_bytes()
        with replacing(path) as stream:
            stream.write(data)

    @classmethod
    def load(cls, path: str | Path) -> Checkpoint:
        """Read a file; raises InputError where it cannot be read or is not a checkpoint of this version."""
        return cls.from_bytes(read_bytes(path, ARRAYS), str(path))
