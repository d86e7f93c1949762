"""The state of a run between two cycles, and the file that holds it (see `archive`)."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from pixelflow.config import NodeConfig
from pixelflow.isa import Program
from pixelflow.node.saved.archive import DAMAGED, read_archive, read_bytes, write_archive
from pixelflow.simd.errors import Fault, InputError, Place
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

    def check(self, program: Program, config: NodeConfig) -> None:
        """Raise InputError with every reason why this is no state of a run of ``program`` on ``config``."""
        faults = []
        for what, found, wanted in (
            ("program", self.program_sha256, program.sha256),
            ("configuration", self.config_sha256, config.sha256),
        ):
            if found != wanted:
                faults.append(
                    Fault(f"was saved with another {what}: {found[:12]}, this one is {wanted[:12]}", Place(self.file))
                )
        if faults:
            raise InputError(faults)

    def damaged(self) -> InputError:
        """Return the error of a state that is not what a run consists of."""
        return _refusal(DAMAGED, self.file)

    def to_bytes(self) -> bytes:
        """Return the file's contents; the same state gives the same bytes."""
        about = {
            "program_sha256": self.program_sha256,
            "config_sha256": self.config_sha256,
            "cycle": self.cycle,
            "entry": self.entry,
        }
        return write_archive(SCHEMA, about, self.state)

    @classmethod
    def from_bytes(cls, data: bytes, file: str = "the checkpoint") -> Checkpoint:
        """Return the checkpoint of a file's contents; raises InputError for a damaged one or one of another version."""

        def refuse(message: str) -> InputError:
            return _refusal(message, file)

        header, state = read_archive(data, SCHEMA, "checkpoint", refuse)
        try:
            return cls(header["program_sha256"], header["config_sha256"], header["cycle"], header["entry"], state, file)
        except KeyError:
            raise refuse(DAMAGED) from None

    def save(self, path: str | Path) -> None:
        """Write the file: beside its place first, so that no half of it ever has its name."""
        final = Path(path).resolve()
        data = self.to_bytes()
        if final.exists() and not final.is_file():  # a device, or a folder, which is an error
            final.write_bytes(data)
            return
        beside = final.with_name(f".{final.name}.{os.getpid()}.part")
        try:
            beside.write_bytes(data)
            beside.replace(final)
        finally:
            beside.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | Path) -> Checkpoint:
        """Read a file; raises InputError where it cannot be read or is not a checkpoint of this version."""
        return cls.from_bytes(read_bytes(path), str(path))
