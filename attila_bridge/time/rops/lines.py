"""Lines of a depth or colour cache on their way from and to memory."""

from __future__ import annotations

from attila_bridge.time.memory.tags import LineRequest

__all__ = ["FULL", "LineRead", "LineWrite"]

FULL = (1 << 256) - 1
"""The mask of a line all of whose bytes are written."""


class LineRead:
    """A line on its way from memory."""

    __slots__ = ("received", "request", "requested", "size", "waits_read", "waits_spill")

    def __init__(self, request: LineRequest) -> None:
        self.request = request
        self.size = 0
        self.requested = 0
        self.received = 0
        self.waits_read = request.spill
        """Whether the line has to be read for its write-back before it may be written."""
        self.waits_spill = request.spill and request.block == request.old
        """Whether the same block has to be written back before it may be asked for."""


class LineWrite:
    """A line on its way to memory."""

    __slots__ = ("block", "mask", "read", "request", "size", "written")

    def __init__(self, request: LineRequest, read: LineRead | None) -> None:
        self.request = request
        self.block = request.old
        self.read = read
        self.mask = FULL
        self.size = 0
        self.written = 0
