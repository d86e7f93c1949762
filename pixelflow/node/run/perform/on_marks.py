"""Performance of a run in which only time passes: marks are followed, and no byte moves."""

from __future__ import annotations

from collections.abc import Mapping

from pixelflow.config import NodeConfig
from pixelflow.node.parts.array.pe_array import PeArray
from pixelflow.node.parts.texture.transfer import BlockAccess, Transfer, TransferCommand
from pixelflow.node.parts.texture.unit import TextureUnit
from pixelflow.node.run.marks.timed_texture import TimedTextureUnit
from pixelflow.node.run.marks.tracker import MarkTracker
from pixelflow.node.run.perform.performance import texture_instruction
from pixelflow.node.run.streams.analysis import Analysis
from pixelflow.node.run.streams.issue import Issue
from pixelflow.node.run.streams.straight_code import StraightCode
from pixelflow.node.run.streams.stream import Stream
from pixelflow.observe import Executed

__all__ = ["OnMarks"]


class OnMarks:
    """Follows the marks from the state that a node is in; its PEs and its texture unit are left alone."""

    def __init__(self, config: NodeConfig, analysis: Analysis, array: PeArray, texture: TextureUnit) -> None:
        self._analysis = analysis
        self._program = analysis.program
        self._tracker = MarkTracker(analysis.program, array)
        # A unit of its own takes the instructions: it sees marks instead of PEs, and never moves a byte.
        self._texture = TimedTextureUnit(config, texture, self._tracker)

    @property
    def moved(self) -> Mapping[str, int]:
        """As if bytes had moved."""
        return self._texture.moved

    def join(self, stream: Stream) -> None:
        """Let the EMC stream skip straight code, unless somebody subscribed to single instructions."""
        if not stream.bus.wants(Executed):
            stream.straight_codes = self._analysis.straight_codes(timed=stream.supply is None)
            stream.on_skip = self._on_skip

    def _on_skip(self, stream: Stream, code: StraightCode) -> None:
        self._tracker.skip(code)

    def issue(self, stream: Stream, issue: Issue) -> None:
        """Follow an issue of the EMC stream."""
        if issue.index is None:
            self._tracker.unlatch()
        elif issue.code is None:
            self._tracker.execute(issue.index)
        else:
            self._tracker.skip(issue.code)

    def flush(self) -> None:
        """Nothing waits."""

    def tell(self, index: int) -> Transfer | None:
        """Carry out a texture instruction on registers; return the transfer that it asks for."""
        instruction = texture_instruction(self._program, index)
        self._tracker.asked_by = index
        return self._texture.tell(instruction)

    def begin(self, transfer: Transfer) -> tuple[TransferCommand, ...]:
        """Begin a transfer; raises InputError where its time depends on PE data."""
        self._texture.begin(transfer)
        return self._texture.commands(transfer)

    @property
    def accessed(self) -> BlockAccess | None:
        """What the transfer accesses that has begun."""
        return self._texture.accessed

    def end(self) -> None:
        """End the transfer."""
        self._texture.end()
