"""Workloads of the studies: programs that are put together once, and run without data on machines that differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from pixelflow.config import THESIS, NodeConfig
from pixelflow.isa import Program
from pixelflow.node import Node, Run
from tessellation.host.caching import new_session
from tessellation.microprogram.libraries import library_named
from tessellation.microprogram.passes import Method
from tessellation.plan.stages import Stage
from tessellation.surface.patch import Patch

__all__ = ["INPUTS", "Measurement", "PassInput", "Workload", "libraries_text", "pass_of"]


@dataclass(frozen=True, slots=True)
class Measurement:
    """What programs took on a machine, one after the other."""

    runs: tuple[Run, ...]

    @property
    def cycles(self) -> int:
        """Cycles of all of them, without the configuration of the LEE, which is done once a session."""
        return sum(run.total_cycles - run.by_stage.get(Stage.LEE.value, 0) for run in self.runs)

    @property
    def waits(self) -> dict[str, int]:
        """Cycles in which the EMC streams did nothing, by reason."""
        found: dict[str, int] = {}
        for run in self.runs:
            for reason, cycles in run.waits.items():
                found[reason] = found.get(reason, 0) + cycles
        return found


@dataclass(frozen=True)
class Workload:
    """Programs under a name."""

    name: str
    programs: tuple[Program, ...]

    def on(self, config: NodeConfig) -> Measurement:
        """Return what it takes on a machine of the same size; the time alone is simulated."""
        return Measurement(tuple(Node(config, "rows").run(each, function=False) for each in self.programs))


@dataclass(frozen=True, slots=True)
class PassInput:
    """Which patches a session holds, and which of them it tessellates."""

    name: str
    text: str
    samples: tuple[int, ...]
    """Samples along a side of each patch that is registered."""
    marked: tuple[int, ...]
    """The patches that are tessellated, by number."""


def _half(count: int, groups: int = 1) -> tuple[int, ...]:
    """Return a random half of ``2 * count`` numbers, with as many of each remainder by ``groups``."""
    random = np.random.default_rng(1995)
    each = count // groups
    return tuple(sorted(n * groups + at for at in range(groups) for n in random.permutation(2 * each)[:each].tolist()))


_BLOCKS = THESIS.array.blocks
_THIRD = _BLOCKS // 3
_MIXED = tuple(size for size in (4, 8, 16) for _ in range(_THIRD // (size // 4) ** 2))

INPUTS = {
    each.name: each
    for each in (
        PassInput("full", f"{_BLOCKS} patches, one pass", (4,) * _BLOCKS, tuple(range(_BLOCKS))),
        PassInput("spread", "a random half of each module", (4,) * 2 * _BLOCKS, _half(_BLOCKS, THESIS.array.modules)),
        PassInput("half", f"a random half of {2 * _BLOCKS:,} patches", (4,) * 2 * _BLOCKS, _half(_BLOCKS)),
        PassInput("mixed", f"{len(_MIXED)} patches at 4, 8 and 16 samples", _MIXED, tuple(range(len(_MIXED)))),
        PassInput("three", f"{3 * _BLOCKS:,} patches, three passes", (4,) * 3 * _BLOCKS, tuple(range(3 * _BLOCKS))),
    )
}
"""Inputs of passes over bicubic nets; their values change no cycle. Patches go to the modules in turn and stay there,
so that a random half of all, which no module has an equal share of, takes a second pass."""


def libraries_text(names: Iterable[str]) -> str:
    """Return what the head of a report says of float libraries, each named once."""
    found = list(dict.fromkeys(names))
    return f"librar{'y' if len(found) == 1 else 'ies'} {', '.join(found)}"


def pass_of(
    method: Method, library: str, *, given: PassInput = INPUTS["full"], degree: int = 3, name: str = ""
) -> Workload:
    """Return the passes of an input by a method, with a float library."""
    session = new_session(THESIS, "rows", library_named(library), method)
    net = Patch(np.zeros((degree + 1, degree + 1, 3), np.float32))
    numbers = [session.add(net, size) for size in given.samples]
    programs = session.programs({numbers[each]: given.samples[each] for each in given.marked})
    return Workload(name or given.text, programs)
