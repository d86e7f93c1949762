"""The state of one PE besides its memory, and the addresses of its memory (thesis 2.2.1; details invented).

Three 8-bit registers R, S, M; carry C; enable E; the latch L, which holds the enable of whoever called the routine
that is running; a stack of saved enables, a stack of saved latches; the marks MR and MW that make a PE take part in
a texture read or write. At all times E is a subset of L.
"""

__all__ = [
    "CARRIES",
    "COMPOSITION_START",
    "ENABLE_STACK",
    "INPUT_PORT",
    "LATCH_STACK",
    "MAIN_BYTES",
    "MASKS",
    "MEMORY_BYTES",
    "OUTPUT_PORT",
    "PANEL_PES",
    "PORT_BYTES",
    "WORDS",
]

MAIN_BYTES = 256
COMPOSITION_START = 256
INPUT_PORT = 320
OUTPUT_PORT = 352
PORT_BYTES = 32
MEMORY_BYTES = 384
"""256 main, 64 image composition, two local ports of 32 (thesis 2.2.1, 3.6); the order is invented."""

PANEL_PES = 32
"""PEs of a panel, the reach of PixCopy and PixSwap (thesis 2.2.8)."""

WORDS = ("R", "S", "M")
CARRIES = ("C",)

ENABLE_STACK = ("E0", "E1", "E2", "E3")
"""Saved enables, newest first (depth 4, invented)."""

LATCH_STACK = ("L0", "L1", "L2", "L3")
"""Latches of the calling routines, innermost first (depth 4, invented)."""

MASKS = ("E", "L", *ENABLE_STACK, *LATCH_STACK, "MR", "MW")
