"""Writing of files that appear complete or not at all, and through no link that somebody has planted."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows: there nothing is locked, and what a killed process leaves stays
    fcntl = None  # type: ignore[assignment]

__all__ = ["replacing"]


@contextlib.contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file beside ``path`` for writing; it gets that name only when the block ends without an exception.

    A link at ``path`` is followed, as the user named it; the name beside is new (made with O_EXCL, which follows
    nothing) and cannot be guessed. What killed processes have left under such names is removed. A device or a pipe is
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
    """Make a file beside another one, open for writing; its lock says that it is in use, and ends with the process."""
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
    """Remove the files that killed processes of this user have left beside a file: those that have no lock."""
    if fcntl is None:
        return
    name = re.compile(re.escape(f".{target.name[:200]}.") + r"[0-9a-f]{16}\.tmp")
    with contextlib.suppress(OSError):
        for left in filter(name.fullmatch, os.listdir(target.parent)):
            with contextlib.suppress(OSError):
                _remove_unlocked(target.with_name(left))


def _remove_unlocked(left: Path) -> None:
    """Remove a file of this user's own that nobody has locked; raises OSError for a link."""
    handle = os.open(left, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid():
            left.unlink()
    finally:
        os.close(handle)
