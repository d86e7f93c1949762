"""Pixel shaders: programs of eight or sixteen channels, in integers, so that colours are the reference's to the bit.

The payload of a thread, of our own making: g2 columns, g3 rows of its pixels and g4 the samples whose places give
their colours, as words; g5 what is the same for the whole draw: opacity and cutout; from g6 on a register for each
plane: A, B of A x + B y + C, two double words that are not used, and C at each sample of a pixel. Planes of colours
have 16 bits of fraction. In perspective planes are numerators, and the sixth is what they are divided by, digit by
digit, as `pixelflow.simd.drawing.interpolation` says. A pixel whose texel is too transparent is killed: it takes no
part in the write.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from gen6_bridge.code.assembler import EuProgram, assemble_eu
from gen6_bridge.code.isa.encoding.operands import EuMessage
from gen6_bridge.unit.messages import SAMPLER
from pixelflow.simd.drawing import COLOUR_STEPS
from pixelflow.simd.drawing.mipmaps import NO_COORDINATE

__all__ = ["COLUMNS", "CONSTANTS", "PLANES", "PLANE_WORDS", "ROWS", "SAMPLE", "ShaderKind", "pixel_shader"]

COLUMNS, ROWS, SAMPLE, CONSTANTS, PLANES = 2, 3, 4, 5, 6
"""First registers of the payload."""
PLANE_WORDS = 8
"""Double words of a plane: A, B, two that are not used, C at up to four samples."""
_EIGHT, _SIXTEEN = 8, 16
_COLOURS, _AXES = 3, 2
_DIVISOR = 5
"""The plane that numerators are divided by."""
_FRACTION = 16
_SCALE = "0.003921568859F"
"""1 / 255 as a float."""
_HEADER, _MESSAGE = 1, 2
"""Message registers: the sampler's header, and where places or colours begin."""
_SCRATCH, _PLACES, _COLOUR, _OPACITY, _TEXELS, _ORIGINS = 14, 16, 20, 26, 40, 50
_BELOW, _INVERSE, _DIGIT, _PRODUCT, _QUOTIENT = 28, 30, 32, 34, 36
"""General registers, of which a value has one for each eight channels."""
_LAST, _WRITE, _WRITE_EIGHT = 16, 12, 4
"""Of a write to the render target: its last one, the type, and the control for eight channels."""


@dataclass(frozen=True, slots=True)
class ShaderKind:
    """What a pixel shader must do."""

    textured: bool = False
    translucent: bool = False
    """Whether blending looks at opacity; else 1 is written."""
    cut: bool = False
    """Whether pixels whose texel has less opacity than the cutout are killed."""
    colours: bool = True
    """Whether colours are written at all; else it only kills."""
    samples: int = 1
    channels: int = _SIXTEEN
    correct: bool = False
    """Whether planes are of numerators and their divisor."""
    bits: int = 0
    """By how many bits numerators of u and v go up before they are divided."""
    mipmaps: bool = False
    """Whether the sampler looks at all pixels of a subspan, so that those without coordinates are to say so."""

    @property
    def planes(self) -> tuple[int, ...]:
        """Numbers of the planes that it works out: u and v after red, green and blue, then the divisor."""
        colours = range(_COLOURS) if self.colours else range(0)
        coordinates = range(_COLOURS, _COLOURS + _AXES) if self.textured else ()
        return (*coordinates, *colours, *((_DIVISOR,) if self.correct else ()))


class _Writer:
    """Lines of a program of some width."""

    def __init__(self, kind: ShaderKind) -> None:
        self.kind, self.size = kind, kind.channels
        self.step = kind.channels // _EIGHT
        """Registers of a value."""
        self.lines: list[str] = []

    def emit(self, mnemonic: str, to: str, *sources: str, options: str = "") -> None:
        """Emit an instruction on all channels, or on those of a predicate before the mnemonic."""
        self.lines.append(f"{mnemonic} ({self.size}) {to} {' '.join(sources)} {options}".rstrip())

    def origins(self) -> None:
        """Emit C of each plane at each pixel's sample, by addresses, of which there are eight at a time."""
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
        """Emit what is divided by, and its reciprocal in floats, which eight channels at a time get."""
        self.plane(_DIVISOR, _BELOW)
        self.emit("mov", f"g{_SCRATCH}<1>F", f"g{_BELOW}<8,8,1>D")
        for half in range(self.step):
            options = " {align1 sechalf}" if half else ""
            self.lines.append(f"math (8) g{_INVERSE + half}<1>F g{_SCRATCH + half}<8,8,1>F null<8,8,1>F inv{options}")

    def digit(self, register: int, to: int, bits: int) -> None:
        """Emit the nearest integer to value 2^bits / divisor; of the value stays what that leaves."""
        self.emit("mov", f"g{_SCRATCH}<1>F", f"g{register}<8,8,1>D")
        self.emit("mul", f"g{_SCRATCH}<1>F", f"g{_SCRATCH}<8,8,1>F", f"g{_INVERSE}<8,8,1>F")
        self.emit("mul", f"g{_SCRATCH}<1>F", f"g{_SCRATCH}<8,8,1>F", f"{float(1 << bits)}F")
        self.emit("rnde", f"g{_SCRATCH}<1>F", f"g{_SCRATCH}<8,8,1>F")
        self.emit("mov", f"g{to}<1>D", f"g{_SCRATCH}<8,8,1>F")
        self.emit("mul", f"g{_PRODUCT}<1>D", f"g{to}.0<16,8,2>W", f"g{_BELOW}<8,8,1>D")
        self.emit("shl", f"g{register}<1>D", f"g{register}<8,8,1>D", f"{bits}UD")
        self.emit("add", f"g{register}<1>D", f"g{register}<8,8,1>D", f"-g{_PRODUCT}<8,8,1>D")

    def rounded_down(self, register: int, quotient: int) -> None:
        """Emit the quotient, less 1 where its rest is below 0, in the register of the rest."""
        self.emit("asr", f"g{register}<1>D", f"g{register}<8,8,1>D", "31UD")
        self.emit("add", f"g{register}<1>D", f"g{register}<8,8,1>D", f"g{quotient}<8,8,1>D")

    def without_coordinates(self) -> None:
        """Emit the flag of pixels whose divisor is not above half of their numerators."""
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
        """Emit div(value * texel): with y = product + 128, (y + (y >> 8)) >> 8; the texel is lost."""
        self.emit("mul", f"g{value}<1>UD", f"g{value}<8,8,1>UD", f"g{texel}<8,8,1>UD")
        self.emit("add", f"g{value}<1>UD", f"g{value}<8,8,1>UD", "128UD")
        self.emit("shr", f"g{texel}<1>UD", f"g{value}<8,8,1>UD", "8UD")
        self.emit("add", f"g{value}<1>UD", f"g{value}<8,8,1>UD", f"g{texel}<8,8,1>UD")
        self.emit("shr", f"g{value}<1>UD", f"g{value}<8,8,1>UD", "8UD")

    def sampled(self) -> None:
        """Emit the message for texels; red, green, blue and opacity come back."""
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
        """Emit a component of the pixels to be written, a byte as a float from 0 to 1."""
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
