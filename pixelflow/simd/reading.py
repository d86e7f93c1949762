"""Input files read within a stated limit, so that a device, a pipe or a wrong file cannot fill the memory."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from pixelflow.simd.errors import Fault, InputError, Place

__all__ = ["TEXT_BYTES", "read_limited", "read_stream", "text_of"]

TEXT_BYTES = 16 << 20
"""Most bytes of a text file that are read, unless its reader states another limit."""


def read_limited(path: str | Path, shown: str, what: str, limit: int = TEXT_BYTES) -> bytes:
    """Return the content of a file of at most ``limit`` bytes, of which no more than that is ever read.

    ``what`` names what the file should be ("microcode"). Raises InputError where it is missing, unreadable or larger.
    """
    try:
        with Path(path).open("rb") as stream:
            return read_stream(stream, shown, what, limit)
    except OSError as error:
        raise InputError(Fault(f"cannot be read: {error.strerror or error}", Place(shown))) from None
    except ValueError:  # a zero byte in the name
        raise InputError(Fault("is not a file name", Place(shown))) from None


def read_stream(stream: BinaryIO, shown: str, what: str, limit: int = TEXT_BYTES) -> bytes:
    """Return what is left of a stream; raises InputError where that is more than ``limit`` bytes."""
    content = stream.read(limit + 1)
    if len(content) > limit:
        most = f"{limit >> 20} MiB" if limit >= 1 << 20 else f"{limit:,} bytes"
        raise InputError(Fault(f"too large to be {what}: over {most}", Place(shown)))
    return content


def text_of(content: bytes, shown: str, what: str) -> str:
    """Return UTF-8 text without a byte order mark; raises InputError with line and column for anything else."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise InputError(Fault("this is UTF-16 text", Place(shown), f"{what} is UTF-8: save the file as UTF-8"))
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise InputError(Fault(f"this is a binary file, not {what}: it holds a zero byte", Place(shown, line)))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        message = f"not UTF-8 text: byte {content[error.start]:#04x}"
        raise InputError(Fault(message, Place(shown, line, column), "save the file as UTF-8")) from None
