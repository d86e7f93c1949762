"""Options that say who does the work of a command."""

from __future__ import annotations

import argparse

from pixelflow.cli.shell.arguments import UsageError, count
from pixelflow.cli.workers.pool import WorkerPool

__all__ = ["add_worker_options", "workers_of"]


def add_worker_options(parser: argparse.ArgumentParser, what: str) -> None:
    """Add processes and cluster; ``what`` is what is shared out, in the plural."""
    add = parser.add_argument
    add("--jobs", type=count, default=1, metavar="N", help=f"processes of this machine for {what} (default: 1)")
    add("--scheduler", metavar="ADDRESS",
        help=f"measure {what} on a Dask cluster (needs Dask: the extra distributed)")  # fmt: skip


def workers_of(args: argparse.Namespace) -> WorkerPool:
    """Return who does the work; raises UsageError where both are given."""
    if args.scheduler is not None and args.jobs != 1:
        raise UsageError("--jobs", "the cluster of --scheduler has its own workers", "leave out one of the two")
    return WorkerPool(args.jobs, args.scheduler)
