"""The state of a run between two cycles, and the file that holds it: a numpy `.npz` archive of plain arrays.

The archive holds `header` (JSON text: schema, program, configuration, cycle, and the state itself with its arrays
referred to by position) and the arrays. Its zip comment is a hash of every byte before it, so that no damage goes
unseen.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pixelflow.config import NodeConfig
from pixelflow.errors import Fault, InputError, Place
from pixelflow.isa import Program
from pixelflow.node.saved_values import pack, unpack

__all__ = ["SCHEMA", "Checkpoint"]

SCHEMA = "pixelflow.checkpoint/1"

_UNREADABLE = (
    *(KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError, EOFError),
    *(zipfile.BadZipFile, zlib.error, NotImplementedError),
)
"""What numpy, zipfile and json raise for contents that no run has written."""

_MARK = b"pixelflow sha256 "
_HASH = 64


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
    state: dict[str, Any]
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
        return _refusal("is damaged: a part of it is missing or of the wrong kind", self.file)

    def to_bytes(self) -> bytes:
        """Return the file's contents; the same state gives the same bytes."""
        arrays: list[np.ndarray] = []
        header = {
            "schema": SCHEMA,
            "program_sha256": self.program_sha256,
            "config_sha256": self.config_sha256,
            "cycle": self.cycle,
            "entry": self.entry,
            "state": pack(self.state, arrays),
        }
        text = np.frombuffer(json.dumps(header, separators=(",", ":")).encode(), np.uint8)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, header=text, **{f"array{at}": array for at, array in enumerate(arrays)})
        with zipfile.ZipFile(buffer, "a") as archive:
            archive.comment = _MARK + bytes(_HASH)
        before = buffer.getvalue()[:-_HASH]
        return before + hashlib.sha256(before).hexdigest().encode()

    @classmethod
    def from_bytes(cls, data: bytes, file: str = "the checkpoint") -> Checkpoint:
        """Return the checkpoint of a file's contents; raises InputError for a damaged one or one of another version."""

        def refuse(message: str) -> InputError:
            return _refusal(message, file)

        before, stated = data[:-_HASH], data[-_HASH:]
        if not before.endswith(_MARK):
            raise refuse("is not a checkpoint, or its end is missing")
        if hashlib.sha256(before).hexdigest().encode() != stated:
            raise refuse("is damaged: its contents do not match its checksum")
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as archive:
                header = json.loads(archive["header"].tobytes())
                if header["schema"] != SCHEMA:
                    raise refuse(f"is of another version: schema {header['schema']!r}, expected {SCHEMA!r}")
                arrays = [archive[f"array{at}"] for at in range(len(archive.files) - 1)]
            state = unpack(header["state"], arrays)
            return cls(header["program_sha256"], header["config_sha256"], header["cycle"], header["entry"], state, file)
        except _UNREADABLE:
            raise refuse("is damaged: a part of it is missing or of the wrong kind") from None

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
        file = Path(path)
        if file.exists() and not file.is_file():
            raise InputError(Fault("is not a file", Place(str(path))))
        try:
            data = file.read_bytes()
        except OSError as error:
            raise InputError(Fault(f"cannot be read: {error.strerror or error}", Place(str(path)))) from None
        return cls.from_bytes(data, str(path))
