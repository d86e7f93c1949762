"""Contents of GP memory and of texture memory (thesis 2.2.1, 2.2.6, 3.8); they know no time.

The GPs themselves are not modelled. Size and initial contents of their memory (zeros) are invented.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import SdramConfig
from pixelflow.node.texture_addresses import Physical
from pixelflow.simd.errors import InputError, MachineFault
from pixelflow.simd.units import Snapshot

GP_MEMORY_BYTES = 1 << 28
"""Bytes of GP memory that an address can name (invented: no size is printed)."""

_FIRST_BYTES = 1 << 16


class GpMemory:
    """The bytes of one GP's memory, allocated up to the highest address that was written."""

    def __init__(self) -> None:
        self._bytes = np.zeros(_FIRST_BYTES, np.uint8)
        self.used = 0
        """One more than the highest address written."""

    def read(self, start: int, size: int) -> NDArray[np.uint8]:
        """Return a copy of ``size`` bytes starting at ``start``; bytes never written are 0."""
        self.check(start, size)
        values = np.zeros(size, np.uint8)
        held = self._bytes[start : start + size]
        values[: len(held)] = held
        return values

    def write(self, start: int, values: NDArray[np.uint8]) -> None:
        """Write bytes starting at ``start``; raises InputError for anything but a row of bytes."""
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
        """Raise MachineFault where some of these bytes are outside the memory."""
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


# Texture memory of one module: only rows that were written are allocated. One page holds a row of one bank of all
# devices, 4 KB on the thesis machine, whose modules have 16 MB each (the 8 MB of section 2.2.7 is an erratum).


WORD_SIZES = (4, 8)
"""Bytes of one access (thesis table 2)."""


