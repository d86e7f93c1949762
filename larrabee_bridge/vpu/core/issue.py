"""Issue of a thread's instructions: in order, two pipes, results after a latency. It knows no values.

Each group of lanes is charged what its own way through the program costs, as if it were alone on a core; threads that
share one are in `threads.py`. Here every access hits the L1 cache; misses are counted there, and the ring nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.core.config import CoreConfig
from larrabee_bridge.vpu.core.costs import Costs
from larrabee_bridge.vpu.isa import VectorFamily, vector_share
from larrabee_bridge.vpu.unit.program import VectorProgram

__all__ = ["Core"]

Access = tuple[int, int]
"""The number of an instruction, and how many lines it touches."""
State = tuple[int | None, tuple[tuple[str, int], ...]]
"""See `_Timing`."""

_CYCLES, _WAITED, _PAIRED, _LINES, _FIRST_FAMILY = range(5)
_PLACE = {family: place for place, family in enumerate(VectorFamily)}
_SUMS = _FIRST_FAMILY + len(VectorFamily)
_NONE = np.zeros(0, np.int64)


class _Timing:
    """What instructions do to a thread, worked out once for each state that it meets them in; shared by all cores.

    A state is what a thread still waits for, in cycles from the first one in which it may issue again: the cycle whose
    secondary pipe is free (or None), and when results are there that are not yet there then. State 0 waits for nothing.
    """

    def __init__(self, costs: Costs) -> None:
        self.costs = costs
        self.states: list[State] = []
        self.numbers: dict[State, int] = {}
        self.known: dict[tuple[Access, ...], _StraightCode] = {}
        self.number((None, ()))

    def number(self, state: State) -> int:
        """Return a state's number."""
        found = self.numbers.get(state)
        if found is None:
            found = self.numbers[state] = len(self.states)
            self.states.append(state)
        return found

    def straight_code(self, accesses: tuple[Access, ...]) -> _StraightCode:
        """Return what is known of instructions that follow each other."""
        found = self.known.get(accesses)
        if found is None:
            found = self.known[accesses] = _StraightCode(self, accesses)
        return found

    def after(self, state: State, accesses: tuple[Access, ...]) -> tuple[State, list[int]]:
        """Return the state after instructions, and what they add to a thread's sums."""
        costs, config = self.costs, self.costs.config
        slot, waiting = state
        available = dict(waiting)
        rest = 1 if config.back_to_back else 2
        sums = [0] * _SUMS
        for number, touched in accesses:
            depends, held = costs.depends[number], max(touched, 1)
            ready = max((available[name] for name in depends.reads if name in available), default=None)
            beside = (
                config.dual_issue
                and costs.either[number]
                and slot is not None
                and (ready is None or ready <= slot)
                # Two instructions of one cycle do not write the same register.
                and all(available.get(name, slot) <= slot for name in depends.writes)
            )
            issue = slot if beside and slot is not None else max(0, ready or 0)
            end = max(issue + max(held, rest), 0)
            sums[_CYCLES] += end
            sums[_WAITED] += 0 if beside else issue
            sums[_PAIRED] += beside
            sums[_LINES] += touched
            sums[_FIRST_FAMILY + _PLACE[costs.families[number]]] += 1
            slot = None if beside or costs.branches[number] else issue - end
            available.update(dict.fromkeys(depends.writes, issue + held - 1 + costs.latency[number]))
            settled = 0 if slot is None else slot
            available = {name: at - end for name, at in available.items() if at - end > settled}
        return (slot, tuple(sorted(available.items()))), sums


