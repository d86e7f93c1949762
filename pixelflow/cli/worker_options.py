"""Options `--jobs` and `--scheduler`, and the identity that two processes must share to measure the same."""

from __future__ import annotations

import argparse
import hashlib
from functools import lru_cache

from microcode import places as files
from pixelflow import __version__
from pixelflow.cli.arguments import count
from pixelflow.simd.errors import UsageError
from pixelflow.simd.workers import WorkerPool


@lru_cache(maxsize=1)
def library_sha256() -> str:
    """Return a hash of all sources of the microcode library here: names, lengths and contents."""
    seen = hashlib.sha256()
    for path in sorted(files.LIBRARY.rglob("*.mc"), key=lambda path: path.relative_to(files.LIBRARY).as_posix()):
        content = path.read_bytes()
        seen.update(f"{path.relative_to(files.LIBRARY).as_posix()} {len(content)}\n".encode() + content)
    return seen.hexdigest()


def tool() -> tuple[str, str]:
    """Return the version of the simulator and the hash of the library of this process."""
    return __version__, library_sha256()


def add_worker_options(parser: argparse.ArgumentParser, what: str) -> None:
    """Add processes and cluster; ``what`` names the tasks, in the plural."""
    add = parser.add_argument
    add("--jobs", type=count, default=1, metavar="N", help=f"processes of this machine for {what} (default: 1)")
    add("--scheduler", metavar="ADDRESS",
        help=f"measure {what} on a Dask cluster (needs Dask: the extra distributed)")  # fmt: skip


def workers_of(args: argparse.Namespace) -> WorkerPool:
    """Return the workers of a command; raises UsageError where processes and cluster are both given."""
    if args.scheduler is not None and args.jobs != 1:
        raise UsageError("--jobs", "the cluster of --scheduler has its own workers", "leave out one of the two")
    return WorkerPool(args.jobs, args.scheduler, tool)
