"""State of a thread: where registers lie in its memory of bytes, and the names of what channels hold besides.

The general registers are bytes that channels share, so they are a memory: an operand is read at a constant address for
each channel, or at one that an address register gives. Regions, overlap and bytes follow from that.
"""

from __future__ import annotations

from gen6_bridge.code.isa.encoding.operands import GRF_BYTES, MRF_REGISTERS, REGISTER_BYTES, Architecture

__all__ = [
    "A0",
    "ACC_FLOAT",
    "ACC_HIGH",
    "ACC_LOW",
    "ARCHITECTURE_BASES",
    "BYTES",
    "CHANNELS",
    "DISPATCHED",
    "FLAGS",
    "IP",
    "MRF",
    "ON",
    "PC",
]

CHANNELS = 16
"""Channels of a thread, which are the lanes of a group."""
MRF = GRF_BYTES
"""First byte of the message registers; the general registers begin at 0."""
A0 = MRF + MRF_REGISTERS * REGISTER_BYTES
"""First byte of the address registers, eight words."""
ARCHITECTURE_BASES = {
    Architecture.ADDRESS: A0,
    Architecture.STATE: A0 + 16,
    Architecture.CONTROL: A0 + 32,
    Architecture.NOTIFICATION: A0 + 48,
}
"""First bytes of the architecture registers that are plain bytes, sixteen each."""
BYTES = A0 + 64
FLAGS = ("f0.0", "f0.1")
"""The flag words, one bit a channel."""
ON = "on"
"""Channels whose instruction pointer is the thread's."""
DISPATCHED = "dispatched"
"""Channels that exist."""
PC, IP = "pc", "ip"
"""The instruction pointer of each channel, where it is not the thread's; the thread's next one."""
ACC_LOW, ACC_HIGH, ACC_FLOAT = "acc low", "acc high", "acc float"
"""The accumulator of each channel: an integer of 64 bits, and a float."""
