"""Pixel shaders: programs of eight or sixteen channels, in integers, so that colours equal the reference's to the bit.

The payload of a thread, of this project's design: g2 columns and g3 rows of its pixels, g4 the samples at which their
colours are taken, as words; g5 constants of the draw: opacity and cutout; a register for each plane, starting at g6: A
and B of A x + B y + C, two unused double words, and C at each sample of a pixel. Planes of colours have 16 bits of
fraction. In perspective, planes are numerators; the sixth is their divisor, and quotients are computed digit by digit,
as in `pixelflow.simd.drawing.planes`. A pixel whose texel is too transparent is killed: it takes no part in the write.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.isa.execution import FloatRules
from gen6_bridge.isa.operands import EuMessage
from gen6_bridge.program import EuProgram, assemble_eu
from gen6_bridge.time import CarriedStep, EuConfig, ThreadTraces
from gen6_bridge.unit import ExecutionUnit
from gen6_bridge.unit.messages import SAMPLER, Urb
from pixelflow.simd.drawing import COLOUR_STEPS
from pixelflow.simd.drawing.mipmaps import NO_COORDINATE

COLUMNS, ROWS, SAMPLE, CONSTANTS, PLANES = 2, 3, 4, 5, 6
"""First registers of the payload."""
PLANE_WORDS = 8
"""Double words of a plane: A, B, two unused ones, C at up to four samples."""
_EIGHT, _SIXTEEN = 8, 16
_COLOURS, _AXES = 3, 2
_DIVISOR = 5
"""Number of the divisor's plane."""
_FRACTION = 16
_SCALE = "0.003921568859F"
"""1 / 255 as a float."""
_HEADER, _MESSAGE = 1, 2
"""Message registers: the sampler's header, and the first one of places or colours."""
_SCRATCH, _PLACES, _COLOUR, _OPACITY, _TEXELS, _ORIGINS = 14, 16, 20, 26, 40, 50
_BELOW, _INVERSE, _DIGIT, _PRODUCT, _QUOTIENT = 28, 30, 32, 34, 36
"""General registers; a value takes one for each eight channels."""
_LAST, _WRITE, _WRITE_EIGHT = 16, 12, 4
"""Of a write to the render target: its last one, the type, and the control for eight channels."""


class ShaderKind(NamedTuple):
    """Features of a pixel shader."""

    textured: bool = False
    translucent: bool = False
    """True if blending depends on opacity; else 1 is written."""
    cut: bool = False
    """True if pixels whose texel has less opacity than the cutout are killed."""
    colours: bool = True
    """True if colours are written; else the shader only kills."""
    samples: int = 1
    channels: int = _SIXTEEN
    correct: bool = False
    """True if planes are of numerators and their divisor."""
    bits: int = 0
    """Bits by which numerators of u and v are shifted up before they are divided."""
    mipmaps: bool = False
    """True if pixels of a subspan without coordinates must be marked for the sampler's level of detail."""

    @property
    def planes(self) -> tuple[int, ...]:
        """Numbers of the planes that it evaluates: u and v, then red, green and blue, then the divisor."""
        colours = range(_COLOURS) if self.colours else range(0)
        coordinates = range(_COLOURS, _COLOURS + _AXES) if self.textured else ()
        return (*coordinates, *colours, *((_DIVISOR,) if self.correct else ()))


