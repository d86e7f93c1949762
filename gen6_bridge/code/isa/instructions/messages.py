"""Messages, notification and nothing."""

from __future__ import annotations

from typing import Protocol

from gen6_bridge.code.isa.declarations import DST, MESSAGE, SRC0, EuFamily, EuUnit, declare, described
from gen6_bridge.code.isa.encoding.operands import Controls, EuDestination, EuMessage, SourceRegion
from gen6_bridge.code.isa.encoding.text import TextShape
from gen6_bridge.code.isa.meanings.execution import Execution
from pixelflow.simd.lanes.algebra import Bit, Word

__all__ = ["MessagePath"]


class MessagePath(Protocol):
    """What a `send` does its work on: the path from message registers to the units that answer."""

    def send(self, controls: Controls, dst: EuDestination, first: SourceRegion, message: EuMessage) -> None:
        """Deliver a message; its answer is in the general registers when somebody asks for it."""


def _send(mnemonic: str, opcode: int, text: str) -> None:
    def meaning(
        path: MessagePath, controls: Controls, dst: EuDestination, src0: SourceRegion, message: EuMessage
    ) -> None:
        path.send(controls, dst, src0, message)

    declare(
        mnemonic, opcode, DST, SRC0, MESSAGE, family=EuFamily.MESSAGE, unit=EuUnit.SEND,
        shape=TextShape(mnemonic, True, 1, form="send"),
    )(described(meaning, text))  # fmt: skip


_TEXT = """Send a message of ``mlen`` message registers, from src0 on, to a target; ``rlen`` registers
come back to dst on.

The target stands where others have their condition. With EOT the thread ends."""
_send("send", 49, _TEXT)
_send("sendc", 50, _TEXT + "\n\nIt first waits for earlier pixels of the same place.")


@declare("wait", 48, DST, SRC0, family=EuFamily.MESSAGE, unit=EuUnit.BRANCH, shape=TextShape("wait", False, 1))
def _wait(run: Execution[Word, Bit], dst: EuDestination, src0: SourceRegion) -> None:
    """Wait for a notification. There is no gateway here that others could notify through, so nothing is waited for."""


@declare("nop", 126, family=EuFamily.FLOW, unit=EuUnit.BRANCH, shape=TextShape("nop", False, 0, form="nothing"))
def _nop(run: Execution[Word, Bit]) -> None:
    """Nothing."""
