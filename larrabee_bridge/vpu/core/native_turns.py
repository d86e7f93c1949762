"""Threads that take turns on a core, counted by native code (`turns_text.py`) from the words of a note."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.core.costs import Costs
from larrabee_bridge.vpu.core.turns_text import CORE, FUNCTIONS, THREAD, text
from larrabee_bridge.vpu.unit.note import RunNote
from larrabee_bridge.vpu.unit.program import LINE_BYTES
from pixelflow.simd.native import functions

__all__ = ["count_natively"]


@cache
def _functions() -> tuple[Callable[[int, int], None], Callable[[int], None]]:
    begin, count = functions(FUNCTIONS, text())
    pointer = ctypes.c_void_p
    return ctypes.CFUNCTYPE(None, pointer, ctypes.c_int64)(begin), ctypes.CFUNCTYPE(None, pointer)(count)


def _listed(names: Sequence[frozenset[str]], numbers: dict[str, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the registers of all instructions as numbers, one after the other, and where those of each begin."""
    flat = [numbers.setdefault(name, len(numbers)) for each in names for name in sorted(each)]
    return np.array([*flat, 0], np.int64), np.cumsum([0, *map(len, names)])


def count_natively(costs: Costs, note: RunNote) -> tuple[int, int, int, int | None, int | None]:
    """Return what `SharedCore` holds for the threads of a note with lines, on a core with these costs.

    Raises what LLVM raises.
    """
    config, numbers = costs.config, dict[str, int]()
    reads, reads_at = _listed([each.reads for each in costs.depends], numbers)
    writes, writes_at = _listed([each.writes for each in costs.depends], numbers)
    threads = np.zeros((len(note.threads), len(THREAD) - 1 + len(numbers)), np.int64)
    threads[:, 0], threads[:, 1] = note.starts[:-1], note.starts[1:]
    order = np.flatnonzero(np.diff(note.starts))
    sets = [size // (LINE_BYTES * config.ways) if config.caches else 1 for size in (config.l1_bytes, config.l2_bytes)]
    l1, l2 = (np.full((each, config.ways), -1, np.int64) for each in sets)
    arrays: dict[str, np.ndarray] = {
        "words": np.ascontiguousarray(note.words, np.uint32),
        "bounds": note.blocks.bounds,
        "reads": reads,
        "reads_at": reads_at,
        "writes": writes,
        "writes_at": writes_at,
        "touches": np.array([each.memory for each in costs.depends], np.int64),
        "either": np.array(costs.either, np.int64),
        "branch": np.array(costs.branches, np.int64),
        "latency": np.array(costs.latency, np.int64),
        "threads": threads,
        "order": order,
        "l1": l1,
        "l2": l2,
    }
    values = {name: each.ctypes.data for name, each in arrays.items()}
    values |= {"thread_size": threads.shape[1], "running": len(order), "dual": int(config.dual_issue)}
    values |= {"rest": 1 if config.back_to_back else 2, "caches": int(config.caches), "ways": config.ways}
    values |= {"l1_sets": sets[0], "l2_sets": sets[1]}
    values |= {"l2_cycles": config.l2_cycles, "memory_cycles": config.memory_cycles}
    core = np.array([values.get(name, 0) for name in CORE], np.int64)
    begin, count = _functions()
    for place in range(len(order)):
        begin(core.ctypes.data, place)
    count(core.ctypes.data)
    end, issued, paired, *missed = core[CORE.index("end") :].tolist()
    return (end, issued, paired, *(missed if config.caches else (None, None)))