class _Writer:
    """Writer of a program's lines for a number of channels."""

    def __init__(self, kind: ShaderKind) -> None:
        self.kind, self.size = kind, kind.channels
        self.step = kind.channels // _EIGHT
        """Registers of a value."""
        self.lines: list[str] = []

    def emit(self, mnemonic: str, to: str, *sources: str, options: str = "") -> None:
        """Emit an instruction on all channels; the mnemonic may begin with a predicate."""
        self.lines.append(f"{mnemonic} ({self.size}) {to} {' '.join(sources)} {options}".rstrip())

    def origins(self) -> None:
        """Emit C of each plane at each pixel's sample, by addresses, eight at a time."""
        if self.kind.samples == 1:
            return
        for half in range(self.step):
            second = " {align1 sechalf}" if half else ""
            self.lines.append(f"shl (8) a0.0<1>UW g{SAMPLE}.{_EIGHT * half}<8,8,1>UW 2UW{second}")
            for plane in self.kind.planes:
                offset = 32 * (PLANES + plane) + 16
                to = self._origin(plane) + half
                self.lines.append(f"mov (8) g{to}<1>D g[a0.0, {offset}]<1,0>D{second}")

    def _origin(self, plane: int) -> int:
        return _ORIGINS + self.step * plane

    def plane(self, number: int, to: int) -> None:
        """Emit the value of a plane at the pixels, modulo 2^32."""
        own = f"g{PLANES + number}"
        one = self.kind.samples == 1
        origin = f"{own}.4<0,1,0>D" if one else f"g{self._origin(number)}<8,8,1>D"
        words = f"<{self.size},{self.size},1>UW"
        self.emit("mul", f"g{to}<1>D", f"g{COLUMNS}{words}", f"{own}.0<0,1,0>D")
        self.emit("mul", f"g{_SCRATCH}<1>D", f"g{ROWS}{words}", f"{own}.1<0,1,0>D")
        self.emit("add", f"g{to}<1>D", f"g{to}<8,8,1>D", f"g{_SCRATCH}<8,8,1>D")
        self.emit("add", f"g{to}<1>D", f"g{to}<8,8,1>D", origin)

    def divisor(self) -> None:
        """Emit the divisor and its reciprocal as floats, eight channels at a time."""
        self.plane(_DIVISOR, _BELOW)
        self.emit("mov", f"g{_SCRATCH}<1>F", f"g{_BELOW}<8,8,1>D")
        for half in range(self.step):
            options = " {align1 sechalf}" if half else ""
            self.lines.append(f"math (8) g{_INVERSE + half}<1>F g{_SCRATCH + half}<8,8,1>F null<8,8,1>F inv{options}")

    def digit(self, register: int, to: int, bits: int) -> None:
        """Emit the nearest integer to value * 2^bits / divisor; the value becomes the rest."""
        self.emit("mov", f"g{_SCRATCH}<1>F", f"g{register}<8,8,1>D")
        self.emit("mul", f"g{_SCRATCH}<1>F", f"g{_SCRATCH}<8,8,1>F", f"g{_INVERSE}<8,8,1>F")
        self.emit("mul", f"g{_SCRATCH}<1>F", f"g{_SCRATCH}<8,8,1>F", f"{float(1 << bits)}F")
        self.emit("rnde", f"g{_SCRATCH}<1>F", f"g{_SCRATCH}<8,8,1>F")
        self.emit("mov", f"g{to}<1>D", f"g{_SCRATCH}<8,8,1>F")
        self.emit("mul", f"g{_PRODUCT}<1>D", f"g{to}.0<16,8,2>W", f"g{_BELOW}<8,8,1>D")
        self.emit("shl", f"g{register}<1>D", f"g{register}<8,8,1>D", f"{bits}UD")
        self.emit("add", f"g{register}<1>D", f"g{register}<8,8,1>D", f"-g{_PRODUCT}<8,8,1>D")

    def rounded_down(self, register: int, quotient: int) -> None:
        """Emit the quotient, less 1 where its rest is negative, to the register of the rest."""
        self.emit("asr", f"g{register}<1>D", f"g{register}<8,8,1>D", "31UD")
        self.emit("add", f"g{register}<1>D", f"g{register}<8,8,1>D", f"g{quotient}<8,8,1>D")

    def without_coordinates(self) -> None:
        """Emit the flag of pixels whose divisor is not more than half of their numerators."""
        for axis, to in enumerate((_DIGIT, _PRODUCT)):
            self.emit("asr", f"g{to}<1>D", f"g{_PLACES + self.step * axis}<8,8,1>D", "1UD")
            self.emit("sel.ge", f"g{to}<1>D", f"g{to}<8,8,1>D", f"-g{to}<8,8,1>D")
        self.emit("sel.ge", f"g{_DIGIT}<1>D", f"g{_DIGIT}<8,8,1>D", f"g{_PRODUCT}<8,8,1>D")
        self.emit("cmp.ge.f0.0", "null<1>D", f"g{_DIGIT}<8,8,1>D", f"g{_BELOW}<8,8,1>D")

    def coordinate(self, register: int) -> None:
        """Emit u or v from its numerator, in two digits."""
        half = self.kind.bits // 2
        self.digit(register, _QUOTIENT, half)
        self.digit(register, _DIGIT, half)
        self.emit("shl", f"g{_QUOTIENT}<1>D", f"g{_QUOTIENT}<8,8,1>D", f"{half}UD")
        self.emit("add", f"g{_QUOTIENT}<1>D", f"g{_QUOTIENT}<8,8,1>D", f"g{_DIGIT}<8,8,1>D")
        self.rounded_down(register, _QUOTIENT)

    def modulated(self, value: int, texel: int) -> None:
        """Emit value * texel / 255, rounded: (y + (y >> 8)) >> 8 with y = product + 128; the texel is overwritten."""
        self.emit("mul", f"g{value}<1>UD", f"g{value}<8,8,1>UD", f"g{texel}<8,8,1>UD")
        self.emit("add", f"g{value}<1>UD", f"g{value}<8,8,1>UD", "128UD")
        self.emit("shr", f"g{texel}<1>UD", f"g{value}<8,8,1>UD", "8UD")
        self.emit("add", f"g{value}<1>UD", f"g{value}<8,8,1>UD", f"g{texel}<8,8,1>UD")
        self.emit("shr", f"g{value}<1>UD", f"g{value}<8,8,1>UD", "8UD")

    def sampled(self) -> None:
        """Emit the message for texels; its answer is red, green, blue and opacity."""
        for axis in range(_AXES):
            self.plane(_COLOURS + axis, _PLACES + self.step * axis)
        if self.kind.correct:
            if self.kind.mipmaps:
                self.without_coordinates()
            for axis in range(_AXES):
                self.coordinate(_PLACES + self.step * axis)
            if self.kind.mipmaps:
                self.emit("(+f0.0) mov", f"g{_PLACES}<1>UD", f"{NO_COORDINATE:#x}UD")
        self.lines.append(f"mov (8) m{_HEADER}<1>UD g0<8,8,1>UD {{align1 mask_disable}}")
        for axis in range(_AXES):
            self.emit("mov", f"m{_MESSAGE + self.step * axis}<1>UD", f"g{_PLACES + self.step * axis}<8,8,1>UD")
        message = EuMessage(self.step << 16, 1, 4 * self.step, 1 + _AXES * self.step, 0)
        self.emit("send", f"{_HEADER} g{_TEXELS}<1>UW", "null", f"{SAMPLER:#x} {message.descriptor:#x}")

    def texel(self, component: int) -> int:
        """Return the register of a component of the texels."""
        return _TEXELS + self.step * component

    def written(self, component: int, value: int) -> None:
        """Emit a component of the pixels to write, a byte as a float from 0 to 1."""
        self.emit("mov", f"g{_SCRATCH}<1>F", f"g{value}<8,8,1>UD")
        to = _MESSAGE + self.step * component
        self.emit("mul", f"m{to}<1>F", f"g{_SCRATCH}<8,8,1>F", _SCALE)

    def colour(self, number: int) -> None:
        """Emit red, green or blue."""
        register = _COLOUR + self.step * number
        self.plane(number, register)
        if self.kind.correct:
            self.digit(register, _DIGIT, COLOUR_STEPS)
            self.rounded_down(register, _DIGIT)
            self.emit("sel.ge", f"g{register}<1>D", f"g{register}<8,8,1>D", "0D")
            self.emit("sel.l", f"g{register}<1>D", f"g{register}<8,8,1>D", "255D")
        else:
            self.emit("shr", f"g{register}<1>UD", f"g{register}<8,8,1>UD", f"{_FRACTION}UD")
            self.emit("and", f"g{register}<1>UD", f"g{register}<8,8,1>UD", "255UD")
        if self.kind.textured:
            self.modulated(register, self.texel(number))
        self.written(number, register)

    def opacity(self) -> None:
        """Emit the fourth component."""
        if not self.kind.translucent:
            self.emit("mov", f"m{_MESSAGE + self.step * _COLOURS}<1>F", "1.0F")
            return
        self.emit("mov", f"g{_OPACITY}<1>UD", f"g{CONSTANTS}.0<0,1,0>UD")
        if self.kind.textured:
            self.modulated(_OPACITY, self.texel(_COLOURS))
        self.written(_COLOURS, _OPACITY)

    def end(self) -> None:
        """Emit the write, which ends the thread."""
        predicate = "(+f0.0) " if self.kind.cut else ""
        control = _LAST + (_WRITE_EIGHT if self.size == _EIGHT else 0)
        write = f"write(0, {control}, {_WRITE}, 0, 0) mlen {4 * self.step} rlen 0"
        self.lines.append(f"{predicate}send ({self.size}) {_MESSAGE} null<1>UW null {write} {{align1 EOT}}")


