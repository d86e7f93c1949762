"""Effects of a run on a node: what is done to lanes, LEE, texture and GP memory, in order; nothing says when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pixelflow.isa import Instruction, Program
from pixelflow.node.parts.array.pe_array import PeArray
from pixelflow.node.parts.texture.transfer import Transfer, TransferCommand
from pixelflow.node.parts.texture.unit import TextureUnit
from pixelflow.simd.errors import MachineFault
from pixelflow.simd.lanes.engine import Action

__all__ = ["AtOnce", "Direct", "SideEffects"]


class SideEffects(Protocol):
    """Takes the side effects of a run."""

    def lanes(self, actions: Sequence[Action]) -> None:
        """Carry out actions of the PEs."""

    def configure(self, instruction: Instruction) -> None:
        """Carry out an instruction of the LEE; raises MachineFault."""

    def tell(self, instruction: Instruction, index: int) -> Transfer | None:
        """Carry out an instruction of the TASICs, number ``index`` of its program; return the transfer it asks for."""

    def begin(self, transfer: Transfer) -> tuple[TransferCommand, ...]:
        """Begin a transfer; return what the TASICs of each module are told. Raises MachineFault."""

    def end(self) -> None:
        """End the transfer."""


class Direct:
    """Effects on an array and a texture unit, at once."""

    def __init__(self, array: PeArray, texture: TextureUnit) -> None:
        self._array = array
        self._texture = texture

    def lanes(self, actions: Sequence[Action]) -> None:
        """Carry out actions of the PEs."""
        self._array.run(actions)

    def configure(self, instruction: Instruction) -> None:
        """Carry out an instruction of the LEE."""
        self._array.configure(instruction)

    def tell(self, instruction: Instruction, index: int) -> Transfer | None:
        """Carry out an instruction of the TASICs."""
        return self._texture.tell(instruction)

    def begin(self, transfer: Transfer) -> tuple[TransferCommand, ...]:
        """Begin a transfer."""
        self._texture.begin(transfer)
        return self._texture.commands(transfer)

    def end(self) -> None:
        """End the transfer."""
        self._texture.end()


class AtOnce(Direct):
    """Effects of a run without time: a transfer is over as soon as it is asked for, and faults are told by place."""

    def __init__(self, array: PeArray, texture: TextureUnit, program: Program) -> None:
        super().__init__(array, texture)
        self._program = program

    def tell(self, instruction: Instruction, index: int) -> Transfer | None:
        """Carry out an instruction of the TASICs and the transfer that it asks for: none is left to be made."""
        try:
            transfer = super().tell(instruction, index)
            if transfer is not None:
                self._texture.begin(transfer)
                self._texture.end()
        except MachineFault as error:
            where = self._program.where(index)
            if str(error).startswith(where):
                raise
            raise MachineFault(f"{where}: {error}") from None
        return None
