"""Native code kept on disk: one file per key, written whole or not at all, believed only if its checksum is right.

The checksum is against damage. Against other users, only regular files of this user's own are believed, in a folder of
their own, neither of which anybody else may write to.

Any number of processes may use one folder at the same time. A file is written under a name of its own and then renamed;
whoever writes last wins, with the same content. A file that is missing, cut off or changed counts as absent.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
import time
from pathlib import Path

_MAGIC = b"lanes\x00\x01\n"
_PACKAGE = __name__.partition(".")[0]
"""The package that the code belongs to: names the folder, and the variable that moves it."""

_NEW = ".new-"
"""What the name of a file begins with that is not whole yet."""

_KEPT = 2_000
"""Files in the folder; the oldest make room."""


def folder() -> Path:
    """Return where this user's native code is kept: what the environment says, or the usual place for such files."""
    chosen = os.environ.get(f"{_PACKAGE.upper()}_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / _PACKAGE


class Cache:
    """Byte strings by key. Trouble with the disk is never an error: then nothing is found and nothing is kept."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def _file(self, key: str) -> Path:
        return self._path / f"{key}.o"

    def get(self, key: str) -> bytes | None:
        """Return what was kept under a key, None where there is nothing that can be believed."""
        try:
            if not _is_ours(self._path.stat()):
                return None
            with open(self._file(key), "rb", opener=_open) as file:
                status = os.fstat(file.fileno())
                if not (stat.S_ISREG(status.st_mode) and _is_ours(status)):
                    return None
                data = file.read()
        except OSError:
            return None
        head = len(_MAGIC) + 32
        if len(data) < head or not data.startswith(_MAGIC):
            return None
        content = data[head:]
        return content if self._seal(key, content) == data[len(_MAGIC) : head] else None

    def put(self, key: str, content: bytes) -> None:
        """Keep ``content`` under a key."""
        try:
            self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_ours(self._path.stat()):
                return
            handle, name = tempfile.mkstemp(dir=self._path, prefix=_NEW)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_MAGIC + self._seal(key, content) + content)
                os.replace(name, self._file(key))
            except BaseException:
                os.unlink(name)
                raise
            self._make_room()
        except OSError:
            return

    @staticmethod
    def _seal(key: str, content: bytes) -> bytes:
        return hashlib.sha256(key.encode() + b"\x00" + content).digest()

    def _make_room(self) -> None:
        files = [(each.stat().st_mtime, each.path) for each in os.scandir(self._path) if each.name.endswith(".o")]
        # A file that is being written has its name within seconds; an old one was left by a process that was killed.
        left = [(0, each.path) for each in os.scandir(self._path) if each.name.startswith(_NEW) and _is_old(each)]
        for _, path in sorted(files)[:-_KEPT] + left:
            os.unlink(path)


def _is_old(entry: os.DirEntry[str]) -> bool:
    """Return whether a file was last written more than a day ago."""
    return time.time() - entry.stat().st_mtime > 24 * 3600


def _open(path: str, flags: int) -> int:
    """Open a file, not what a link leads to, without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _is_ours(status: os.stat_result) -> bool:
    """Return whether nobody else can have put code into a file or a folder."""
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)
