"""Dependences of an instruction: the registers that it reads and writes, read off its one meaning."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pixelflow.simd.isa.effects import Effects, State

__all__ = ["Dependences", "dependences"]


@dataclass(frozen=True, slots=True)
class Dependences:
    """Registers and flags by name (vector registers as ``v3``), and whether memory is touched."""

    reads: frozenset[str]
    writes: frozenset[str]
    memory: bool


def dependences(found: Effects) -> Dependences:
    """Return what effects read and write, by name; what is written in some lanes only is read too."""
    return Dependences(_names(found.reads | found.kept), _names(found.writes), found.memory)


def _names(states: Iterable[State]) -> frozenset[str]:
    return frozenset(f"v{state}" if isinstance(state, int) else state for state in states)