class _StraightCode:
    """Instructions that follow each other, with the states that they were met in."""

    def __init__(self, timing: _Timing, accesses: tuple[Access, ...]) -> None:
        self.timing, self.accesses = timing, accesses
        self._row = np.zeros(0, np.int64)
        """For each state, its row below, or -1."""
        self._next = np.zeros(0, np.int64)
        self._sums = np.zeros((0, _SUMS), np.int64)

    def __call__(self, states: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return threads' states afterwards, and what is added to their sums."""
        if len(self._row) < len(self.timing.states):
            more = np.full(2 * len(self.timing.states) - len(self._row), -1)
            self._row = np.concatenate([self._row, more])
        rows = self._row[states]
        if (rows < 0).any():
            self._meet(np.unique(states[rows < 0]).tolist())
            rows = self._row[states]
        return self._next[rows], self._sums[rows]

    def _meet(self, states: list[int]) -> None:
        found = [self.timing.after(self.timing.states[state], self.accesses) for state in states]
        self._row[states] = len(self._next) + np.arange(len(states))
        self._next = np.concatenate([self._next, [self.timing.number(state) for state, _ in found]])
        self._sums = np.concatenate([self._sums, [sums for _, sums in found]])


_KNOWN: dict[tuple[str, CoreConfig], _Timing] = {}
"""By a program's hash and the model: cores of the same program learn from each other."""
_MOST_KNOWN = 64


def _timing(program: VectorProgram, config: CoreConfig) -> _Timing:
    found = _KNOWN.get(key := (program.sha256, config))
    if found is None:
        if len(_KNOWN) >= _MOST_KNOWN:
            _KNOWN.clear()
        found = _KNOWN[key] = _Timing(Costs.of(program, config))
    return found


class Core:
    """Counts cycles of threads from what they carried out; a subscriber of `VectorUnit.run`."""

    def __init__(self, program: VectorProgram, threads: int = 1, config: CoreConfig | None = None) -> None:
        self.config = config or CoreConfig()
        self._timing = _timing(program, self.config)
        self._state = np.zeros(threads, np.int64)
        self._sums = np.zeros((threads, _SUMS), np.int64)

    @property
    def cycles(self) -> NDArray[np.int64]:
        """Cycles from the first issue to the end of the last instruction's issue, for each thread."""
        return self._sums[:, _CYCLES].copy()

    @property
    def paired(self) -> NDArray[np.int64]:
        """Instructions of each thread that issued beside another one."""
        return self._sums[:, _PAIRED].copy()

    @property
    def waited(self) -> NDArray[np.int64]:
        """Cycles of each thread in which nothing issued because a result was not there yet."""
        return self._sums[:, _WAITED].copy()

    @property
    def lines(self) -> NDArray[np.int64]:
        """Cache lines that each thread touched."""
        return self._sums[:, _LINES].copy()

    @property
    def counts(self) -> dict[VectorFamily, NDArray[np.int64]]:
        """Instructions that each thread carried out, by family."""
        return {family: self._sums[:, _FIRST_FAMILY + place].copy() for family, place in _PLACE.items()}

    @property
    def vector_share(self) -> float | None:
        """Share of the vector unit's instructions in all that were carried out; None before any was."""
        return vector_share({family: int(each.sum()) for family, each in self.counts.items()})

    def __call__(self, number: int, active: NDArray[np.bool_], lines: NDArray[np.int64]) -> None:
        """Charge an instruction to the threads that carried it out, each with the lines that it touched."""
        self.straight_code([number], active, [lines])

    def straight_code(
        self, numbers: Sequence[int], active: NDArray[np.bool_], lines: Sequence[NDArray[np.int64]]
    ) -> None:
        """Charge instructions that the same threads carried out one after the other."""
        who = np.flatnonzero(active)
        together: list[Access] = []
        for number, each in zip(numbers, lines, strict=True):
            touched = (each[who] >= 0).sum(axis=1) if each.shape[1] else _NONE
            least = int(touched.min()) if len(touched) else 0
            if (touched == least).all():
                together.append((number, least))
                continue
            # Threads that touch different numbers of lines go on one by one number.
            self._charge(tuple(together), who)
            together = []
            for count in np.unique(touched).tolist():
                self._charge(((number, count),), who[touched == count])
        self._charge(tuple(together), who)

    def _charge(self, accesses: tuple[Access, ...], who: NDArray[np.int64]) -> None:
        if not accesses or not len(who):
            return
        self._state[who], sums = self._timing.straight_code(accesses)(self._state[who])
        self._sums[who] += sums
