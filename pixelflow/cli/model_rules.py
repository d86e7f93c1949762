"""Rules of the model that are neither an instruction nor a configuration value, and what is not modelled.

``pixelflow about --model`` lists these beside the declarations and the configuration, so that a reader finds every
guess in one place.
"""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.isa import PARAMETERS, SEMAPHORES
from pixelflow.isa.operands import COEFFICIENT_BITS
from pixelflow.isa.registers import COMPOSITION_START, ENABLE_STACK, INPUT_PORT, LATCH_STACK, MAIN_BYTES, OUTPUT_PORT
from pixelflow.units import Standing

__all__ = ["NOT_MODELLED", "RULES", "Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: what the model does, how well founded that is, and on what grounds."""

    text: str
    standing: Standing
    source: str


RULES = (
    Rule(
        "a microinstruction takes one cycle and makes at most one memory access",
        Standing.FITTED,
        "16- and 32-bit addition in 7 and 13 cycles",
    ),
    Rule(
        f"PE memory: 0 to {MAIN_BYTES - 1} main, from {COMPOSITION_START} image composition, "
        f"from {INPUT_PORT} input port, from {OUTPUT_PORT} output port",
        Standing.INVENTED,
        "sizes: thesis 2.2.1 and 3.6; the order is not printed",
    ),
    Rule(
        "a PE has registers R, S and M of 8 bits, a carry C, an enable E and a latch L",
        Standing.INVENTED,
        "the thesis prints an 8-bit ALU and nothing of its registers",
    ),
    Rule(
        f"{len(ENABLE_STACK)} enables and {len(LATCH_STACK)} latches can be saved in a PE",
        Standing.INVENTED,
        "the float routines need 2",
    ),
    Rule(
        f"a call passes up to {PARAMETERS} addresses or bytes; {SEMAPHORES} counting semaphores",
        Standing.INVENTED,
        "semaphores: thesis 1 and 2.2.1; neither number is printed",
    ),
    Rule(
        f"the LEE takes signed coefficients of {COEFFICIENT_BITS} bits; results are cut to the bytes asked for",
        Standing.INVENTED,
        "thesis 2.2.9 prints the equations without a width",
    ),
    Rule("instruction words of 32 bits with an opcode of 8 bits", Standing.INVENTED, "no encoding is published"),
    Rule("at the start all PEs are enabled and all memory and registers are 0", Standing.INVENTED, "not printed"),
    Rule(
        "floating point: IEEE 754 binary32, round to nearest even; subnormal operands are zeros, a result whose "
        "exponent before rounding is below the smallest normal is a zero; one quiet NaN",
        Standing.INVENTED,
        "the thesis prints cycle counts only; microcode, so nothing in the machine depends on it",
    ),
)

NOT_MODELLED = (
    "texture memory, TASICs and SDRAM: control points enter through the LEE",
    "the TIGC stream beside the EIGC: one stream runs at a time",
    "geometry network, GNI and GPs; more than one node",
    "image composition network (its 64 bytes of a PE are plain memory)",
    "host, front end, power, physical layout",
)
