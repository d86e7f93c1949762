"""Messages: what threads send, and the functions that they share, which answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.code.isa.encoding.operands import EuMessage

__all__ = [
    "CONSTANT_CACHE",
    "GATEWAY",
    "RENDER_CACHE",
    "SAMPLER",
    "SAMPLER_CACHE",
    "SPAWNER",
    "TARGET_NAMES",
    "URB",
    "BlockMemory",
    "MessageRecorder",
    "Replies",
    "Request",
    "SharedFunctions",
]

SAMPLER, GATEWAY, SAMPLER_CACHE, RENDER_CACHE, URB, SPAWNER, CONSTANT_CACHE = 2, 3, 4, 5, 6, 7, 9
"""Targets, by number."""
TARGET_NAMES = {
    SAMPLER: "sampler", GATEWAY: "gateway", SAMPLER_CACHE: "sampler cache", RENDER_CACHE: "render cache", URB: "URB",
    SPAWNER: "thread spawner", 8: "VME", CONSTANT_CACHE: "constant cache",
}  # fmt: skip
"""What reports and traces call them; the public disassembler calls two of them sampler."""
_OWORD_READ, _MEDIA_READ, _OWORD_WRITE, _MEDIA_WRITE = 0, 4, 8, 10
_OWORD_BYTES = 16


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """A message as its target receives it."""

    thread: int
    instruction: int
    target: int
    message: EuMessage
    size: int
    """Channels of the instruction."""
    enabled: int
    """Those that are enabled, a bit each."""
    payload: NDArray[np.uint8]
    """The message registers: uint8[32 * length]."""

    @property
    def header(self) -> NDArray[np.uint32]:
        """The first register as eight double words."""
        return self.payload[:32].view(np.uint32)


class SharedFunctions(Protocol):
    """What the unit's threads share: sampler, caches, URB, spawner."""

    def answer(self, request: Request) -> NDArray[np.uint8] | None:
        """Take a message; return the registers that come back, or None where none do."""


@dataclass(slots=True)
class MessageRecorder:
    """Functions that note every message before others answer it."""

    others: SharedFunctions
    requests: list[Request] = field(default_factory=list)

    def answer(self, request: Request) -> NDArray[np.uint8] | None:
        """Note a message, and hand it on."""
        self.requests.append(request)
        return self.others.answer(request)


class Replies:
    """Functions that answer from a list, or by number from a rule; what expects no answer gets none."""

    def __init__(self, replies: Iterable[bytes] | Callable[[int, Request], bytes]) -> None:
        self._rule = replies if callable(replies) else None
        self._replies = iter(()) if callable(replies) else iter(replies)
        self.given = 0
        """Answers that were asked for."""

    def answer(self, request: Request) -> NDArray[np.uint8] | None:
        """Return the next answer; None where the list has ended."""
        if not request.message.response:
            return None
        reply = self._rule(self.given, request) if self._rule is not None else next(self._replies, None)
        self.given += 1
        return None if reply is None else np.frombuffer(reply, np.uint8)


class BlockMemory:
    """Memory past the data ports: OWORD blocks and media blocks, read and written as Mesa's headers say.

    Of an OWORD block dword 2 of the header is the offset in 16 bytes; of a media block dwords 0 to 2 are x, y and the
    size (width - 1 in the low bits, height - 1 from bit 16 on), each in bytes and rows of ``pitch``.
    """

    def __init__(self, memory: NDArray[np.uint8], pitch: int = 0) -> None:
        self.memory, self.pitch = memory, pitch

    def answer(self, request: Request) -> NDArray[np.uint8] | None:
        """Carry out a block message; None for any other."""
        if request.target not in (SAMPLER_CACHE, RENDER_CACHE, CONSTANT_CACHE):
            return None
        function = request.message.function
        written = request.target == RENDER_CACHE
        kind = function >> 13 & (15 if written else 7)
        if kind in (_OWORD_READ, _OWORD_WRITE):
            start = int(request.header[2]) * _OWORD_BYTES
            places = start + np.arange(32 * (request.message.response or request.message.length - 1))
        elif kind in (_MEDIA_READ, _MEDIA_WRITE):
            x, y, size = (int(each) for each in request.header[:3])
            columns, rows = (size & 0xFFFF) + 1, (size >> 16) + 1
            places = ((y + np.arange(rows))[:, None] * self.pitch + x + np.arange(columns)).reshape(-1)
        else:
            return None
        within = (places >= 0) & (places < len(self.memory))
        if kind in (_OWORD_WRITE, _MEDIA_WRITE):
            data = request.payload[32 : 32 + len(places)]
            self.memory[places[: len(data)][within[: len(data)]]] = data[within[: len(data)]]
            return None
        return np.where(within, self.memory[np.where(within, places, 0)], 0).astype(np.uint8)
