"""Words after commands that say where and when a run is to stop: a subject, a condition, a choice of PEs."""

from __future__ import annotations

import re

from pixelflow.cli.shell.pe_selection import select_lanes
from pixelflow.debugger import (
    Anywhere,
    Cycle,
    DebugSession,
    PeExpression,
    Semaphore,
    StageBegin,
    StopCondition,
    find_code,
)
from pixelflow.debugger.stops import Subject
from pixelflow.simd.dialogue import number_of, one_word, refuse
from pixelflow.simd.errors import nearest

__all__ = ["subject_of", "take_condition", "take_lanes"]

_SEMAPHORES = range(16)
_LIST = re.compile(r"\d|\*|all\b")
"""How a choice of PEs begins."""
_OPEN = "=<>!&|^+-*/%~(,"
"""Ends of an expression that goes on."""


def subject_of(session: DebugSession, words: list[str], *, anywhere: bool) -> Subject:
    """Return what a stop is about; ``anywhere`` allows no words. Raises InputError."""
    match words:
        case [] if anywhere:
            return Anywhere()
        case ["sem", number]:
            semaphore = number_of(number)
            if semaphore not in _SEMAPHORES:
                refuse(f"there is no semaphore {semaphore}", "allowed: 0 to 15")
            return Semaphore(semaphore)
        case ["cycle", number]:
            return Cycle(number_of(number))
        case ["stage", *name]:
            return StageBegin(_stage(session, " ".join(name).strip('"')))
        case ["routine", place] | [place]:
            return find_code(session.program, place)
    refuse(f"{' '.join(words)!r} is no place", "see: help")


def _stage(session: DebugSession, name: str) -> str:
    stages = session.program.names
    if name not in stages:
        close = nearest(name, stages)
        hint = f"did you mean {close}?" if close else f"stages: {', '.join(stages) or 'none'}"
        refuse(f"the program has no stage {name!r}", hint)
    return name


def take_condition(session: DebugSession, words: list[str]) -> StopCondition | None:
    """Take ``if EXPR [pe LIST]`` from the end of the words; raises InputError for what can never be judged."""
    if "if" not in words:
        return None
    at = words.index("if")
    written = words[at + 1 :]
    del words[at:]
    lanes = take_lanes(session, written)
    if not written:
        refuse("if what?", "a condition, as in: break if R == 5 && E")
    expression = PeExpression.read(" ".join(written), session.program)
    condition = StopCondition(expression, None if lanes is None else tuple(lanes))
    condition.holds(session.node, session.replay.position)  # tells now what it would tell later
    return condition


def take_lanes(session: DebugSession, words: list[str]) -> list[int] | None:
    """Take ``pe LIST`` out of the words; in an expression ``pe`` is the number of a PE."""
    at = next((at for at in range(len(words) - 1, 0, -1) if words[at] == "pe"), None)
    if at is None or words[at - 1][-1] in _OPEN:
        return None
    chosen = words[at + 1 : at + 2]
    if chosen and not _LIST.match(chosen[0]) and chosen[0][0] in _OPEN:
        return None
    del words[at : at + 2]
    return select_lanes(one_word(chosen, "PEs: 5, 32-39, 0.1.*.4-7"), session.node.config.array)
