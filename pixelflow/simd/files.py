"""Files: a bounded reader, a writer that follows no planted link, and data shipped with packages."""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import os
import re
import stat
import zlib
from collections.abc import Iterator
from functools import cache
from glob import glob
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, cast

from pixelflow.simd.errors import Fault, InputError, Place

if TYPE_CHECKING:
    from importlib.abc import ResourceLoader
    from importlib.resources.abc import Traversable

    from pixelflow.simd.report import Json

# Kinds of files that are read, with a limit in bytes for each: a larger one is refused before it is held.


class FileKind(NamedTuple):
    """A kind of file: its name in messages, and its limit in bytes, uncompressed."""

    what: str
    limit: int

    @property
    def shown_limit(self) -> str:
        """The limit as messages have it."""
        return f"{self.limit >> 20} MiB"


CONFIGURATION = FileKind("a configuration file", 1 << 20)
SCENE = FileKind("a scene file", 1 << 20)
SCRIPT = FileKind("a script of commands", 1 << 20)
SOURCE = FileKind("microcode", 16 << 20)
VERTICES = FileKind("a scene with its vertices", 32 << 20)
"""A scene with its numbers in the file itself."""
OBJECT = FileKind("an object file", 32 << 20)
"""Parsed JSON takes up to 24 times as much memory as its text."""
REPORT = FileKind("a JSON report", 32 << 20)
PATCHES = FileKind("a patch file", 64 << 20)
MESH = FileKind("a mesh", 64 << 20)
TEXTURE = FileKind("a texture", 64 << 20)
TABLE = FileKind("a table of a sweep", 64 << 20)
ARRAYS = FileKind("an archive of arrays", 256 << 20)

PACKET_BYTES = 16 << 20
"""The longest packet of a trace."""


# Reading of untrusted files: bytes, text, JSON, compressed data; never without a bound.


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


def parse_json(text: str | bytes, file: str) -> Json:
    """Return the value of a JSON text; raises InputError for anything else, ``file`` as the place."""
    try:
        found: Json = json.loads(text)
        return found
    except json.JSONDecodeError as error:
        fault = Fault(f"is not JSON: {error.msg}", Place(file, error.lineno, error.colno))
    except RecursionError:
        fault = Fault("is not JSON of any use: it is nested too deeply", Place(file))
    except ValueError:  # bytes that are not text, numbers of thousands of digits
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


def too_large(path: str | Path, kind: FileKind) -> InputError:
    """Return the error of a file of more bytes than its kind has."""
    return _refusal(path, f"too large to be {kind.what}: over {kind.shown_limit}")


def _refusal(path: str | Path, message: str) -> InputError:
    return InputError(Fault(message, Place(str(path))))


# Writing of files that appear complete or not at all, and never through a planted link.


try:
    import fcntl
except ImportError:  # Windows: there nothing is locked, and what a killed process leaves stays
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file next to ``path`` for writing; it is renamed to that only when the block ends without an exception.

    A link at ``path`` is followed, as the user named it; the temporary name is new (made with O_EXCL, which follows
    nothing) and cannot be guessed. Leftovers of killed processes under such names are removed. A device or a pipe is
    written itself. Raises OSError.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:
            yield stream
        return
    _remove_left(target)
    with _new(target) as (beside, handle):
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            beside.chmod(stat.S_IMODE(target.stat().st_mode))
        beside.replace(target)


@contextlib.contextmanager
def _new(target: Path) -> Iterator[tuple[Path, int]]:
    """Make a file next to another one, open for writing; its lock marks it as in use, and ends with the process."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    with contextlib.ExitStack() as held:
        while True:
            beside = target.with_name(f".{target.name[:200]}.{os.urandom(8).hex()}.tmp")
            handle = os.open(beside, flags, 0o666)
            if fcntl is not None:
                lock = os.dup(handle)  # lasts until the file has its name, when the handle is closed
                held.callback(os.close, lock)
                with contextlib.suppress(OSError):  # a file system without locks, where nothing is removed either
                    fcntl.flock(lock, fcntl.LOCK_EX)
            if beside.exists():
                break
            os.close(handle)  # another writer took it for left, in the moment before it had its lock
        try:
            yield beside, handle
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def _remove_left(target: Path) -> None:
    """Remove this user's leftovers of killed processes next to a file: those without a lock."""
    if fcntl is None:
        return
    name = re.compile(re.escape(f".{target.name[:200]}.") + r"[0-9a-f]{16}\.tmp")
    with contextlib.suppress(OSError):
        for left in filter(name.fullmatch, os.listdir(target.parent)):
            with contextlib.suppress(OSError):
                _remove_unlocked(target.with_name(left))