@cache
def pixel_shader(kind: ShaderKind) -> EuProgram:
    """Return the program that shades pixels by planes of colours, times a texture where there is one."""
    writer = _Writer(kind)
    writer.origins()
    if kind.correct:
        writer.divisor()
    if kind.textured:
        writer.sampled()
    if kind.cut:
        opacity = f"g{writer.texel(_COLOURS)}<8,8,1>UD"
        writer.emit("cmp.ge.f0.0", "null<1>UD", opacity, f"g{CONSTANTS}.1<0,1,0>UD")
    if kind.colours:
        for colour in range(_COLOURS):
            writer.colour(colour)
        writer.opacity()
    writer.end()
    name = "textured" if kind.textured else "plain"
    return assemble_eu("\n".join(writer.lines), f"{name} SIMD{kind.channels}")


# Vertex shader: two vertices a thread, each in four channels (SIMD4x2), to clip space, lit, and written to the URB.
#
# The payload of a thread: g0 the handles of both vertices' entries in its first double words; constants of the draw,
# two groups of four floats a register, starting at g2; a register for each attribute, starting at g10, with the first
# vertex in its lower half. An entry holds four floats for a header, then position, colour and coordinates. The light is
# the application's: a key and a fill on two-sided surfaces, gamma 2.2.


