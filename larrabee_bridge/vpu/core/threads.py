"""Four threads that take turns on one core, cycle by cycle; each thread's instructions are known beforehand.

What a thread carries out does not depend on when, so a run is recorded once and then timed for as many threads a core,
and in whatever way, as one likes. How threads take turns is in `turns/rotation.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.core.config import CoreConfig
from larrabee_bridge.vpu.core.image import CoreImage, WorkTables
from larrabee_bridge.vpu.core.turns import places as at
from larrabee_bridge.vpu.unit.note import RunNote
from larrabee_bridge.vpu.unit.program import VectorProgram
from pixelflow.simd.native import works_natively

__all__ = ["SharedCore", "counts_natively", "shared_core", "take_turns"]

_NATIVE_AFTER = 2_000
"""Words of a note that are counted in Python: native code takes some tens of milliseconds to get ready."""


@dataclass(frozen=True, slots=True)
class SharedCore:
    """What a core did with its threads."""

    cycles: int
    """Until the last instruction has issued."""
    issued: int
    """Cycles in which at least one instruction issued."""
    paired: int
    """Instructions that issued beside another one."""
    mispredicted: int
    """Branches that went the way that was not predicted."""
    l1_misses: int | None
    """Accesses that did not find their line in the L1 cache; None where caches are not modelled."""
    l2_misses: int | None
    """Those of them that did not find it in the L2 slice either."""
    code_misses: int | None
    """Lines of instructions that were not in their cache."""


def take_turns(
    program: VectorProgram, note: RunNote, config: CoreConfig | None = None, *, native: bool | None = None
) -> SharedCore:
    """Time the threads of a note on one core: in each cycle the next one, round robin, that has its operands.

    ``native`` says whether native code counts; None, where it works and there is much to count. Raises ValueError for
    a note without lines.
    """
    if not note.has_lines:
        raise ValueError("a note without lines")
    image = CoreImage([program], config or CoreConfig())
    stretches = np.zeros((len(note.threads), 1, at.STRETCH), np.int64)
    stretches[:, 0, at.S_BLOCKS] = image.blocks[0]
    stretches[:, 0, at.S_BEGIN], stretches[:, 0, at.S_PAST] = note.starts[:-1], note.starts[1:]
    stretches[:, 0, [at.S_PHASE, at.S_ASK, at.S_WAIT]] = -1
    threads = [each for each in stretches if each[0, at.S_BEGIN] < each[0, at.S_PAST]]
    if native is None:
        native = counts_natively(len(note.words))
    head = image.count(np.ascontiguousarray(note.words, np.uint32), WorkTables(threads), native=native)
    return shared_core(image.config, head)


def counts_natively(words: int) -> bool:
    """Return whether native code counts a piece of work of so many words."""
    return words > _NATIVE_AFTER and works_natively()


def shared_core(config: CoreConfig, head: NDArray[np.int64]) -> SharedCore:
    """Return what the head of an image says after the threads have ended."""
    near, far, code = (
        int(head[place]) if config.caches else None for place in (at.L1_MISSES, at.L2_MISSES, at.CODE_MISSES)
    )
    return SharedCore(
        int(head[at.END]), int(head[at.ISSUED]), int(head[at.PAIRED]), int(head[at.WRONG]), near, far, code
    )
