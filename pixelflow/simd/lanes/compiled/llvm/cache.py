"""Native code kept on disk: one file per key, written whole or not at all, believed only if its checksum is right.

Any number of processes may use one folder at the same time. A file is written under a name of its own and then renamed;
whoever writes last wins, with the same content. A file that is missing, cut off or changed counts as absent.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

__all__ = ["Cache", "folder"]

_MAGIC = b"lanes\x00\x01\n"
_PACKAGE = __name__.partition(".")[0]
"""The package that the code belongs to: names the folder, and the variable that moves it."""

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
            if not self._is_ours():
                return None
            data = self._file(key).read_bytes()
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
            if not self._is_ours():
                return
            handle, name = tempfile.mkstemp(dir=self._path, prefix=".new-")
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

    def _is_ours(self) -> bool:
        """Return whether nobody else can put code into the folder."""
        status = self._path.stat()
        if not hasattr(os, "getuid"):
            return True
        return status.st_uid == os.getuid() and not status.st_mode & 0o022

    def _make_room(self) -> None:
        files = [(entry.stat().st_mtime, entry.path) for entry in os.scandir(self._path) if entry.name.endswith(".o")]
        for _, path in sorted(files)[:-_KEPT]:
            os.unlink(path)
