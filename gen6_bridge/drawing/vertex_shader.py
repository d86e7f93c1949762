"""Vertex shader: two vertices a thread, each four channels (SIMD4x2), to clip space, lit, and written to the URB.

The payload of a thread: g0 the handles of both vertices' entries in its first double words; from g2 on what is the same
for a draw, two groups of four floats a register; from g10 on a register for each attribute, the first vertex's in its
lower half. What is written to an entry: four floats that a header takes, then position, colour, coordinates. The light
is the one of the application: a key and a fill on surfaces with two sides, gamma 2.2.
"""

from __future__ import annotations

from functools import cache

from gen6_bridge.code.assembler import EuProgram, assemble_eu

__all__ = ["ATTRIBUTES", "ENTRY_FLOATS", "VERTEX_CONSTANTS", "vertex_shader"]

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
