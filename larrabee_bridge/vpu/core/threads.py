"""Four threads that take turns on one core, cycle by cycle; each thread's instructions are known beforehand.

What a thread carries out does not depend on when (threads here do not wait for each other), so a run is recorded once
and then timed for as many threads a core, and in whatever way, as one likes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from larrabee_bridge.vpu.core.config import CoreConfig
from larrabee_bridge.vpu.core.costs import Costs
from larrabee_bridge.vpu.memory.caches import CacheHierarchy, SetAssociativeCache
from larrabee_bridge.vpu.unit.note import RunNote, Step
from larrabee_bridge.vpu.unit.program import VectorProgram
from pixelflow.simd.native import works_natively

__all__ = ["SharedCore", "take_turns"]

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
    l1_misses: int | None
    """Accesses that did not find their line in the L1 cache; None where caches are not modelled."""
    l2_misses: int | None
    """Those of them that did not find it in the L2 slice either."""


@dataclass(eq=False)
class _Thread:
    """A thread under way: where it is, and when registers have their values."""

    steps: Sequence[Step]
    at: int = 0
    available: dict[str, int] = field(default_factory=dict)
    free: int = 0
    """The first cycle in which it may issue again: after its access, and after the line that it waits for."""

    def ready(self, costs: Costs) -> int:
        """Return the first cycle in which its next instruction may issue."""
        reads = costs.depends[self.steps[self.at][0]].reads
        return max((self.available.get(name, 0) for name in reads), default=0)

    def issue(self, costs: Costs, cycle: int, caches: CacheHierarchy | None) -> int:
        """Issue its next instruction; return for how many cycles that holds the pipe."""
        number, lines = self.steps[self.at]
        held = max(len(lines), 1)
        missing = caches.wait(lines) if caches is not None else 0
        for name in costs.depends[number].writes:
            self.available[name] = cycle + held - 1 + missing + costs.latency[number]
        # In order: a thread that waits for a line issues nothing else.
        self.free = max(self.free, cycle + held + missing)
        self.at += 1
        return held

    def may_pair(self, costs: Costs, cycle: int) -> bool:
        """Return whether its next instruction may issue beside the last one, which issued in ``cycle``."""
        if self.at == len(self.steps) or costs.branches[self.steps[self.at - 1][0]]:
            return False
        number = self.steps[self.at][0]
        settled = all(self.available.get(name, 0) <= cycle for name in costs.depends[number].writes)
        return costs.either[number] and settled and self.ready(costs) <= cycle


def take_turns(
    program: VectorProgram, note: RunNote, config: CoreConfig | None = None, *, native: bool | None = None
) -> SharedCore:
    """Time the threads of a note on one core: in each cycle the next one, round robin, that has its operands.

    ``native`` says whether native code counts; None, where it works and there is much to count. Raises ValueError for
    a note without lines.
    """
    if not note.has_lines:
        raise ValueError("a note without lines")
    costs = Costs.of(program, config or CoreConfig())
    if len(note.words) > _NATIVE_AFTER and works_natively() if native is None else native:
        # Only who has native code imports what makes it.
        from larrabee_bridge.vpu.core.native_turns import count_natively

        return SharedCore(*count_natively(costs, note))
    return _count(costs, [list(note.steps(place)) for place in range(len(note.threads))])


def _count(costs: Costs, threads: Sequence[Sequence[Step]]) -> SharedCore:
    caches = _caches(costs.config)
    running = [_Thread(steps) for steps in threads if steps]
    turn, cycle, end, issued, paired = 0, 0, 0, 0, 0
    while running:
        order = running[turn:] + running[:turn]
        chosen = next((each for each in order if max(each.free, each.ready(costs)) <= cycle), None)
        if chosen is None:
            cycle = min(max(each.free, each.ready(costs)) for each in running)
            continue
        held = chosen.issue(costs, cycle, caches)
        issued += 1
        if costs.config.dual_issue and chosen.may_pair(costs, cycle):
            held = max(held, chosen.issue(costs, cycle, caches))
            paired += 1
        chosen.free = max(chosen.free, cycle + (1 if costs.config.back_to_back else 2))
        place = running.index(chosen)
        if chosen.at == len(chosen.steps):
            running.pop(place)
            turn = place % len(running) if running else 0
        else:
            turn = (place + 1) % len(running)
        # The pipes are the core's: while one thread's access holds them, the others wait.
        cycle += held
        end = max(end, cycle, chosen.free if chosen.at == len(chosen.steps) else 0)
    missed = (None, None) if caches is None else (caches.l1.misses, caches.l2.misses)
    return SharedCore(end, issued, paired, *missed)


def _caches(config: CoreConfig) -> CacheHierarchy | None:
    """Return the empty caches of a core, or None where they are not modelled."""
    if not config.caches:
        return None
    l1, l2 = (SetAssociativeCache(size, config.ways) for size in (config.l1_bytes, config.l2_bytes))
    return CacheHierarchy(l1, l2, config.l2_cycles, config.memory_cycles)
