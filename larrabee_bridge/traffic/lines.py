"""An ideal cache: any line anywhere, the least recently used given up first, written back when it is."""

from __future__ import annotations

__all__ = ["LineCache"]


class LineCache:
    """Counts the lines that go from memory and to memory."""

    def __init__(self, lines: int) -> None:
        self.lines = lines
        # From the least to the most recently used: whether it was written.
        self._kept: dict[int, bool] = {}
        self.read = 0
        self.written = 0

    def touch(self, line: int, *, reads: bool, writes: bool) -> None:
        """Use a line; it comes from memory where it is not there and something of it is read."""
        dirty = self._kept.pop(line, None)
        if dirty is None:
            dirty = False
            self.read += reads
        self._kept[line] = dirty or writes
        if len(self._kept) > self.lines:
            self.written += self._kept.pop(next(iter(self._kept)))

    def flush(self) -> None:
        """Write back all lines that were written, and forget all."""
        self.written += sum(self._kept.values())
        self._kept.clear()
