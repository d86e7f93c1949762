"""Store of derived things between processes: native code, assembled programs, and what else is made again from sources.

One file holds one thing, written whole or not at all. Its name is a hash of everything that the thing depends on, so it
is never stale; its seal, a checksum over kind, key and content, is against damage. A file that is missing, cut off or
changed counts as absent. Any number of processes may use one folder at the same time: a file is written under another
name and then renamed, and the last writer wins: any content of one name gives the same results.

Native code and pickled objects run as this user when they are loaded. So only regular files of this user are read, in a
folder of this user, neither of which anybody else may write to; the seal does not protect against those who may.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

from pixelflow.simd.files import sources_of

_Made = TypeVar("_Made")

_MAGIC = b"pixelflow store 1\n"
_HEAD = len(_MAGIC) + 32
_PACKAGE = __name__.partition(".")[0]
"""Names the folder, and the variable that moves it."""
_NEW = ".new-"
"""First letters of the name of a file that is not whole yet."""
_NAME = re.compile(r"[0-9a-f]{64}\.([a-z]+)")
_DAY = 24 * 3600

MOST_BYTES = 256 << 20
MOST_FILES = 4_000
"""Limits of a folder; the files that were not used for the longest time make room."""
_LOOK = 64
"""Files that a process adds between two looks at the limits, and so may exceed them by."""

CODE, PROGRAM, MEANING, MODEL, FIGURES = "code", "program", "meaning", "model", "figures"
"""Kinds: native code; assembled programs; recorded meanings of programs and plain functions; tessellated models;
figures of frames that claims are judged by."""


def folder() -> Path:
    """Return this user's folder: as the environment says, or the usual place for caches."""
    chosen = os.environ.get(f"{_PACKAGE.upper()}_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / _PACKAGE


class StoredFile(NamedTuple):
    """One file of a store."""

    path: str
    kind: str
    size: int
    used: float
    """Seconds since 1970, to a day."""


class Store:
    """Byte strings by kind and key. Trouble with the disk is never an error: nothing is found, and nothing is kept."""

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES, most_files: int = MOST_FILES) -> None:
        self.path = path
        self._most_bytes, self._most_files = most_bytes, most_files
        self._added = 0

    def get(self, kind: str, key: str) -> bytes | None:
        """Return the content kept under a key, None where there is nothing that can be believed."""
        try:
            if not _is_ours(self.path.stat()):
                return None
            with open(self._file(kind, key), "rb", opener=_open) as file:
                status = os.fstat(file.fileno())
                if not (stat.S_ISREG(status.st_mode) and _is_ours(status)):
                    return None
                data = file.read()
                if time.time() - status.st_mtime > _DAY:
                    os.utime(file.name)
        except OSError:
            return None
        if len(data) < _HEAD or not data.startswith(_MAGIC):
            return None
        content = data[_HEAD:]
        return content if _seal(kind, key, content) == data[len(_MAGIC) : _HEAD] else None

    def put(self, kind: str, key: str, content: bytes) -> None:
        """Keep ``content`` under a key."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_ours(self.path.stat()):
                return
            handle, name = tempfile.mkstemp(dir=self.path, prefix=_NEW)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(_MAGIC + _seal(kind, key, content) + content)
                os.replace(name, self._file(kind, key))
            except BaseException:
                os.unlink(name)
                raise
            if self._added % _LOOK == 0:
                self._make_room()
            self._added += 1
        except OSError:
            return

    def get_object(self, kind: str, key: str, of: type[_Made]) -> _Made | None:
        """Return the object of a class kept under a key, None where there is none."""
        content = self.get(kind, key)
        if content is None:
            return None
        try:
            made = pickle.loads(content)
        except Exception:  # its class is another one now: a defect of the key, and no reason to end a command
            return None
        return made if isinstance(made, of) else None

    def put_object(self, kind: str, key: str, made: object) -> None:
        """Keep an object under a key."""
        self.put(kind, key, pickle.dumps(made, pickle.HIGHEST_PROTOCOL))

    def made(self, kind: str, key: str, of: type[_Made], make: Callable[[], _Made]) -> _Made:
        """Return the object of a class kept under a key; else one that is made now, and kept."""
        found = self.get_object(kind, key, of)
        if found is None:
            found = make()
            self.put_object(kind, key, found)
        return found

    def files(self) -> Iterator[StoredFile]:
        """Yield the files, in any order; none of a folder that others may write to."""
        try:
            if not _is_ours(self.path.stat()):
                return
            for each in os.scandir(self.path):
                found = _NAME.fullmatch(each.name)
                if found and each.is_file(follow_symlinks=False):
                    status = each.stat(follow_symlinks=False)
                    yield StoredFile(each.path, found[1], status.st_size, status.st_mtime)
        except OSError:  # removed by another process
            return

    def clear(self) -> tuple[int, int]:
        """Remove all files; return their number and bytes."""
        files = size = 0
        for each in self.files():
            try:
                os.unlink(each.path)
            except OSError:
                continue
            files, size = files + 1, size + each.size
        return files, size

    def _file(self, kind: str, key: str) -> Path:
        return self.path / f"{key}.{kind}"

    def _make_room(self) -> None:
        files = sorted(self.files(), key=lambda each: each.used, reverse=True)
        size = 0
        for number, each in enumerate(files):
            size += each.size
            if number >= self._most_files or size > self._most_bytes:
                os.unlink(each.path)
        # A file that is being written has its name within seconds; an old one was left by a process that was killed.
        for left in os.scandir(self.path):
            if left.name.startswith(_NEW) and time.time() - left.stat(follow_symlinks=False).st_mtime > _DAY:
                os.unlink(left.path)


@cache
def _store_at(path: Path) -> Store:
    return Store(path)


def store() -> Store:
    """Return this user's store."""
    return _store_at(folder())


def key_of(*parts: object) -> str:
    """Return the key of a thing that depends on these parts, whose texts (`repr`) distinguish them."""
    return hashlib.sha256(repr((sys.version_info[:3], *parts)).encode()).hexdigest()


@cache
def digest_of(*packages: str) -> str:
    """Return a hash of all Python files of packages and files, for the key of what they decide."""
    seen = hashlib.sha256()
    for package in packages:
        for name, content in sources_of(package):
            seen.update(f"{package}/{name} {len(content)}\n".encode())
            seen.update(content)
    return seen.hexdigest()


def _seal(kind: str, key: str, content: bytes) -> bytes:
    return hashlib.sha256(f"{kind} {key} ".encode() + content).digest()


def _open(path: str, flags: int) -> int:
    """Open a file, not the target of a link, without waiting for the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _is_ours(status: os.stat_result) -> bool:
    """Return True unless another user can have written a file, or into a folder."""
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)
