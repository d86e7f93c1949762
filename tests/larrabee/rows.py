"""Hand-worked rows: one instruction, what there was before, what changes. Everything else stays.

State by name: v a vector (four values are repeated in every group of four lanes), k a mask as a number, r a scalar,
flags by name, m64 the words from byte 64 on. What is not named is 0.
"""

from __future__ import annotations

import struct

from tests.larrabee.wide_rows import WIDE

__all__ = ["ROWS", "words"]

NAN, SNAN = 0x7FC00000, 0x7F800001
INF, MINUS_ZERO, TINY = 0x7F800000, 0x80000000, 0x00000001
M = 0xFFFFFFFF  # -1


def words(values: list | tuple | int | float) -> tuple[int, ...]:
    """Return sixteen words: of one value, of four that repeat, or of sixteen; floats become their bits."""
    values = values if isinstance(values, list | tuple) else [values]
    found = [struct.unpack("<I", struct.pack("<f", v))[0] if isinstance(v, float) else v & M for v in values]
    return tuple(found * (16 // len(found))) if len(found) in (1, 4, 16) else tuple(found)


A = [1.0, -2.0, 0.5, 4.0]
B = [3.0, 5.0, -0.5, 0.25]
C = [10.0, 20.0, 30.0, 40.0]
AB = {"v2": A, "v3": B}
ABC = {"v1": C, **AB}
I = [1, -2, 7, 0x80000000]  # noqa: E741
J = [3, -2, -7, 1]
IJ = {"v2": I, "v3": J}
UP = list(range(16))

FLOATS = [
    ("vaddps v1, v2, v3", AB, {"v1": [4.0, 3.0, 0.0, 4.25]}),
    ("vaddps v1{k1}, v2, v3", {**ABC, "k1": 0b0101}, {"v1": [4.0, 20.0, 0.0, 40.0, *C, *C, *C]}),
    ("vaddps v1, v2, v3{cdab}", AB, {"v1": [6.0, 1.0, 0.75, 3.5]}),
    ("vaddps v1, v2, [64]", {"v2": 1.0, "m64": list(range(1, 17))}, {"v1": [1.0] * 16}),
    (
        "vaddps v1, v2, v3",
        {"v2": [INF, SNAN, 0x4B800000, TINY], "v3": [0xFF800000, 1.0, 1.0, TINY]},
        {"v1": [0xFFC00000, 0x7FC00001, 0x4B800000, 2]},
    ),
    ("vsubps v1, v2, v3", AB, {"v1": [-2.0, -7.0, 1.0, 3.75]}),
    ("vsubrps v1, v2, v3", AB, {"v1": [2.0, 7.0, -1.0, -3.75]}),
    ("vmulps v1, v2, v3", AB, {"v1": [3.0, -10.0, -0.25, 1.0]}),
    (
        "vminps v1, v2, v3",
        {"v2": [1.0, NAN, 2.0, 0], "v3": [3.0, 5.0, NAN, MINUS_ZERO]},
        {"v1": [1.0, 5.0, NAN, MINUS_ZERO]},
    ),
    (
        "vmaxps v1, v2, v3",
        {"v2": [1.0, NAN, 2.0, 0], "v3": [3.0, 5.0, NAN, MINUS_ZERO]},
        {"v1": [3.0, 5.0, NAN, MINUS_ZERO]},
    ),
    (
        "vaddsetsps v1, k2, v2, v3",
        {"v2": [1.0, -2.0, MINUS_ZERO, 4.0], "v3": [-3.0, 5.0, MINUS_ZERO, 0.25]},
        {"v1": [-2.0, 3.0, MINUS_ZERO, 4.25], "k2": 0x5555},
    ),
    ("vaddsetsps v1{k1}, k2, v2, v3", {"v2": -1.0, "k1": 3, "k2": 0xFFFF}, {"v1": [-1.0, -1.0, *[0] * 14], "k2": 3}),
]
FUSED = [
    ("vmadd132ps v1, v2, v3", ABC, {"v1": [31.0, 98.0, -14.5, 14.0]}),
    ("vmadd213ps v1, v2, v3", ABC, {"v1": [13.0, -35.0, 14.5, 160.25]}),
    ("vmadd231ps v1, v2, v3", ABC, {"v1": [13.0, 10.0, 29.75, 41.0]}),
    ("vmsub132ps v1, v2, v3", ABC, {"v1": [29.0, 102.0, -15.5, 6.0]}),
    ("vmsub213ps v1, v2, v3", ABC, {"v1": [7.0, -45.0, 15.5, 159.75]}),
    ("vmsub231ps v1, v2, v3", ABC, {"v1": [-7.0, -30.0, -30.25, -39.0]}),
    ("vmaddn132ps v1, v2, v3", ABC, {"v1": [-29.0, -102.0, 15.5, -6.0]}),
    ("vmaddn213ps v1, v2, v3", ABC, {"v1": [-7.0, 45.0, -15.5, -159.75]}),
    ("vmaddn231ps v1, v2, v3", ABC, {"v1": [7.0, 30.0, 30.25, 39.0]}),
    ("vmsubn132ps v1, v2, v3", ABC, {"v1": [-31.0, -98.0, 14.5, -14.0]}),
    ("vmsubn213ps v1, v2, v3", ABC, {"v1": [-13.0, 35.0, -14.5, -160.25]}),
    ("vmsubn231ps v1, v2, v3", ABC, {"v1": [-13.0, -10.0, -29.75, -41.0]}),
    ("vmadd233ps v1, v2, v3", ABC, {"v1": [8.0, -7.0, 5.5, 23.0]}),  # scale 5, bias 3
    # (1 + 2^-23)(1 - 2^-23) - 1 = -2^-46: two roundings give 0.
    ("vmadd231ps v1, v2, v3", {"v1": -1.0, "v2": 0x3F800001, "v3": 0x3F7FFFFE}, {"v1": -(2.0**-46)}),
]
F = {"v2": [1.0, 2.0, NAN, MINUS_ZERO], "v3": [2.0, 2.0, 2.0, 0]}
COMPARES = [
    ("vcmpeqps k1, v2, v3", F, {"k1": 0xAAAA}),
    ("vcmpltps k1, v2, v3", F, {"k1": 0x1111}),
    ("vcmpleps k1, v2, v3", F, {"k1": 0xBBBB}),
    ("vcmpunordps k1, v2, v3", F, {"k1": 0x4444}),
    ("vcmpneqps k1, v2, v3", F, {"k1": 0x5555}),
    ("vcmpnltps k1, v2, v3", F, {"k1": 0xEEEE}),
    ("vcmpnleps k1, v2, v3", F, {"k1": 0x4444}),
    ("vcmpordps k1, v2, v3", F, {"k1": 0xBBBB}),
    ("vcmpltps k1{k2}, v2, v3", {**F, "k1": 0xFFFF, "k2": 0x00F3}, {"k1": 0x0011}),
    ("vcmpeqpi k1, v2, v3", IJ, {"k1": 0x2222}),
    ("vcmpltpi k1, v2, v3", IJ, {"k1": 0x9999}),
    ("vcmplepi k1, v2, v3", IJ, {"k1": 0xBBBB}),
    ("vcmpneqpi k1, v2, v3", IJ, {"k1": 0xDDDD}),
    ("vcmpnltpi k1, v2, v3", IJ, {"k1": 0x6666}),
    ("vcmpnlepi k1, v2, v3", IJ, {"k1": 0x4444}),
    ("vtestpi k1, v2, v3", {"v2": [1, 2, 12, 0], "v3": [3, 1, 4, -1]}, {"k1": 0x5555}),
]
CONVERSIONS = [
    ("vcvtpi2ps v1, v2", {"v2": [1, -3, 0x7FFFFFFF, 16777217]}, {"v1": [1.0, -3.0, 2.0**31, 16777216.0]}),
    ("vcvtpu2ps v1, v2", {"v2": [1, -1, 0x80000000, 0]}, {"v1": [1.0, 2.0**32, 2.0**31, 0.0]}),
    ("vcvtps2pi v1, v2, 0", {"v2": [2.5, -1.5, NAN, 3e9]}, {"v1": [2, -2, 1 << 31, 1 << 31]}),
    ("vcvtps2pi v1, v2, 1", {"v2": [2.5, -1.5, 0.25, -0.25]}, {"v1": [2, -2, 0, -1]}),
    ("vcvtps2pi v1, v2, 2", {"v2": [2.5, -1.5, 0.25, -0.25]}, {"v1": [3, -1, 1, 0]}),
    ("vcvtps2pi v1, v2, 3", {"v2": [2.5, -1.5, 0.25, -0.25]}, {"v1": [2, -1, 0, 0]}),
    ("vloadps v1, v2{dacb}", {"v2": UP}, {"v1": [1, 2, 0, 3, 5, 6, 4, 7, 9, 10, 8, 11, 13, 14, 12, 15]}),
    ("vloadps v1, v2{badc}", {"v2": I}, {"v1": [I[2], I[3], I[0], I[1]]}),
    ("vloadps v1, v2{aaaa}", {"v2": I}, {"v1": I[0]}),
    ("vloadps v1, v2{bbbb}", {"v2": I}, {"v1": I[1]}),
    ("vloadps v1, v2{cccc}", {"v2": I}, {"v1": I[2]}),
    ("vloadps v1, v2{dddd}", {"v2": I}, {"v1": I[3]}),
    ("vloadps v1, [r1 + 4]{1to16}", {"r1": 64, "m64": [7, 8, 9]}, {"v1": 8}),
    ("vloadps v1, [r1]{4to16}", {"r1": 64, "m64": [7, 8, 9, 10]}, {"v1": [7, 8, 9, 10]}),
    ("vloadps v1, [64]{uint8}{4to16}", {"m64": [0xFF800100]}, {"v1": [0.0, 1.0, 128.0, 255.0]}),
    ("vloadps v1, [64]{unorm8}{4to16}", {"m64": [0xFF330100]}, {"v1": [0.0, 0x3B808081, 0x3E4CCCCD, 1.0]}),
    ("vloadps v1, [64]{sint16}{4to16}", {"m64": [0x8000FFFF, 0x00017FFF]}, {"v1": [-1.0, -32768.0, 32767.0, 1.0]}),
    ("vloadps v1, [64]{float16}{4to16}", {"m64": [0xC0003C00, 0x7C010001]}, {"v1": [1.0, -2.0, 2.0**-24, 0x7FC02000]}),
    ("vloadpi v1, [64]{uint8}{4to16}", {"m64": [0xFF800100]}, {"v1": [0, 1, 128, 255]}),
    ("vloadpi v1{k1}, [64]{sint16}{4to16}", {"m64": [0x8000FFFF, 1], "k1": 0xF}, {"v1": [-1, -32768, 1, *[0] * 13]}),
    ("vshuf128x32 v1, v2, 27, 228", {"v2": UP}, {"v1": [12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3]}),
    ("vshuf128x32 v1, v2, 0, 57", {"v2": UP}, {"v1": [1, 2, 3, 0]}),
]
INTEGERS = [
    ("vaddpi v1, v2, v3", IJ, {"v1": [4, -4, 0, 0x80000001]}),
    ("vsubpi v1, v2, v3", IJ, {"v1": [-2, 0, 14, 0x7FFFFFFF]}),
    ("vsubrpi v1, v2, v3", IJ, {"v1": [2, 0, -14, 0x80000001]}),
    ("vmullpi v1, v2, v3", IJ, {"v1": [3, 4, -49, 0x80000000]}),
    ("vmulhpi v1, v2, v3", IJ, {"v1": [0, 0, -1, -1]}),
    ("vminpi v1, v2, v3", IJ, {"v1": [1, -2, -7, 0x80000000]}),
    ("vmaxpi v1, v2, v3", IJ, {"v1": [3, -2, 7, 1]}),
    ("vandpi v1, v2, v3", {"v2": 0b1100, "v3": 0b1010}, {"v1": 0b1000}),
    ("vorpi v1, v2, v3", {"v2": 0b1100, "v3": 0b1010}, {"v1": 0b1110}),
    ("vxorpi v1, v2, v3", {"v2": 0b1100, "v3": 0b1010}, {"v1": 0b0110}),
    ("vandnpi v1, v2, v3", {"v2": 0b1100, "v3": 0b1010}, {"v1": 0b0010}),
    ("vsllpi v1, v2, v3", {"v2": 3, "v3": [0, 4, 31, 32]}, {"v1": [3, 48, 0x80000000, 0]}),
    ("vsrlpi v1, v2, v3", {"v2": 0x80000010, "v3": [0, 4, 31, 32]}, {"v1": [0x80000010, 0x08000001, 1, 0]}),
    ("vsrapi v1, v2, v3", {"v2": 0x80000010, "v3": [0, 4, 31, 40]}, {"v1": [0x80000010, 0xF8000001, -1, -1]}),
    (
        "vadcpi v1, k1, v2",
        {"v1": [1, 1, -1, -1], "v2": [5, 5, 0, 0], "k1": 0xAAAA},
        {"v1": [6, 7, -1, 0], "k1": 0x8888},
    ),
    ("vsbbpi v1, k1, v2", {"v1": [5, 5, 0, 0], "v2": [1, 1, 0, 0], "k1": 0xAAAA}, {"v1": [4, 3, 0, -1], "k1": 0x8888}),
    (
        "vaddsetcpi v1, k1, v2",
        {"v1": [1, -1, 2, -1], "v2": [5, 1, 0, 0], "k1": 0xFFFF},
        {"v1": [6, 0, 2, -1], "k1": 0x2222},
    ),
    ("vsubsetbpi v1, k1, v2", {"v1": [5, 1, 0, -1], "v2": [1, 2, 0, 1]}, {"v1": [4, -1, 0, -2], "k1": 0x2222}),
    ("vaddsetcpi v1{k2}, k1, v2", {"v1": -1, "v2": 1, "k1": 0xF0F0, "k2": 1}, {"v1": [0, *[-1] * 15], "k1": 0xF0F1}),
    ("vaddsetspi v1, k1, v2, v3", IJ, {"v1": [4, -4, 0, 0x80000001], "k1": 0xAAAA}),
    ("vinsertfieldpi v1, v2, 4, 8, 15", {"v1": M, "v2": 0xF0000AB0}, {"v1": 0xFFFFABFF}),
    ("vinsertfieldpi v1, v2, 0, 0, 3", {"v1": 0x50, "v2": 0x1A}, {"v1": 0x5A}),
    ("vbitinterleave11pi v1, v2, v3", {"v2": 0b11, "v3": 0b01}, {"v1": 0b1011}),
    ("vbitinterleave21pi v1, v2, v3", {"v2": 0b1101, "v3": 0b10}, {"v1": 0b111010}),
]
E16 = list(range(100, 116))
MEMORY = [
    (
        "vstored [64]{k1}, v1",
        {"v1": UP, "m64": E16, "k1": 0xF00F},
        {"m64": [0, 1, 2, 3, *range(104, 112), 12, 13, 14, 15]},
    ),
    (
        "vgatherd v1{k1}, v2, [r1]",
        {"r1": 64, "v2": [8, 0, 4, 60], "m64": E16, "k1": 7},
        {"v1": [102, 100, 101, *[0] * 13]},
    ),
    ("vscatterd [r1]{k1}, v2, v3", {"r1": 64, "v2": [0, 4, 4, 8], "v3": UP, "k1": 0x0F}, {"m64": [0, 2, 3]}),
    ("vscatterd [64], v2, v3", {"v2": 0, "v3": UP}, {"m64": [15]}),
    (
        "vcompressd [r1 + 4]{k1}, v1",
        {"r1": 64, "v1": E16, "m64": [9] * 5, "k1": 0x8005},
        {"m64": [9, 100, 102, 115, 9]},
    ),
    ("vexpandd v1{k1}, [64]", {"m64": E16, "k1": 0x8005, "v1": M}, {"v1": [100, M, 101, *[M] * 12, 102]}),
    ("vprefetch1 [64]", {}, {}),
    ("vprefetch2 [64]", {}, {}),
    ("vevict [64]", {}, {}),
]
K = {"k1": 0b1100, "k2": 0b1010}
MASKS = [
    ("kand k1, k2", K, {"k1": 0b1000}),
    ("kandn k1, k2", K, {"k1": 0b0010}),
    ("kandnr k1, k2", K, {"k1": 0b0100}),
    ("kor k1, k2", K, {"k1": 0b1110}),
    ("kxor k1, k2", K, {"k1": 0b0110}),
    ("kxnor k1, k2", K, {"k1": 0xFFF9}),
    ("knot k1, k2", K, {"k1": 0xFFF5}),
    ("kmov k1, k2", K, {"k1": 0b1010}),
    ("kortest k1, k2", {}, {"zero": True}),
    ("kortest k1, k2", {"k1": 0xFF00, "k2": 0x00FF, "less": True}, {"carry": True, "less": False}),
    ("kortest k1, k2", {**K, "zero": True}, {"zero": False}),
    ("kmovkr r1, k1", {"k1": 0x8001}, {"r1": 0x8001}),
    ("kmovrk k1, r1", {"r1": 0xABCD8001, "k1": 2}, {"k1": 0x8001}),
]
SCALARS = [
    ("mov r1, r2", {"r2": 7, "zero": True}, {"r1": 7}),
    ("mov r1, -1", {}, {"r1": M}),
    ("mov r1, 1.5", {}, {"r1": 0x3FC00000}),
    ("add r1, 5", {"r1": -5, "less": True}, {"r1": 0, "zero": True, "carry": True, "less": False}),
    ("add r1, r2", {"r1": 0x7FFFFFFF, "r2": 1}, {"r1": 0x80000000}),  # the exact sum is positive
    ("sub r1, 3", {"r1": 2}, {"r1": -1, "carry": True, "less": True}),
    ("cmp r1, r2", {"r1": -1, "r2": 1}, {"less": True}),
    ("cmp r1, 4", {"r1": 4}, {"zero": True}),
    ("and r1, 10", {"r1": 12}, {"r1": 8}),
    ("or r1, 10", {"r1": 12, "carry": True}, {"r1": 14, "carry": False}),
    ("xor r1, 12", {"r1": 12}, {"r1": 0, "zero": True}),
    ("test r1, 3", {"r1": 12}, {"zero": True}),
    ("shl r1, 4", {"r1": 0x18000001}, {"r1": 0x80000010, "less": True}),
    ("shr r1, 4", {"r1": 0x80000010}, {"r1": 0x08000001}),
    ("sar r1, 33", {"r1": 0x80000010}, {"r1": 0xC0000008, "less": True}),
    ("imul r1, r2", {"r1": -3, "r2": 5}, {"r1": -15, "less": True}),
    ("load r1, [r2 - 4]", {"r2": 72, "m64": [5, 6, 7]}, {"r1": 6}),
    ("store [r2 + 8], r1", {"r2": 64, "r1": 9}, {"m64": [0, 0, 9]}),
    ("bsfi r1, r2", {"r1": -1, "r2": 0b101000, "zero": True}, {"r1": 3, "zero": False}),
    ("bsfi r1, r2", {"r1": 3, "r2": 0b101000}, {"r1": 5}),
    ("bsfi r1, r2", {"r1": 5, "r2": 0b101000}, {"zero": True}),
    ("bsfi r1, r2", {"r1": 30, "r2": 0x80000000}, {"r1": 31}),
    ("bsfi r1, r2", {"r1": 31, "r2": 0x80000000}, {"zero": True}),
    ("bsri r1, r2", {"r1": 32, "r2": 0x80000028}, {"r1": 31}),
    ("bsri r1, r2", {"r1": 31, "r2": 0x80000028}, {"r1": 5}),
    ("bsri r1, r2", {"r1": 3, "r2": 0x80000028}, {"zero": True}),
    ("popcnt r1, r2", {"r2": 0xF0F00001}, {"r1": 9}),
    ("halt", {}, {"next": 0xFFFFFFFF}),
    ("jmp 48", {}, {"next": 48}),
    ("jz 48", {"zero": True}, {"next": 48}),
    ("jz 48", {}, {}),
    ("jnz 48", {}, {"next": 48}),
    ("jnz 48", {"zero": True}, {}),
    ("jc 48", {"carry": True}, {"next": 48}),
    ("jnc 48", {"carry": True}, {}),
    ("jnc 48", {}, {"next": 48}),
    ("jl 48", {"less": True}, {"next": 48}),
    ("jge 48", {"less": True}, {}),
    ("jge 48", {}, {"next": 48}),
]
ROWS = [*FLOATS, *FUSED, *COMPARES, *CONVERSIONS, *INTEGERS, *MEMORY, *MASKS, *SCALARS, *WIDE]
