"""Issue of an instruction stream: what its sequencer hands on, or why it goes no further by itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from pixelflow.node.run.streams.straight_code import StraightCode

__all__ = ["BLOCKED", "SIGNALLED", "STALLED", "STARVED", "UNLATCH", "Issue", "IssueKind"]


class IssueKind(Enum):
    """What has happened in a stream that others must carry out or know of."""

    EXECUTE = "an instruction other than control, or straight code that begins with one"
    UNLATCH = "a started routine returns: the caller's latch comes back"
    SIGNALLED = "the stream has signalled a semaphore (`Stream.signalled`)"
    STALLED = "the words of the next instruction came late: it can begin now"
    STARVED = "nobody knows yet when the words of the next instruction come; the next step asks again"
    BLOCKED = "the stream waits for a semaphore (`Stream.waiting`); its next step tries again"


@dataclass(frozen=True, slots=True)
class Issue:
    """One step of a stream."""

    kind: IssueKind
    index: int | None = None
    """Position in ``program.instructions`` of what is to be executed; None for any other kind."""
    code: StraightCode | None = None
    """All of the straight code that is issued with its first instruction, None for a single instruction."""


UNLATCH = Issue(IssueKind.UNLATCH)
SIGNALLED = Issue(IssueKind.SIGNALLED)
BLOCKED = Issue(IssueKind.BLOCKED)
STALLED = Issue(IssueKind.STALLED)
STARVED = Issue(IssueKind.STARVED)