VERTEX_CONSTANTS, ATTRIBUTES = 2, 10
"""First registers of the payload. Constants: the matrix's four rows, eye, colour, directions to key and fill, and
ambient, key, fill, exponent. Attributes: position, normal, coordinates."""
ENTRY_FLOATS = 16
"""Of a vertex in the URB."""

_PROGRAM = """
    mov (8) m1<1>UD g0<8,8,1>UD {align1 mask_disable}
    mov (8) m2<1>F 0.0F {align1}
    dp4 (8) m3<1>.xF g10<4,4,1>F g2<0,4,1>F {align16}
    dp4 (8) m3<1>.yF g10<4,4,1>F g2.4<0,4,1>F {align16}
    dp4 (8) m3<1>.zF g10<4,4,1>F g3<0,4,1>F {align16}
    dp4 (8) m3<1>.wF g10<4,4,1>F g3.4<0,4,1>F {align16}
    mov (8) m5<1>F g12<4,4,1>F {align16}
    add (8) g20<1>F g4<0,4,1>F -g10<4,4,1>F {align16}
    dp3 (8) g21<1>F g20<4,4,1>F g11<4,4,1>F {align16}
    cmp.l.f0.0 (8) null<1>F g21<4,4,1>F 0.0F {align16}
    mov (8) g22<1>F g11<4,4,1>F {align16}
    (+f0.0) mov (8) g22<1>F -g11<4,4,1>F {align16}
    dp3.sat (8) g23<1>F g22<4,4,1>F g5<0,4,1>F {align16}
    dp3.sat (8) g24<1>F g22<4,4,1>F g5.4<0,4,1>F {align16}
    mul (8) g25<1>F g23<4,4,1>F g6<0,4,1>.yF {align16}
    mul (8) g26<1>F g24<4,4,1>F g6<0,4,1>.zF {align16}
    add (8) g25<1>F g25<4,4,1>F g26<4,4,1>F {align16}
    add (8) g25<1>F g25<4,4,1>F g6<0,4,1>.xF {align16}
    mul.sat (8) g27<1>F g25<4,4,1>F g4.4<0,4,1>F {align16}
    math (8) g28<1>F g27<8,8,1>F g6.3<0,1,0>F pow {align1}
    mov (8) m4<1>F g28<4,4,1>F {align16}
    send (8) 1 null<1>UW null urb 0 interleave used complete mlen 5 rlen 0 {align1 EOT}
"""


@cache
def vertex_shader() -> EuProgram:
    """Return the program that takes two vertices to clip space and lights them."""
    return assemble_eu(_PROGRAM, "vertices SIMD4x2")


# Vertices by threads, and the fixed functions past them: the division by w, the viewport, corners as integers.


_AT_ONCE = 1024
"""Threads that are executed side by side."""
_A_THREAD = 2
_ROW_BYTES = 32
"""Unit of handles and offsets in the URB."""
_ENTRY_BYTES = 4 * ENTRY_FLOATS


