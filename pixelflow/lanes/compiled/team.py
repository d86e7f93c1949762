"""Native calls side by side: one call per thread and program, on tiles of its own.

Tiles share nothing that is written, so the result does not depend on how many threads there are.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

__all__ = ["on_all_tiles", "usable_threads"]


def usable_threads() -> int:
    """Return on how many processors this process may run."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="lanes")


def on_all_tiles(work: Callable[[int, int], None], tiles: int, threads: int) -> None:
    """Call ``work(first tile, how many)`` so that all tiles are done, on up to ``threads`` threads at once."""
    threads = min(threads, tiles)
    ends = [tiles * (number + 1) // threads for number in range(threads)]
    shares = [(begin, end - begin) for begin, end in zip([0, *ends], ends, strict=False)]
    others = [_pool(threads - 1).submit(work, *share) for share in shares[1:]] if threads > 1 else []
    work(*shares[0])
    for other in others:
        other.result()
