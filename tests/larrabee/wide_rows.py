"""Hand-worked rows of instructions in lanes of 64 bits; doubles stand as two words each, the low one first."""

from __future__ import annotations

import struct

__all__ = ["WIDE", "doubles"]

NAN, SNAN = 0x7FF8000000000000, 0x7FF0000000000001
INF, MINUS_ZERO, TINY = 0x7FF0000000000000, 0x8000000000000000, 1
INDEFINITE = 0xFFF8000000000000


def doubles(values: list[float | int] | float | int) -> list[int]:
    """Return sixteen words: of one number of 64 bits, of four that repeat, or of eight; floats become their bits."""
    values = values if isinstance(values, list) else [values]
    bits = [struct.unpack("<Q", struct.pack("<d", v))[0] if isinstance(v, float) else v for v in values]
    return [word for each in bits * (8 // len(bits)) for word in (each & 0xFFFFFFFF, each >> 32)]


def words(*values: float) -> list[int]:
    """Return floats as words."""
    return [struct.unpack("<I", struct.pack("<f", value))[0] for value in values]


A, B, C = [1.0, -2.0, 0.5, 4.0], [3.0, 5.0, -0.5, 0.25], [10.0, 20.0, 30.0, 40.0]
AB = {"v2": doubles(A), "v3": doubles(B)}
ABC = {"v1": doubles(C), **AB}
EIGHT = [float(each) for each in range(8)]
STORED = {"m64": doubles(EIGHT)}
THIRD = 1 / 3

ARITHMETIC = [
    ("vaddpd v1, v2, v3", AB, [4.0, 3.0, 0.0, 4.25]),
    ("vaddpd v1{k1}, v2, v3", {**ABC, "k1": 0xFF05}, [4.0, 20.0, 0.0, 40.0, *C]),
    ("vaddpd v1, v2, v3{cdab}", AB, [6.0, 1.0, 0.75, 3.5]),
    ("vaddpd v1, v2, v3{dacb}", AB, [6.0, -2.5, 3.5, 4.25]),
    ("vaddpd v1, v2, [64]{1to8}", {**AB, "m64": doubles(THIRD)[:2]}, [each + THIRD for each in A]),
    ("vaddpd v1, v2, [64]{4to8}", {**AB, "m64": doubles(C)[:8]}, [11.0, 18.0, 30.5, 44.0]),
    ("vaddpd v1, v2, [64]", {"v2": doubles(1.0), **STORED}, [each + 1.0 for each in EIGHT]),
    (
        "vaddpd v1, v2, v3",
        {"v2": doubles([INF, SNAN, 1e16, TINY]), "v3": doubles([0xFFF0 << 48, 1.0, 1.0, TINY])},
        [INDEFINITE, SNAN | NAN, 1e16, 2],
    ),
    ("vsubpd v1, v2, v3", AB, [-2.0, -7.0, 1.0, 3.75]),
    ("vsubrpd v1, v2, v3", AB, [2.0, 7.0, -1.0, -3.75]),
    # Of two NaNs the first operand's comes out, also where the other is what is subtracted from.
    ("vsubrpd v1, v2, v3", {"v2": doubles(SNAN), "v3": doubles(NAN | 5)}, [SNAN | NAN]),
    ("vmulpd v1, v2, v3", AB, [3.0, -10.0, -0.25, 1.0]),
    (
        "vminpd v1, v2, v3",
        {"v2": doubles([1.0, NAN, 2.0, 0]), "v3": doubles([3.0, 5.0, NAN, MINUS_ZERO])},
        [1.0, 5.0, NAN, MINUS_ZERO],
    ),
    (
        "vmaxpd v1, v2, v3",
        {"v2": doubles([1.0, NAN, 2.0, 0]), "v3": doubles([3.0, 5.0, NAN, MINUS_ZERO])},
        [3.0, 5.0, NAN, MINUS_ZERO],
    ),
    ("vmadd132pd v1, v2, v3", ABC, [31.0, 98.0, -14.5, 14.0]),
    ("vmadd213pd v1, v2, v3", ABC, [13.0, -35.0, 14.5, 160.25]),
    ("vmadd231pd v1, v2, v3", ABC, [13.0, 10.0, 29.75, 41.0]),
    ("vmsub132pd v1, v2, v3", ABC, [29.0, 102.0, -15.5, 6.0]),
    ("vmsub213pd v1, v2, v3", ABC, [7.0, -45.0, 15.5, 159.75]),
    ("vmsub231pd v1, v2, v3", ABC, [-7.0, -30.0, -30.25, -39.0]),
    ("vmaddn132pd v1, v2, v3", ABC, [-29.0, -102.0, 15.5, -6.0]),
    ("vmaddn213pd v1, v2, v3", ABC, [-7.0, 45.0, -15.5, -159.75]),
    ("vmaddn231pd v1, v2, v3", ABC, [7.0, 30.0, 30.25, 39.0]),
    ("vmsubn132pd v1, v2, v3", ABC, [-31.0, -98.0, 14.5, -14.0]),
    ("vmsubn213pd v1, v2, v3", ABC, [-13.0, 35.0, -14.5, -160.25]),
    ("vmsubn231pd v1, v2, v3", ABC, [-13.0, -10.0, -29.75, -41.0]),
    # (1 + 2^-52)(1 - 2^-52) - 1 = -2^-104: two roundings give 0.
    (
        "vmadd231pd v1, v2, v3",
        {"v1": doubles(-1.0), "v2": doubles(1 + 2.0**-52), "v3": doubles(1 - 2.0**-52)},
        [-(2.0**-104)],
    ),
    # 2^1000 * 2^1000 is no double, and -2^1023 does not bring it back; 2^-537 squared is the least one.
    (
        "vmadd231pd v1, v2, v3",
        {"v1": doubles([-(2.0**1023), -(2.0**-1073)]*2), "v2": doubles([2.0**1000, 2.0**-537]*2),
         "v3": doubles([2.0**1000, 2.0**-537]*2)},
        [INF, MINUS_ZERO | 1, INF, MINUS_ZERO | 1],
    ),
    # An infinite addend stays, whatever the finite product would be rounded to.
    ("vmadd231pd v1, v2, v3", {"v1": doubles(0xFFF0 << 48), "v2": doubles(2.0**1000), "v3": doubles(2.0**1000)},
     [0xFFF0 << 48]),
    ("vandpq v1, v2, v3", {"v2": doubles(0xC00000000C), "v3": doubles(0xA00000000A)}, [0x8000000008]),
    ("vorpq v1, v2, v3", {"v2": doubles(0xC00000000C), "v3": doubles(0xA00000000A)}, [0xE00000000E]),
    ("vxorpq v1, v2, v3", {"v2": doubles(0xC00000000C), "v3": doubles(0xA00000000A)}, [0x6000000006]),
    ("vandnpq v1{k1}, v2, v3", {"v2": doubles(0xC00000000C), "v3": doubles(0xA00000000A), "k1": 2},
     [0, 0x2000000002, *[0] * 6]),
    ("vloadq v1, v2{badc}", {"v2": doubles(EIGHT)}, [2.0, 3.0, 0.0, 1.0, 6.0, 7.0, 4.0, 5.0]),
    ("vloadq v1, v2{aaaa}", {"v2": doubles(EIGHT)}, [0.0] * 4 + [4.0] * 4),
    ("vloadq v1{k1}, [r1 + 8]{1to8}", {"r1": 64, "v1": doubles(C), "k1": 1, **STORED}, [1.0, *C[1:], *C]),
    ("vexpandq v1{k1}, [72]", {"k1": 0x86, "v1": doubles(C), **STORED}, [10.0, 1.0, 2.0, *C[3:], *C[:3], 3.0]),
    ("vcvtpi2pd v1, v2", {"v2": [1, -3, 0x7FFFFFFF, 16777217]}, [1.0, -3.0, 2147483647.0, 16777217.0]),
    ("vcvtpi2pd v1, v2{badc}", {"v2": list(range(16))}, [2.0, 3.0, 0.0, 1.0, 6.0, 7.0, 4.0, 5.0]),
    ("vcvtpu2pd v1{k1}, v2", {"v2": [1, -1, 0x80000000, 0], "k1": 6}, [0.0, 4294967295.0, 2147483648.0, *[0.0] * 5]),
    ("vcvtps2pd v1, v2", {"v2": [*words(THIRD, -2.5), 0x7F800001, 1]},
     [struct.unpack("<f", struct.pack("<f", THIRD))[0], -2.5, 0x7FF8000020000000, 2.0**-149]),
]  # fmt: skip
COMPARED = {
    "v2": doubles([1.0, 2.0, NAN, 0.0, 5.0, 0xFFF0 << 48, 7.0, SNAN]),
    "v3": doubles([1.0, 3.0, 1.0, MINUS_ZERO, 4.0, INF, NAN, NAN]),
}
"""Equal, less, unordered, equal, greater, less, unordered, unordered."""
COMPARES = [
    ("vcmpeqpd k2, v2, v3", COMPARED, 0b00001001),
    ("vcmpltpd k2, v2, v3", COMPARED, 0b00100010),
    ("vcmplepd k2, v2, v3", COMPARED, 0b00101011),
    ("vcmpunordpd k2, v2, v3", COMPARED, 0b11000100),
    ("vcmpneqpd k2, v2, v3", COMPARED, 0b11110110),
    ("vcmpnltpd k2, v2, v3", COMPARED, 0b11011101),
    ("vcmpnlepd k2, v2, v3", COMPARED, 0b11010100),
    ("vcmpordpd k2, v2, v3", COMPARED, 0b00111011),
    ("vcmpltpd k2{k1}, v2, v3{cdab}", {**COMPARED, "k1": 0xFF13, "k2": 0xFFFF}, 0b00010001),
    ("vcmpltpd k2, v2, [64]{1to8}", {**COMPARED, "m64": doubles(2.5)[:2]}, 0b00101011),
]
OTHERS = [
    ("vstoreq [64]{k1}, v1", {"v1": doubles(C), "k1": 0xFF81, **STORED}, {"m64": doubles([10.0, *EIGHT[1:7], 40.0])}),
    ("vstoreq [r1 + 8], v1", {"r1": 56, "v1": doubles(C)}, {"m64": doubles(C)}),
    (
        "vcompressq [72]{k1}, v1",
        {"v1": doubles(EIGHT), "k1": 0x92, "m64": doubles(9.0)},
        {"m64": doubles([9.0, 1.0, 4.0, 7.0, *[9.0] * 4])},
    ),
    (
        "vcvtpd2pi v1, v2, 0",
        {"v1": 7, "v2": doubles([2.5, -1.5, NAN, 3e9])},
        {"v1": [2, -2, 1 << 31, 1 << 31] * 2 + [7] * 8},
    ),
    ("vcvtpd2pi v1, v2, 1", {"v2": doubles([2.5, -1.5, 0.25, -0.25])}, {"v1": [2, -2, 0, -1] * 2 + [0] * 8}),
    ("vcvtpd2pi v1, v2, 2", {"v2": doubles([2.5, -1.5, 0.25, -0.25])}, {"v1": [3, -1, 1, 0] * 2 + [0] * 8}),
    ("vcvtpd2pi v1{k1}, v2, 3", {"v2": doubles([2.5, -1.5, 2147483647.9, -0.25]), "k1": 0xFFF4},
     {"v1": [0, 0, 0x7FFFFFFF, 0, 2, -1, 0x7FFFFFFF, 0, *[0] * 8]}),
    *(
        # A half below 2^31 is in range only downwards; -2^31 - 1/2 looks alike whether it is -2^31 or out of range.
        (f"vcvtpd2pi v1, v2, {mode}", {"v2": doubles([2147483647.5, -0.5, 1.5, -2147483648.5])},
         {"v1": [top, low % 2**32, up, 1 << 31] * 2 + [0] * 8})
        for mode, top, low, up in (
            (0, 1 << 31, 0, 2), (1, 0x7FFFFFFF, -1, 1), (2, 1 << 31, 0, 2), (3, 0x7FFFFFFF, 0, 1),
        )
    ),
    (
        # Just above the middle of 1 and the next float, just below the middle of the largest one and 2^128, the least.
        "vcvtpd2ps v1, v2",
        {"v2": doubles([1 + 2.0**-24 + 2.0**-52, 2.0**128 - 2.0**103 - 2.0**75, 0xFFF4 << 48, -(2.0**-149)])},
        {"v1": [0x3F800001, 0x7F7FFFFF, 0xFFE00000, 0x80000001] * 2 + [0] * 8},
    ),
    (
        "vcvtpd2ps v1, v2",  # 1 + 2^-24 lies in the middle of two floats, and 2^-150 between 0 and the least one
        {"v1": 7, "v2": doubles([1 + 2.0**-24, 1e39, SNAN | 1 << 40, 2.0**-150])},
        {"v1": [*words(1.0), 0x7F800000, 0x7FC00000 | 1 << 11, 0] * 2 + [7] * 8},
    ),
]  # fmt: skip
WIDE = [
    *((text, before, {"v1": doubles(after)}) for text, before, after in ARITHMETIC),
    *((text, before, {"k2": after}) for text, before, after in COMPARES),
    *OTHERS,
]
