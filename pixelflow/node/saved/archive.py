"""A file of saved state: a numpy `.npz` archive of plain arrays, without pickle, in which no damage goes unseen.

The archive holds `header` (JSON text: schema, what the file is about, and the state itself with its arrays referred
to by position) and the arrays. Its zip comment is a hash of every byte before it.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import UnionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pixelflow.node.saved.first_form import CLASS_OF_FIRST, first_form, renewed
from pixelflow.node.saved.values import pack, unpack
from pixelflow.simd.errors import Fault, InputError, InternalError, Place
from pixelflow.simd.files import ARRAYS, OBJECT
from pixelflow.simd.files.arrays import parse_arrays

__all__ = ["DAMAGED", "has_kinds", "read_archive", "trusted", "write_archive"]

DAMAGED = "is damaged: a part of it is missing or of the wrong kind"

_UNREADABLE = (*(KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError),)
"""What comes of contents that no run has written."""

_BROKEN = (InternalError, ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""What comes of a run that goes on from values to which no run comes."""

HEADER_BYTES = OBJECT.limit
"""The longest header: the program of a saved run is a part of it."""

_OWN_HEADER = 1 << 10
"""Bytes at most that an archive holds of an array beside its own."""

_MARK = b"pixelflow sha256 "
_HASH = 64


def write_archive(schema: str, about: Mapping[str, object], state: object) -> bytes:
    """Return a file's contents: ``about`` is plain JSON, ``state`` whatever `pack` takes. Equal input, equal bytes."""
    arrays: list[NDArray[np.generic]] = []
    header = {"schema": schema, **about, "state": pack(state, arrays)}
    text = np.frombuffer(json.dumps(header, separators=(",", ":")).encode(), np.uint8)
    if text.nbytes > HEADER_BYTES or sum(each.nbytes + _OWN_HEADER for each in (text, *arrays)) > ARRAYS.limit:
        raise InputError(f"the state is too large to be saved: a file holds up to {ARRAYS.shown_limit}")
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
        held = parse_arrays(data, refuse)
        if held["header"].nbytes > HEADER_BYTES:
            raise refuse(DAMAGED)
        header = json.loads(held["header"].tobytes())
        found = header["schema"]
        if found not in (schema, first_form(schema)):
            raise refuse(f"is of another version: schema {found!r}, expected {schema!r}")
        arrays = [held[f"array{at}"] for at in range(len(held) - 1)]
        if found == schema:
            return header, unpack(header["state"], arrays)
        return header, renewed(unpack(header["state"], arrays, CLASS_OF_FIRST), header["entry"])
    except _UNREADABLE:
        raise refuse(DAMAGED) from None


@contextmanager
def trusted(file: str) -> Iterator[None]:
    """Take errors that no state of a run leads to for what they show: that the file holds no such state.

    Values that no run comes to, in a file whose checksum was made for them, break the run at any later time.
    """
    try:
        yield
    except _BROKEN as error:
        hint = (
            f"going on from it ends in {type(error).__name__}; where a file that was saved again does the same, "
            "it is a defect of the simulator"
        )
        raise InputError(Fault("holds a state that no run comes to", Place(file), hint)) from error


def has_kinds(found: object, kinds: Mapping[str, type | UnionType]) -> bool:
    """Return whether an object of JSON has these members, each of its kind; a truth value is no number."""
    return isinstance(found, dict) and all(
        key in found and isinstance(found[key], kind) and not isinstance(found[key], bool)
        for key, kind in kinds.items()
    )
