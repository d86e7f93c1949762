"""A file of saved state: a numpy `.npz` archive of plain arrays, without pickle, in which no damage goes unseen.

The archive holds `header` (JSON text: schema, what the file is about, and the state itself with its arrays referred
to by position) and the arrays. Its zip comment is a hash of every byte before it.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelflow.node.saved.first_form import CLASS_OF_FIRST, first_form, renewed
from pixelflow.node.saved.values import pack, unpack
from pixelflow.simd.errors import Fault, InputError, Place

__all__ = ["DAMAGED", "read_archive", "read_bytes", "write_archive"]

DAMAGED = "is damaged: a part of it is missing or of the wrong kind"

_UNREADABLE = (
    *(KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError, EOFError),
    *(zipfile.BadZipFile, zlib.error, NotImplementedError),
)
"""What numpy, zipfile and json raise for contents that no run has written."""

_MARK = b"pixelflow sha256 "
_HASH = 64


def write_archive(schema: str, about: Mapping[str, object], state: object) -> bytes:
    """Return a file's contents: ``about`` is plain JSON, ``state`` whatever `pack` takes. Equal input, equal bytes."""
    arrays: list[NDArray[np.generic]] = []
    header = {"schema": schema, **about, "state": pack(state, arrays)}
    text = np.frombuffer(json.dumps(header, separators=(",", ":")).encode(), np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, header=text, **{f"array{at}": array for at, array in enumerate(arrays)})
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = _MARK + bytes(_HASH)
    before = buffer.getvalue()[:-_HASH]
    return before + hashlib.sha256(before).hexdigest().encode()


def read_archive(data: bytes, schema: str, what: str, refuse: Callable[[str], InputError]) -> tuple[dict, Any]:
    """Return (header, state) of a file's contents; ``what`` names the kind of file.

    Raises what ``refuse`` makes of the reason where the file is damaged, of another kind or of another version.
    """
    before, stated = data[:-_HASH], data[-_HASH:]
    if not before.endswith(_MARK):
        raise refuse(f"is not a {what}, or its end is missing")
    if hashlib.sha256(before).hexdigest().encode() != stated:
        raise refuse("is damaged: its contents do not match its checksum")
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            header = json.loads(archive["header"].tobytes())
            found = header["schema"]
            if found not in (schema, first_form(schema)):
                raise refuse(f"is of another version: schema {found!r}, expected {schema!r}")
            arrays = [archive[f"array{at}"] for at in range(len(archive.files) - 1)]
        if found == schema:
            return header, unpack(header["state"], arrays)
        return header, renewed(unpack(header["state"], arrays, CLASS_OF_FIRST), header["entry"])
    except _UNREADABLE:
        raise refuse(DAMAGED) from None


def read_bytes(path: str | Path) -> bytes:
    """Return the contents of a file; raises InputError where it cannot be read."""
    file = Path(path)
    if file.exists() and not file.is_file():
        raise InputError(Fault("is not a file", Place(str(path))))
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(Fault(f"cannot be read: {error.strerror or error}", Place(str(path)))) from None
