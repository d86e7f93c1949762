"""What two processes must have in common to measure the same: version of the simulator and microcode library."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from microcode.read import files
from pixelflow import __version__

__all__ = ["library_sha256", "tool"]


@lru_cache(maxsize=1)
def library_sha256() -> str:
    """Return a hash of all sources of the microcode library here: names, lengths and contents."""
    seen = hashlib.sha256()
    for path in sorted(files.LIBRARY.rglob("*.mc"), key=lambda path: path.relative_to(files.LIBRARY).as_posix()):
        content = path.read_bytes()
        seen.update(f"{path.relative_to(files.LIBRARY).as_posix()} {len(content)}\n".encode() + content)
    return seen.hexdigest()


def tool() -> tuple[str, str]:
    """Return the version of the simulator and the hash of the library of this process."""
    return __version__, library_sha256()
