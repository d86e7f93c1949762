"""Reading of files that may be anything at all: bytes, text, JSON, what is compressed, lines; never without a bound."""

from __future__ import annotations

import io
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from pixelflow.simd.errors import Fault, InputError, Place
from pixelflow.simd.files.limits import LINE_BYTES, FileKind

if TYPE_CHECKING:
    from pixelflow.simd.report import Json

__all__ = ["bounded_lines", "parse_json", "read_bytes", "read_json", "read_stream", "read_text", "text_of"]
__all__ += ["too_large", "unpacked"]

_PIECE = 1 << 20
_MOST_DIGITS = 4300
"""Digits of a whole number; Python refuses longer ones, which take time that grows with their square."""


def read_bytes(path: str | Path, kind: FileKind, shown: str | None = None) -> bytes:
    """Return the contents of a file, or of a pipe; raises InputError where it cannot be read or is too large.

    ``shown`` is what messages call it, if not by its path.
    """
    shown = str(path) if shown is None else shown
    try:
        with Path(path).open("rb") as stream:
            return _bounded(stream, kind, shown, os.fstat(stream.fileno()).st_size)
    except FileNotFoundError:
        raise _refusal(shown, "no such file") from None
    except IsADirectoryError:
        raise _refusal(shown, f"is a folder, not {kind.what}") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        reason = error.strerror if isinstance(error, OSError) else None
        raise _refusal(shown, f"cannot be read: {reason or error}") from None


def read_stream(stream: IO[bytes], kind: FileKind, shown: str) -> bytes:
    """Return what is left of a stream; raises InputError where it cannot be read or is too large."""
    try:
        return _bounded(stream, kind, shown, _PIECE)
    except OSError as error:
        raise _refusal(shown, f"cannot be read: {error.strerror or error}") from None


def _bounded(stream: IO[bytes], kind: FileKind, shown: str, expected: int) -> bytes:
    """Return what a stream holds; what is expected is read at once, into no more memory than it takes."""
    most = kind.limit + 1
    pieces = [stream.read(min(expected + 1, most))]
    left = most - len(pieces[0])
    while left > 0 and (more := stream.read(min(left, _PIECE))):  # a pipe, or a device
        pieces.append(more)
        left -= len(more)
    if left <= 0:
        raise too_large(shown, kind)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def read_text(path: str | Path, kind: FileKind, shown: str | None = None) -> str:
    """Return the text of a file in UTF-8; raises InputError as `read_bytes` and `text_of` do."""
    return text_of(read_bytes(path, kind, shown), kind, str(path) if shown is None else shown)


def text_of(data: bytes, kind: FileKind, shown: str) -> str:
    """Return UTF-8 text without a byte order mark; raises InputError with line and column for anything else."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        hint = f"{kind.what} is UTF-8: save the file as UTF-8"
        raise InputError(Fault("this is UTF-16 text", Place(shown), hint))
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise InputError(Fault(f"this is a binary file, not {kind.what}: it holds a zero byte", Place(shown, line)))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        message = f"not UTF-8 text: byte {data[error.start]:#04x}"
        raise InputError(Fault(message, Place(shown, line, column), "save the file as UTF-8")) from None


def read_json(path: str | Path, kind: FileKind) -> Json:
    """Return the value in a file of JSON; raises InputError as `read_text` and `parse_json` do."""
    return parse_json(read_text(path, kind), str(path))


def parse_json(text: str | bytes, file: str) -> Json:
    """Return the value of a JSON text; raises InputError for anything else, ``file`` as the place."""
    try:
        found: Json = json.loads(text)
        return found
    except json.JSONDecodeError as error:
        fault = Fault(f"is not JSON: {error.msg}", Place(file, error.lineno, error.colno))
    except RecursionError:
        fault = Fault("is not JSON of any use: it is nested too deeply", Place(file))
    except ValueError:  # bytes that are no text, numbers of thousands of digits
        fault = Fault(f"is not JSON: not UTF-8, or a number of more than {_MOST_DIGITS} digits", Place(file))
    raise InputError(fault)


def unpacked(data: bytes, kind: FileKind, file: str) -> bytes:
    """Return what gzipped bytes hold, as much as the kind may; raises InputError for more, and for damage."""
    found = io.BytesIO()
    try:
        while data:
            inflate = zlib.decompressobj(wbits=31)
            found.write(inflate.decompress(data, kind.limit + 1 - found.tell()))
            if found.tell() > kind.limit:
                raise too_large(file, kind)
            if not inflate.eof:
                raise _refusal(file, "cannot be read: the compressed data end too early")
            data = inflate.unused_data.lstrip(b"\0")
    except zlib.error as error:
        raise _refusal(file, f"cannot be read: {error}") from None
    return found.getvalue()


def bounded_lines(stream: IO[bytes], kind: FileKind, file: str) -> Iterator[bytes]:
    """Yield the lines of a stream; raises InputError for a line, or a whole, that is too long."""
    total = 0
    while line := stream.readline(LINE_BYTES + 1):
        if len(line) > LINE_BYTES:
            raise _refusal(file, f"has a line of more than {LINE_BYTES >> 20} MiB, so it is not {kind.what}")
        total += len(line)
        if total > kind.limit:
            raise too_large(file, kind)
        yield line


def too_large(path: str | Path, kind: FileKind) -> InputError:
    """Return the error of a file of more bytes than its kind has."""
    return _refusal(path, f"too large to be {kind.what}: over {kind.shown_limit}")


def _refusal(path: str | Path, message: str) -> InputError:
    return InputError(Fault(message, Place(str(path))))
