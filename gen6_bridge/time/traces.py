"""Traces of threads: what each carried out, in order; when it does so changes nothing of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gen6_bridge.code.isa.encoding.operands import GRF_REGISTERS, REGISTER_BYTES, VXH, EuDestination, SourceRegion
from gen6_bridge.unit import ExecutionUnit

__all__ = ["CarriedStep", "ThreadTraces"]


@dataclass(frozen=True, slots=True)
class CarriedStep:
    """An instruction that a thread carried out."""

    number: int
    reads: tuple[int, ...] = ()
    """General registers that an address register chose."""
    writes: tuple[int, ...] = ()


class ThreadTraces:
    """A subscriber of a unit that keeps what each of its threads carries out."""

    def __init__(self, unit: ExecutionUnit) -> None:
        self._unit = unit
        self.steps: list[list[CarriedStep]] = [[] for _ in range(unit.threads)]
        self._plain = [CarriedStep(number) for number in range(len(unit.instructions))]
        self._indirect = [instruction.indirect for instruction in unit.instructions]

    def __call__(self, number: int, active: NDArray[np.bool_]) -> None:
        """Note an instruction, before it is carried out."""
        if not self._indirect[number]:
            plain = self._plain[number]
            for thread in np.flatnonzero(active).tolist():
                self.steps[thread].append(plain)
            return
        addresses = self._unit.addresses
        for thread in np.flatnonzero(active).tolist():
            self.steps[thread].append(self._chosen(number, addresses[thread].tolist()))

    def stretch(self, first: int, past: int, active: NDArray[np.bool_]) -> None:
        """Note instructions that no address register leads, one after the other."""
        plain = self._plain[first:past]
        for thread in np.flatnonzero(active).tolist():
            self.steps[thread] += plain

    def _chosen(self, number: int, addresses: list[int]) -> CarriedStep:
        instruction = self._unit.instructions[number]
        size = instruction.controls.size
        reads: set[int] = set()
        writes: set[int] = set()
        for operand in instruction.operands:
            if isinstance(operand, SourceRegion) and operand.address is not None:
                for each in range(size):
                    row = each // operand.width if operand.vertical == VXH else 0
                    base = addresses[min(7, operand.address.index + row)]
                    reads.add((base + operand.address.offset + operand.place(each)) // REGISTER_BYTES)
            elif isinstance(operand, EuDestination) and operand.address is not None:
                base = addresses[operand.address.index] + operand.address.offset
                step = operand.stride * operand.type.size
                writes |= {(base + each * step) // REGISTER_BYTES for each in range(size)}
        within = range(GRF_REGISTERS)
        return CarriedStep(
            number, tuple(each for each in reads if each in within), tuple(each for each in writes if each in within)
        )