def _remove_unlocked(left: Path) -> None:
    """Remove an unlocked file of this user; raises OSError for a link."""
    handle = os.open(left, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid():
            left.unlink()
    finally:
        os.close(handle)


# Only one process at a time writes a file that grows.


@contextlib.contextmanager
def locked(path: str, writer: str) -> Iterator[None]:
    """Keep every other ``writer`` of a file out; raises InputError where there is one already.

    The lock is on a hidden file next to it, since the file itself may be replaced meanwhile. It ends with the process,
    however that ends. Where the system has no flock nothing is locked.
    """
    if fcntl is None:
        yield
        return
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name[:200]}.lock")
    try:
        held = _held(beside)
    except BlockingIOError:
        hint = f"wait until it has finished, or name another file; the lock is on {beside.name}"
        raise InputError(Fault(f"is being written by another {writer}", Place(path), hint)) from None
    except OSError as error:
        raise InputError(Fault(f"cannot be locked: {error.strerror or error}", Place(path))) from None
    try:
        yield
    finally:
        beside.unlink(missing_ok=True)
        os.close(held)


def _held(beside: Path) -> int:
    """Return a descriptor of a lock file that is locked; raises BlockingIOError where another one has it."""
    while True:
        held = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)  # no planted link
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Its last owner may have removed it between the two lines: then the lock is on a file without a name.
            if beside.exists() and os.path.samestat(os.fstat(held), beside.stat()):
                return held
        except BaseException:
            os.close(held)
            raise
        os.close(held)


# Files shipped with packages, as paths: those of a folder directly, those of a zip archive unpacked once.


@cache
def shipped(package: str, *parts: str) -> Path:
    """Return the path of a file or folder of a package, of which the last ``parts`` are below it.

    Where the package is in a zip archive, that part of it is unpacked into a temporary folder, which goes when this
    process ends. Raises FileNotFoundError for what the package does not have.
    """
    spec = find_spec(package)
    for place in () if spec is None else spec.submodule_search_locations or ():
        path = Path(place, *parts)
        if path.exists():
            return path
    return _unpacked(package, parts)


def sources_of(package: str) -> list[tuple[str, bytes]]:
    """Return name and content of all Python files of a package, of packages below it too, in the order of names.

    Or of the one file of that name.
    """
    spec = find_spec(package)
    if spec is not None and spec.origin is not None and spec.submodule_search_locations is None:
        loader = cast("ResourceLoader", spec.loader)  # of a file, or of one in a zip archive
        return [("", loader.get_data(spec.origin))]
    folder = shipped(package)
    found = []
    for name in sorted(glob("**/*.py", root_dir=folder, recursive=True)):
        with open(os.path.join(folder, name), "rb") as file:
            found.append((name.replace(os.sep, "/"), file.read()))
    return found


def _unpacked(package: str, parts: tuple[str, ...]) -> Path:
    from importlib.resources import files
    from tempfile import TemporaryDirectory

    found = files(package).joinpath(*parts)
    if not (found.is_dir() or found.is_file()):
        raise FileNotFoundError(f"{package} has no {'/'.join(parts)}")
    folder = TemporaryDirectory(prefix="pixelflow-")
    atexit.register(folder.cleanup)
    path = Path(folder.name, parts[-1] if parts else package.rpartition(".")[2])
    _copy(found, path)
    return path


def _copy(found: Traversable, path: Path) -> None:
    if found.is_file():
        path.write_bytes(found.read_bytes())
        return
    path.mkdir()
    for each in found.iterdir():
        _copy(each, path / each.name)
