"""Single meanings over numbers, executed by either engine of 32-bit lanes."""

from __future__ import annotations

from pixelflow.simd.lanes.engine import Meaning, Shape
from pixelflow.simd.lanes.form import places_of
from pixelflow.simd.lanes.numbers import record_numbers
from pixelflow.simd.lanes.words import WordsEngine

STOPPED = 0xFFFFFFFF


def straight(shape: Shape, *meanings: Meaning):
    """Return a program of meanings, one after the other; ``next`` is the register that no branch writes."""
    from pixelflow.simd.lanes.native.group_program import GroupProgram

    parts = [record_numbers(each, places_of(shape)) for each in meanings]
    return GroupProgram(shape, parts, [False] * len(parts), range(len(parts) + 1), "next", STOPPED, [0])


def carry_out(lanes: WordsEngine, meaning: Meaning, engine: str) -> None:
    """Execute a meaning by numpy (``rows``) or as native code (``compiled``)."""
    if engine == "rows":
        lanes.run([lanes.prepare(meaning)])
        return
    from pixelflow.simd.lanes.native.group_run import GroupRuns

    assert GroupRuns(straight(lanes.shape, meaning)).run(lanes, 1000).is_done
