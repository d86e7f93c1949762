"""Which programs' data a node's memory has had, as a state holds it: a run loads those of its program once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.snapshot import Snapshot

__all__ = ["hashes_of", "loaded_rows", "with_loaded"]

_BYTES = 32
"""Of the hash of a program."""


def loaded_rows(hashes: Iterable[str]) -> NDArray[np.uint8]:
    """Return the hashes of programs as a state holds them: uint8[programs, 32], in their order."""
    return np.frombuffer(bytes.fromhex("".join(sorted(hashes))), np.uint8).reshape(-1, _BYTES)


def hashes_of(rows: NDArray[np.uint8]) -> set[str]:
    """Return the hashes of the programs that a state holds as uint8[programs, 32]."""
    return {row.tobytes().hex() for row in rows}


def with_loaded(state: Snapshot, hashes: Iterable[str]) -> Snapshot:
    """Return a state with the hashes of these programs where it has none, being of a file of before."""
    return {"loaded": loaded_rows(hashes)} | state
