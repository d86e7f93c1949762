"""When the instructions of a thread issue: in order, two pipes, results after a latency. It knows no values.

Each group of lanes is charged what its own way through the program costs, as if it were alone on a core; threads that
share one are in `threads.py`. Here every access hits the L1 cache; misses are counted there, and the ring nowhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.dependences import Dependences, dependences
from larrabee_bridge.isa import Family, Pipe
from larrabee_bridge.program import VectorProgram
from pixelflow.simd.config.param import leaves, param
from pixelflow.simd.units import Standing

__all__ = ["Core", "CoreConfig", "Costs", "changed", "invented"]


@dataclass(frozen=True)
class CoreConfig:
    """What the model of a core is given."""

    vector_latency: int = param(
        4,
        "from the issue of a vector instruction to that of one that uses its result",
        unit="cycles",
        source="Intel, Xeon Phi vector microarchitecture: a descendant; no source on Larrabee gives it",
        standing=Standing.INVENTED,
        low=1,
        high=64,
    )
    scalar_latency: int = param(
        1,
        "the same for scalar instructions, loads that hit the L1 cache among them",
        unit="cycles",
        source="Intel, Xeon Phi tuning note: L1 about 1 cycle; a descendant",
        standing=Standing.INVENTED,
        low=1,
        high=64,
    )
    load_op_cycles: int = param(
        0,
        "more cycles until the result where a vector instruction reads memory in the L1 cache, widening included",
        unit="cycles",
        source="Seiler et al. 2008, 3.3: read and converted with no loss of performance",
        standing=Standing.DERIVED,
        low=0,
        high=64,
    )
    dual_issue: bool = param(
        True,
        "a second instruction issues in the secondary pipe in the same cycle",
        unit="",
        source="Seiler et al. 2008, 3.2; which instructions may is with their declarations",
        standing=Standing.DERIVED,
    )
    back_to_back: bool = param(
        True,
        "a thread may issue in consecutive cycles",
        unit="",
        source="Seiler et al. 2008 name no restriction; the descendant has one",
        standing=Standing.INVENTED,
    )

    caches: bool = param(
        False,
        "threads that share a core wait for lines that are not in its caches; else every access hits",
        unit="",
        source="a switch of the model",
        standing=Standing.INVENTED,
    )
    l1_bytes: int = param(
        32768,
        "L1 data cache of a core",
        unit="bytes",
        source="Seiler et al. 2008, 3.1",
        standing=Standing.DERIVED,
        allowed=(8192, 16384, 32768, 65536),
    )
    l2_bytes: int = param(
        262144,
        "slice of the L2 cache that belongs to a core",
        unit="bytes",
        source="Seiler et al. 2008, 3.1",
        standing=Standing.DERIVED,
        allowed=(131072, 262144, 524288),
    )
    ways: int = param(
        8,
        "lines in each set of either cache",
        unit="lines",
        source="no source gives it",
        standing=Standing.INVENTED,
        allowed=(1, 2, 4, 8, 16),
    )
    l2_cycles: int = param(
        15,
        "a thread waits for a line of the L2 slice",
        unit="cycles",
        source="Intel, Xeon Phi tuning note: 15 to 30; a descendant",
        standing=Standing.INVENTED,
        low=1,
        high=1000,
    )
    memory_cycles: int = param(
        300,
        "a thread waits for a line of memory",
        unit="cycles",
        source="no source gives it; Intel, Xeon Phi tuning note: 500 to 1000 on a descendant",
        standing=Standing.INVENTED,
        low=1,
        high=10000,
    )


Access = tuple[int, int]
"""The number of an instruction, and how many lines it touches."""
State = tuple[int | None, tuple[tuple[str, int], ...]]
"""See `_Timing`."""

_CYCLES, _WAITED, _PAIRED, _LINES, _FIRST_FAMILY = range(5)
_PLACE = {family: place for place, family in enumerate(Family)}
_SUMS = _FIRST_FAMILY + len(Family)
_NONE = np.zeros(0, np.int64)


def invented(config: CoreConfig) -> list[str]:
    """Return the keys of the values that a run with this configuration uses and no source on the machine gives."""
    unused = set() if config.caches else {"ways", "l2_cycles", "memory_cycles"}
    found = [key for key, known, _, _ in leaves(config) if known.standing is Standing.INVENTED]
    return [key for key in found if key not in unused | {"caches"}]


def changed(config: CoreConfig) -> list[str]:
    """Return key and value of what is not as the model has it by itself."""
    return [f"{key} {str(value).lower()}" for key, _, value, default in leaves(config) if value != default]


@dataclass(frozen=True)
class Costs:
    """What the model needs of each instruction of a program, by its number."""

    config: CoreConfig
    depends: tuple[Dependences, ...]
    families: tuple[Family, ...]
    either: tuple[bool, ...]
    """Whether it may issue in the secondary pipe."""
    branches: tuple[bool, ...]
    latency: tuple[int, ...]
    """From its issue, where it holds its pipe for one cycle, to that of an instruction that uses its result."""

    @classmethod
    def of(cls, program: VectorProgram, config: CoreConfig) -> Costs:
        """Return the costs of a program's instructions."""
        declarations = [each.declaration for each in program.instructions]
        depends = tuple(dependences(each) for each in program.instructions)
        families = tuple(each.family for each in declarations)
        return cls(
            config=config,
            depends=depends,
            families=families,
            either=tuple(each.unit is Pipe.EITHER for each in declarations),
            branches=tuple(family is Family.BRANCH for family in families),
            latency=tuple(_latency(config, *each) for each in zip(families, depends, strict=True)),
        )


