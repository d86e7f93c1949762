"""Pixel shaders: programs of sixteen channels, in integers, so that their colours are the reference's to the bit.

The payload of a thread, of our own making: g2 columns and g3 rows of its pixels as words; from g4 on, four double words
for each plane: A, B, C of A x + B y + C, and one that is not used. Planes of colours have 16 bits of fraction.
"""

from __future__ import annotations

from functools import cache

from gen6_bridge.code.assembler import EuProgram, assemble_eu

__all__ = ["COLUMNS", "PLANES", "ROWS", "TARGET_FIRST", "pixel_shader"]

COLUMNS, ROWS, PLANES = 2, 3, 4
"""First registers of the payload."""
TARGET_FIRST = 2
"""The message register that colours begin at."""
_COLOURS, _TEXELS = 3, 2
_FRACTION = 16
_SCALE = "0.003921568859F"
"""1 / 255 as a float."""


def _plane(number: int, to: int, scratch: int) -> list[str]:
    """Return the value of a plane at sixteen pixels, modulo 2^32."""
    place = f"g{PLANES + number // 2}."
    a, b, c = (f"{place}{4 * (number % 2) + term}<0,1,0>D" for term in range(3))
    return [
        f"mul (16) g{to}<1>D g{COLUMNS}<16,16,1>UW {a}",
        f"mul (16) g{scratch}<1>D g{ROWS}<16,16,1>UW {b}",
        f"add (16) g{to}<1>D g{to}<8,8,1>D g{scratch}<8,8,1>D",
        f"add (16) g{to}<1>D g{to}<8,8,1>D {c}",
    ]


def _modulated(colour: int, texel: int) -> list[str]:
    """Return div(colour * texel): with y = product + 128, (y + (y >> 8)) >> 8."""
    return [
        f"mul (16) g{colour}<1>UD g{colour}<8,8,1>UD g{texel}<8,8,1>UD",
        f"add (16) g{colour}<1>UD g{colour}<8,8,1>UD 128UD",
        f"shr (16) g{texel}<1>UD g{colour}<8,8,1>UD 8UD",
        f"add (16) g{colour}<1>UD g{colour}<8,8,1>UD g{texel}<8,8,1>UD",
        f"shr (16) g{colour}<1>UD g{colour}<8,8,1>UD 8UD",
    ]


@cache
def pixel_shader(*, textured: bool) -> EuProgram:
    """Return the program that shades sixteen pixels by planes of colours, times a texture where there is one."""
    lines: list[str] = []
    if textured:
        for axis in range(_TEXELS):
            lines += _plane(_COLOURS + 1 + axis, 10 + 2 * axis, 14)
        lines += ["mov (8) m1<1>UD g0<8,8,1>UD {align1 mask_disable}"]
        lines += [f"mov (16) m{2 + 2 * axis}<1>UD g{10 + 2 * axis}<8,8,1>UD" for axis in range(_TEXELS)]
        lines += ["send (16) 1 g40<1>UW null sampler(0, 0, UD) mlen 5 rlen 8"]
    for colour in range(_COLOURS):
        register = 20 + 2 * colour
        lines += _plane(colour, register, 14)
        lines += [
            f"shr (16) g{register}<1>UD g{register}<8,8,1>UD {_FRACTION}UD",
            f"and (16) g{register}<1>UD g{register}<8,8,1>UD 255UD",
        ]
        if textured:
            lines += _modulated(register, 40 + 2 * colour)
        lines += [
            f"mov (16) g14<1>F g{register}<8,8,1>UD",
            f"mul (16) m{TARGET_FIRST + 2 * colour}<1>F g14<8,8,1>F {_SCALE}",
        ]
    lines += [f"mov (16) m{TARGET_FIRST + 2 * _COLOURS}<1>F 1.0F"]
    lines += [f"send (16) {TARGET_FIRST} null<1>UW null write(0, 16, 12, 0, 0) mlen 8 rlen 0 {{align1 EOT}}"]
    return assemble_eu("\n".join(lines), "textured" if textured else "plain")
