"""What is stored in the memory of one GP: bytes, as the geometry network interface sees them (thesis 2.2.1, 3.8).

The processor itself is not modelled. Size and contents at the start (zeros) are invented.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pixelflow.simd.errors import InputError, MachineFault

__all__ = ["GP_MEMORY_BYTES", "GpMemory"]

GP_MEMORY_BYTES = 1 << 28
"""Bytes of GP memory that an address can name (invented: no size is printed)."""

_FIRST_BYTES = 1 << 16


class GpMemory:
    """The bytes of one GP's memory; space is taken up to the highest address that was written."""

    def __init__(self) -> None:
        self._bytes = np.zeros(_FIRST_BYTES, np.uint8)
        self.used = 0
        """One more than the highest address written."""

    def read(self, start: int, size: int) -> NDArray[np.uint8]:
        """Return a copy of ``size`` bytes from ``start`` on; what was never written is 0."""
        self.check(start, size)
        found = np.zeros(size, np.uint8)
        held = self._bytes[start : start + size]
        found[: len(held)] = held
        return found

    def write(self, start: int, values: NDArray[np.uint8]) -> None:
        """Write bytes from ``start`` on; raises InputError for anything but a row of bytes."""
        values = np.asarray(values)
        if values.ndim != 1 or values.dtype != np.uint8:
            raise InputError(f"GP memory takes a row of bytes, found {values.dtype}{list(values.shape)}")
        end = start + len(values)
        self.check(start, len(values))
        if end > len(self._bytes):
            grown = np.zeros(max(end, 2 * len(self._bytes)), np.uint8)
            grown[: self.used] = self._bytes[: self.used]
            self._bytes = grown
        self._bytes[start:end] = values
        self.used = max(self.used, end)

    def check(self, start: int, size: int) -> None:
        """Raise MachineFault where a part of these bytes is outside the memory."""
        if start < 0 or start + size > GP_MEMORY_BYTES:
            raise MachineFault(f"GP memory: bytes {start}..{start + size - 1} are outside 0..{GP_MEMORY_BYTES - 1}")

    def snapshot(self) -> NDArray[np.uint8]:
        """Return a copy of the bytes up to the highest address written."""
        return self._bytes[: self.used].copy()

    def restore(self, values: NDArray[np.uint8]) -> None:
        """Put the memory into the state of a snapshot."""
        self._bytes = np.zeros(_FIRST_BYTES, np.uint8)
        self.used = 0
        self.write(0, np.asarray(values, np.uint8))
