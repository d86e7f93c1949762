"""Only one process at a time writes a file that grows."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from pixelflow.simd.errors import Fault, InputError, Place

try:
    import fcntl
except ImportError:  # Windows: there nothing is locked
    fcntl = None

__all__ = ["locked"]


@contextlib.contextmanager
def locked(path: str, writer: str) -> Iterator[None]:
    """Keep every other ``writer`` of a file out; raises InputError where there is one already.

    The lock is on a hidden file beside it, since the file itself may be replaced meanwhile. It ends with the process,
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
        held = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)  # no link that somebody has planted
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Its last owner may have removed it between the two lines: then the lock is on a file without a name.
            if beside.exists() and os.path.samestat(os.fstat(held), beside.stat()):
                return held
        except BaseException:
            os.close(held)
            raise
        os.close(held)