class TextureMemory:
    """The bytes of one module's SDRAMs; bytes never written read as 0 (invented: the parts start undefined)."""

    def __init__(self, config: SdramConfig) -> None:
        self.config = config
        self._limits = (config.devices_per_module, config.banks, config.rows, config.columns)
        # Page 0 is the page of zeros that every untouched row shows; it is never written.
        self._pages = np.zeros((1, config.devices_per_module, config.columns), np.uint8)
        self._used = 1
        self._page_of = np.zeros(config.banks * config.rows, np.int32)
        self.version = 0
        """Grows whenever contents may have changed."""
        self.mapped = 0
        """Grows whenever the rows with pages change."""

    @property
    def size(self) -> int:
        """Bytes that can be addressed."""
        return math.prod(self._limits)

    @property
    def pages(self) -> int:
        """Rows that were written at least once."""
        return self._used - 1

    @property
    def bytes_held(self) -> int:
        """Bytes that the pages written so far take."""
        return self.pages * self._pages[0].size

    def read(self, where: Physical, size: int = 4) -> NDArray[np.uint8]:
        """Return words of ``size`` (4 or 8) bytes from the addresses of their first bytes: uint8[..., size].

        Raises MachineFault for an address outside the memory or not a multiple of ``size``.
        """
        return self.words(size)[self.places(self._checked(where, size), size)][..., None].view(np.uint8)

    def write(self, where: Physical, words: NDArray[np.uint8]) -> None:
        """Write words uint8[..., 4] or uint8[..., 8]; of several to one address the last one counts.

        Raises MachineFault as :meth:`read` does; nothing is written then.
        """
        words = np.asarray(words)
        size = words.shape[-1] if words.ndim else 0
        if words.dtype != np.uint8 or size not in WORD_SIZES:
            raise MachineFault(
                f"texture memory: words must be uint8[..., 4 or 8], found {words.dtype}{list(words.shape)}"
            )
        device, bank, row, column = self._checked(where, size)
        if words.shape[:-1] not in ((), device.shape):
            raise MachineFault(f"texture memory: {list(words.shape[:-1])} words for {list(device.shape)} addresses")
        if not device.size:
            return
        self.version += 1
        self._touch(bank * self.config.rows + row)
        places = self.places((device, bank, row, column), size)
        self.words(size)[places] = np.ascontiguousarray(words).view(f"u{size}")[..., 0]

    def _checked(self, where: Physical, size: int) -> tuple[NDArray[np.int64], ...]:
        """Return the fields of addresses as arrays of one shape."""
        if size not in WORD_SIZES:
            raise MachineFault(f"texture memory: a word has 4 or 8 bytes, not {size}")
        fields = np.broadcast_arrays(*(np.asarray(each, np.int64) for each in where))
        for name, values, limit in zip(Physical._fields, fields, self._limits, strict=True):
            if values.size and values.view(np.uint64).max() >= limit:  # as which a negative one is large
                wrong = values.min() if values.min() < 0 else values.max()
                raise MachineFault(f"texture memory: {name} {wrong} is outside 0..{limit - 1}")
        misplaced = fields[3] & size - 1
        if misplaced.any():
            wrong = fields[3][misplaced != 0].flat[0]
            raise MachineFault(f"texture memory: column {wrong} does not begin a word of {size} bytes")
        return fields

    def _touch(self, line: NDArray[np.int64]) -> None:
        """Allocate a page for every row without one."""
        lines = np.flatnonzero(np.bincount(line.reshape(-1)))
        new = lines[self._page_of[lines] == 0]
        needed = self._used + new.size
        if needed > len(self._pages):
            # Doubling keeps copies rare.
            room = min(max(needed, 2 * len(self._pages)), self._page_of.size + 1)
            grown = np.zeros((room, *self._pages.shape[1:]), np.uint8)
            grown[: self._used] = self._pages[: self._used]
            self._pages = grown
        self.mapped += len(new)
        self._page_of[new] = np.arange(self._used, needed)
        self._used = needed

    def clear(self) -> None:
        """Clear the memory."""
        self.version += 1
        self.mapped += 1
        self._pages[1:] = 0
        self._page_of[:] = 0
        self._used = 1

    def digest(self) -> str:
        """Return a hash of the contents, independent of their history."""
        found = hashlib.sha256()
        for line in np.flatnonzero(self._page_of):
            page = self._pages[self._page_of[line]]
            if page.any():
                found.update(int(line).to_bytes(8, "little"))
                found.update(page.tobytes())
        return found.hexdigest()

    # --- state ---------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """Return the written rows: ``line`` (bank * rows + row) and ``bytes`` uint8[line, device, column]."""
        lines = np.flatnonzero(self._page_of)
        return {"line": lines, "bytes": self._pages[self._page_of[lines]]}

    def restore(self, snapshot: Snapshot) -> None:
        """Put the memory into the state of a snapshot."""
        self.clear()
        lines = np.asarray(snapshot["line"], np.int64)
        if lines.size:
            self._touch(lines)
            self._pages[self._page_of[lines]] = snapshot["bytes"]

    # --- words that are read repeatedly ----------------------------------------------------------------------------

    def fixed(self, where: Physical) -> FixedWords:
        """Return words of 4 bytes for repeated reads; raises MachineFault as :meth:`read` does."""
        return FixedWords(self, self._checked(where, 4))

    def places(self, fields: Sequence[NDArray[np.int64]], size: int = 4) -> NDArray[np.int64]:
        """Return the current indices of words of ``size`` bytes in `words`."""
        device, bank, row, column = fields
        page = self._page_of[bank * self.config.rows + row]
        return (page * self.config.devices_per_module + device) * (self.config.columns // size) + column // size

    def words(self, size: int = 4) -> NDArray[np.uint32 | np.uint64]:
        """All words of ``size`` bytes that are held: unsigned numbers."""
        return self._pages.reshape(-1).view(f"u{size}")


class FixedWords:
    """Words of one memory at fixed places."""

    def __init__(self, memory: TextureMemory, fields: Sequence[NDArray[np.int64]]) -> None:
        self._memory = memory
        self._fields = fields
        self._mapped = memory.mapped
        self._places = memory.places(fields)

    def read(self) -> NDArray[np.uint32 | np.uint64]:
        """Return the current contents."""
        if self._mapped != self._memory.mapped:
            self._mapped, self._places = self._memory.mapped, self._memory.places(self._fields)
        return self._memory.words()[self._places]