def _latency(config: CoreConfig, family: Family, depends: Dependences) -> int:
    if not family.vector:
        return config.scalar_latency
    return config.vector_latency + (config.load_op_cycles if depends.memory else 0)


class _Timing:
    """What instructions do to a thread, worked out once for each state that it meets them in; shared by all cores.

    A state is what a thread still waits for, in cycles from the first one in which it may issue again: the cycle whose
    secondary pipe is free (or None), and when results are there that are not yet there then. State 0 waits for nothing.
    """

    def __init__(self, costs: Costs) -> None:
        self.costs = costs
        self.states: list[State] = []
        self.numbers: dict[State, int] = {}
        self.stretches: dict[tuple[Access, ...], _Stretch] = {}
        self.number((None, ()))

    def number(self, state: State) -> int:
        """Return a state's number."""
        found = self.numbers.get(state)
        if found is None:
            found = self.numbers[state] = len(self.states)
            self.states.append(state)
        return found

    def stretch(self, accesses: tuple[Access, ...]) -> _Stretch:
        """Return what is known of instructions that follow each other."""
        found = self.stretches.get(accesses)
        if found is None:
            found = self.stretches[accesses] = _Stretch(self, accesses)
        return found

    def passed(self, state: State, accesses: tuple[Access, ...]) -> tuple[State, list[int]]:
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
            issue = slot if beside else max(0, ready or 0)
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


class _Stretch:
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
        passed = [self.timing.passed(self.timing.states[state], self.accesses) for state in states]
        self._row[states] = len(self._next) + np.arange(len(states))
        self._next = np.concatenate([self._next, [self.timing.number(state) for state, _ in passed]])
        self._sums = np.concatenate([self._sums, [sums for _, sums in passed]])


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
    """Counts cycles of threads from what they carried out; a listener of `VectorUnit.run`."""

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
    def counts(self) -> dict[Family, NDArray[np.int64]]:
        """Instructions that each thread carried out, by family."""
        return {family: self._sums[:, _FIRST_FAMILY + place].copy() for family, place in _PLACE.items()}

    @property
    def vector_share(self) -> float | None:
        """Share of the vector unit's instructions in all that were carried out; None before any was."""
        counts = self.counts
        total = sum(int(each.sum()) for each in counts.values())
        vector = sum(int(each.sum()) for family, each in counts.items() if family.vector)
        return vector / total if total else None

    def __call__(self, number: int, active: NDArray[np.bool_], lines: NDArray[np.int64]) -> None:
        """Charge an instruction to the threads that carried it out, each with the lines that it touched."""
        self.stretch([number], active, [lines])

    def stretch(self, numbers: Sequence[int], active: NDArray[np.bool_], lines: Sequence[NDArray[np.int64]]) -> None:
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
        self._state[who], sums = self._timing.stretch(accesses)(self._state[who])
        self._sums[who] += sums
