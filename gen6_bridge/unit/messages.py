"""Messages: what threads send, and the functions that they share, which answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.isa.operands import EuMessage
from pixelflow.simd.drawing import Texture
from pixelflow.simd.drawing.mipmaps import details, filtered, levels_at, trilinear

SAMPLER, GATEWAY, SAMPLER_CACHE, RENDER_CACHE, URB, SPAWNER, CONSTANT_CACHE = 2, 3, 4, 5, 6, 7, 9
"""Targets, by number."""
TARGET_NAMES = {
    SAMPLER: "sampler", GATEWAY: "gateway", SAMPLER_CACHE: "sampler cache", RENDER_CACHE: "render cache", URB: "URB",
    SPAWNER: "thread spawner", 8: "VME", CONSTANT_CACHE: "constant cache",
}  # fmt: skip
"""Names in reports and traces; the public disassembler calls two of them sampler."""
_OWORD_READ, _MEDIA_READ, _OWORD_WRITE, _MEDIA_WRITE = 0, 4, 8, 10
_OWORD_BYTES = 16


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """Message as its target receives it."""

    thread: int
    instruction: int
    target: int
    message: EuMessage
    size: int
    """Channels of the instruction."""
    enabled: int
    """Mask of the enabled channels."""
    payload: NDArray[np.uint8]
    """The message registers: uint8[32 * length]."""

    @property
    def header(self) -> NDArray[np.uint32]:
        """The first register as eight double words."""
        return self.payload[:32].view(np.uint32)


class SharedFunctions(Protocol):
    """Functions shared by the unit's threads: sampler, caches, URB, spawner."""

    def answer(self, request: Request) -> NDArray[np.uint8] | None:
        """Process a message; return the bytes of the answer, or None without one."""


class BlockMemory:
    """Memory behind the data ports: OWORD blocks and media blocks, read and written by Mesa's headers.

    Dword 2 of an OWORD block's header is the offset in 16 bytes; dwords 0 to 2 of a media block's are x, y and the
    size (width - 1 in the low bits, height - 1 starting at bit 16), in bytes and rows of ``pitch``.
    """

    def __init__(self, memory: NDArray[np.uint8], pitch: int = 0) -> None:
        self.memory, self.pitch = memory, pitch

    def answer(self, request: Request) -> NDArray[np.uint8] | None:
        """Execute a block message; None for any other."""
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


# Shared functions: the sampler, the URB, and the defaults of a run.


_REGISTER_BYTES = 32
_GROUP_BYTES = 16
_INTERLEAVES, _OFFSETS = 1 << 10, 63
_AXES, _COMPONENTS, _EIGHT = 2, 4, 8
_OFF = 12
"""First bit, in the header's dword 2, of the mask of components to leave out."""
_MEMORY_BYTES, _PITCH = 1 << 16, 256
"""Default memory behind the data ports: its size, and the pitch of media blocks."""
_URB_BYTES = 1 << 16
_RAMP = 16


def texels(texture: Texture, request: Request) -> NDArray[np.uint8]:
    """Filter a texture at each channel's place: registers of red, green, blue and opacity, integers 0 to 255.

    Places are integers in 1/65536 texel, after the header if there is one: u of all channels, then v. The header may
    leave components out.
    """
    u, v = _places(request)
    unwanted = int(request.header[2]) >> _OFF if request.message.header else 0
    wanted = [each for each in range(_COMPONENTS) if not unwanted >> each & 1]
    texel = trilinear(texture, u, v, _detail(u, v)) if texture.mipmaps else filtered(texture, u, v)
    components = texel.T[wanted].astype(np.uint32)
    return np.ascontiguousarray(components).view(np.uint8).reshape(-1)


def looked_at(texture: Texture, request: Request) -> int:
    """Return the mipmap levels that enabled channels look up, summed: one each, or two between levels."""
    enabled = request.enabled
    if not texture.mipmaps:
        return enabled.bit_count()
    _, weight = levels_at(texture, _detail(*_places(request)))
    between = sum(1 << int(channel) for channel in np.flatnonzero(weight))
    return enabled.bit_count() + (enabled & between).bit_count()


def _places(request: Request) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return u and v of all channels."""
    body = request.payload[_REGISTER_BYTES * bool(request.message.header) :]
    registers = len(body) // _REGISTER_BYTES // _AXES
    body = body[: _AXES * registers * _REGISTER_BYTES]
    u, v = body.view(np.uint32).reshape(_AXES, _EIGHT * registers).astype(np.int64)
    return u, v


def _detail(u: NDArray[np.int64], v: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return each channel's level of detail; four consecutive channels are a subspan."""
    return np.repeat(details(u.reshape(-1, 4), v.reshape(-1, 4)), 4)


def ramp() -> Texture:
    """Return the default texture of a run: 16x16 texels, red 16 a column, green 16 a row, opaque."""
    step = 256 // _RAMP * np.arange(_RAMP, dtype=np.uint8)
    content = np.zeros((_RAMP, _RAMP, _COMPONENTS), np.uint8)
    content[..., 0], content[..., 1], content[..., 3] = step, step[:, None], 255
    return Texture(content)


class Urb:
    """URB as bytes; messages write at a handle plus an offset, both in rows of 32 bytes.

    In an interleaved write each half of a register belongs to one of two vertices, with separate handles and channels;
    else all goes to the first handle. Writes past the end are dropped.
    """

    def __init__(self, content: NDArray[np.uint8]) -> None:
        self.bytes = content

    def answer(self, request: Request) -> NDArray[np.uint8] | None:
        """Execute a write, which has no answer; other messages are ignored."""
        function = request.message.function
        if request.target != URB or function & 15:
            return None
        offset, body = function >> 4 & _OFFSETS, request.payload[_REGISTER_BYTES:]
        if function & _INTERLEAVES:
            halves = body.reshape(-1, 2, _GROUP_BYTES)
            for which, handle in enumerate(request.header[:2].tolist()):
                if request.enabled >> 4 * which & 1:
                    self._write(handle + offset, halves[:, which].reshape(-1))
        else:
            self._write(int(request.header[0]) + offset, body)
        return None

    def _write(self, row: int, content: NDArray[np.uint8]) -> None:
        place = self.bytes[row * _REGISTER_BYTES :][: len(content)]
        place[:] = content[: len(place)]


class RunFunctions:
    """Default functions of a run: 64 KiB of zeros behind the data ports, a URB of 64 KiB, a sampler with a texture."""

    def __init__(self) -> None:
        self.memory = np.zeros(_MEMORY_BYTES + _URB_BYTES, np.uint8)
        """Memory that messages write: first that behind the data ports, then the URB."""
        self._blocks = BlockMemory(self.memory[:_MEMORY_BYTES], _PITCH)
        self._urb, self._texture = Urb(self.memory[_MEMORY_BYTES:]), ramp()

    def answer(self, request: Request) -> NDArray[np.uint8] | None:
        """Pass a message to its target; return the answer, or None."""
        if request.target == SAMPLER:
            return texels(self._texture, request)
        return self._urb.answer(request) if request.target == URB else self._blocks.answer(request)
