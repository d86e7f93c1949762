"""Performance of a run: what carries its steps out, on the lanes, on marks alone, or not at all.

Whoever decides when something happens (the `order`) asks a performance one question only: which commands a transfer
gives. All that PE data, texture memory and GP memory are lies on this side; no clock does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pixelflow.isa import Instruction, Program, Unit
from pixelflow.node.parts.texture.transfer import WAYS, BlockAccess, Transfer, TransferCommand
from pixelflow.node.run.streams.analysis import Analysis
from pixelflow.node.run.streams.issue import Issue
from pixelflow.node.run.streams.stream import Stream
from pixelflow.observe import Executed
from pixelflow.simd.errors import MachineFault

__all__ = ["OnNothing", "Performance", "texture_instruction"]


class Performance(Protocol):
    """Carries out what streams issue."""

    def join(self, stream: Stream) -> None:
        """Let the EMC stream skip straight code, as far as nobody needs the single instructions."""

    def issue(self, stream: Stream, issue: Issue) -> None:
        """Carry out an issue of the EMC stream, at the latest with the next `flush`; raises MachineFault."""

    def flush(self) -> None:
        """Carry out what still waits."""

    def tell(self, index: int) -> Transfer | None:
        """Carry out a texture instruction; return the transfer that it asks for. Raises MachineFault for another."""

    def begin(self, transfer: Transfer) -> tuple[TransferCommand, ...]:
        """Begin a transfer; return what the TASICs of each module are told."""

    @property
    def accessed(self) -> BlockAccess | None:
        """What the transfer that has begun accesses in texture memory, where that is known."""

    def end(self) -> None:
        """End the transfer that has begun."""

    @property
    def moved(self) -> Mapping[str, int]:
        """Bytes of data that went each way (`WAYS`), since the node was made."""


class OnNothing:
    """The performance of one stream of which only the time is wanted: no transfer, so nobody asks for anything."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self.moved = dict.fromkeys(WAYS, 0)
        self.accessed: BlockAccess | None = None

    def join(self, stream: Stream) -> None:
        """Let the stream skip all straight code, unless somebody subscribed to single instructions."""
        if not stream.bus.wants(Executed):
            stream.straight_codes = self._analysis.straight_codes(timed=stream.supply is None)

    def issue(self, stream: Stream, issue: Issue) -> None:
        """Nothing is carried out."""

    def flush(self) -> None:
        """Nothing waits."""

    def tell(self, index: int) -> Transfer | None:
        """No instruction asks for a transfer."""

    def begin(self, transfer: Transfer) -> tuple[TransferCommand, ...]:
        """Nobody is told anything."""
        return ()

    def end(self) -> None:
        """Nothing has begun."""


def texture_instruction(program: Program, index: int) -> Instruction:
    """Return an instruction of the texture stream; raises MachineFault where it is none of the TASICs'."""
    instruction = program.by_kind[index]
    if instruction.declaration.unit is not Unit.TASIC:
        raise MachineFault(f"{program.where(index)}: {instruction.text()}: not an instruction of the TASICs")
    return instruction
