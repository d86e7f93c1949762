"""Prices: what a configuration makes of one instruction, of one access to an SDRAM, and of a path from box to box.

An instruction takes its declared cycles and what `config.extra` adds; control takes `igc.control_cycles`. An access
takes the slot that follows from the times of the devices, written out here, and no published count. Instruction words
are there at once: a configuration with `igc.supply` is not priced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from microcode import assemble
from pixelflow.config import NodeConfig, SdramConfig
from pixelflow.evidence import Derivation, derived
from pixelflow.isa import Instruction, Program, takes_control
from pixelflow.node import cycles_of

__all__ = ["Prices", "path", "read_slot", "text_of", "write_slot"]


@dataclass(frozen=True, slots=True)
class Prices:
    """Cycles of instructions on a machine."""

    config: NodeConfig

    @property
    def control(self) -> int:
        """Of a call, a return, a semaphore that is free, or the end."""
        return self.config.igc.control_cycles

    def of(self, text: str) -> int:
        """Return what the EMC instruction that is written so takes."""
        program = assemble(f"{text}\n")
        return self.sum(program, program.instructions[:1])

    def sum(self, program: Program, instructions: Sequence[Instruction]) -> int:
        """Return what instructions of a program take, each of them once."""
        declared = [self.control if takes_control(each.declaration) else each.cycles for each in instructions]
        return sum(cycles_of(instructions, declared, self.config.extra))

    @property
    def all(self) -> int:
        """Of the enable of all PEs."""
        return self.of("EMC_SetEnab")

    @property
    def mark(self) -> int:
        """Of a mark for a transfer."""
        return self.of("EMC_MarkRead")

    @property
    def compare(self) -> int:
        """Of a compare of one byte of the LEE."""
        return self.of("EMC_TreeGEZero_Li 0, 1, 1, 0, 0")

    def load(self, size: int) -> int:
        """Of a load of ``size`` bytes by the LEE."""
        return self.of(f"EMC_TreeIntoMem_Li [0], {size}, 0, 0, 0")

    @property
    def byte(self) -> int:
        """Of a byte that is copied within PE memory."""
        return self.of("LD R, [0]") + self.of("ST [0], R")

    def pix_copy(self, size: int, distance: int) -> int:
        """Of a PixCopy."""
        return self.of(f"EMC_PixCopy [0], [0], {size}, {distance}")


def text_of(program: Program, entry: str) -> list[Instruction]:
    """Return the instructions of a stream in the order of its text, called routines written out.

    Raises ValueError where the text alone does not say how often they are executed: at a loop or jump.
    """
    found: list[Instruction] = []

    def follow(index: int) -> None:
        for each in program.instructions[index:]:
            if each.mnemonic in ("LOOP", "JMP"):
                raise ValueError(f"{each.mnemonic} in the text of {entry}: its length is not that of its execution")
            found.append(each)
            if each.mnemonic == "CALL":
                follow(program.index_of[each.operands[0]])
            elif each.mnemonic in ("RET", "HALT"):
                return

    follow(program.index_of[program.entries[entry]])
    return found


def path(*wires: str) -> Derivation:
    """Return the cycles of words that go from box to box: one on each wire of `node/run/order/netlist.py`."""
    return derived(" + ".join(wires), **dict.fromkeys(wires, 1))


def read_slot(sdram: SdramConfig, size: int, *, alternate: bool = False) -> Derivation:
    """Return the equal slot of reads: activate, read, the last byte but one, precharge, activate again.

    In alternate banks a bank has the time of two slots, each at least as long as its burst. That holds where no two
    commands meet on their pins, which times other than those of the thesis may make them do; then it is too short.
    """
    return _slot(
        sdram, "max(tRAS, tRCD + CL + burst - 2)", alternate=alternate, tRCD=sdram.trcd_cycles, CL=sdram.cl_cycles,
        burst=size,
    )  # fmt: skip


def write_slot(sdram: SdramConfig, size: int, *, alternate: bool = False) -> Derivation:
    """Return the equal slot of writes, whose precharge comes tWR after the last byte."""
    return _slot(
        sdram, "max(tRAS, tRCD + burst - 1 + tWR)", alternate=alternate, tRCD=sdram.trcd_cycles, burst=size,
        tWR=sdram.twr_cycles,
    )  # fmt: skip


def _slot(sdram: SdramConfig, opened: str, *, alternate: bool, **names: int) -> Derivation:
    text = f"max(tRC, {opened} + tRP)"
    names |= {"tRAS": sdram.tras_cycles, "tRP": sdram.trp_cycles, "tRC": sdram.trc_cycles}
    return derived(f"max(burst, ({text} + 1) // 2)" if alternate else text, **names)