class UrbEntries(Urb):
    """URB with an entry for each vertex."""

    def __init__(self, entries: int) -> None:
        super().__init__(np.zeros(entries * _ENTRY_BYTES, np.uint8))

    @property
    def floats(self) -> NDArray[np.float32]:
        """All entries: float32[vertex, 16]."""
        return self.bytes.view(np.float32).reshape(-1, ENTRY_FLOATS)


class VertexConstants(NamedTuple):
    """Constants of a draw's vertices, each rounded once to float32.

    ``matrix`` is float[4, 4], to clip space; ``eye``, ``key`` and ``fill`` float[3], the directions of length 1;
    ``colour`` linear red, green and blue; ``light`` the strengths of ambient, key and fill light.
    """

    matrix: NDArray[np.float64]
    eye: NDArray[np.float64]
    colour: tuple[float, float, float]
    key: NDArray[np.float64]
    fill: NDArray[np.float64]
    light: tuple[float, float, float]
    gamma: float

    @property
    def words(self) -> NDArray[np.float32]:
        """Constants in the payload's order: float32[36]."""
        groups = [*self.matrix, *(np.append(each, 0.0) for each in (self.eye, self.colour, self.key, self.fill))]
        return np.concatenate([*groups, [*self.light, 1 / self.gamma]]).astype(np.float32)


class ShadedVertices(NamedTuple):
    """Vertices of a draw as threads shaded them, and the steps of these.

    ``clip`` is float32[vertex, xyzw], ``colours`` float32[vertex, rgb] from 0 to 1, ``coordinates`` float32[vertex,
    uv].
    """

    clip: NDArray[np.float32]
    colours: NDArray[np.float32]
    coordinates: NDArray[np.float32]
    program: EuProgram
    steps: list[list[CarriedStep]]

    @property
    def written(self) -> int:
        """Bytes written to the URB."""
        return len(self.clip) * _ENTRY_BYTES


def shade_vertices(
    points: NDArray[np.number],
    normals: NDArray[np.number],
    coordinates: NDArray[np.number] | None,
    constants: VertexConstants,
    config: EuConfig | None = None,
) -> ShadedVertices:
    """Shade each vertex once: ``points`` and ``normals`` float[vertex, 3], ``coordinates`` float[vertex, 2]."""
    config, program, count = config or EuConfig(), vertex_shader(), len(points)
    attributes = np.zeros((count + count % _A_THREAD, 3, 4), np.float32)
    attributes[:count, 0, :3], attributes[:count, 0, 3], attributes[:count, 1, :3] = points, 1, normals
    if coordinates is not None:
        attributes[:count, 2, :2] = coordinates
    # A register for each attribute; its halves are the two vertices of a thread.
    payload = attributes.reshape(-1, _A_THREAD, 3, 4).transpose(0, 2, 1, 3).reshape(-1, 3 * 2 * 4)
    handles = np.arange(len(attributes), dtype=np.uint32).reshape(-1, _A_THREAD) * np.uint32(_ENTRY_BYTES // _ROW_BYTES)
    entries, steps = UrbEntries(count), list[list[CarriedStep]]()
    dispatch = np.full(len(payload), 0xFF)
    if count % _A_THREAD:
        dispatch[-1] = 0x0F
    for begin in range(0, len(payload), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        arithmetic = FloatRules(fused=config.fused, flushes=config.flushes)
        unit = ExecutionUnit(
            program.code, len(payload[part]), dispatch=dispatch[part], functions=entries, arithmetic=arithmetic
        )
        unit.set_register(0, handles[part])
        unit.set_register(VERTEX_CONSTANTS, constants.words)
        unit.set_register(ATTRIBUTES, payload[part])
        traces = ThreadTraces(unit)
        unit.run(traces)
        steps += traces.steps
    floats = entries.floats
    return ShadedVertices(floats[:, 4:8], floats[:, 8:11], floats[:, 12:14], program, steps)


def on_the_screen(clip: NDArray[np.float32], width: int, height: int) -> NDArray[np.float32]:
    """Return x and y in pixels and the depth of vertices in clip space: float32[vertex, 3], each step rounded once.

    It is a fixed function of this generation, with unpublished arithmetic; here: the inverse of w, products and a sum.
    """
    inverse = np.float32(1) / clip[:, 3]
    x, y, depth = (clip[:, axis] * inverse for axis in range(3))
    half = np.array([width, height], np.float32) / np.float32(2)
    return np.stack([x * half[0] + half[0], half[1] - y * half[1], depth], axis=1)
