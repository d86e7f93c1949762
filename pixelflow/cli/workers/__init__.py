"""Processes of this machine and Dask clusters: the one way in which commands share out their work."""

from pixelflow.cli.workers.options import add_worker_options, workers_of
from pixelflow.cli.workers.pool import WorkerLost, WorkerPool

__all__ = ["WorkerLost", "WorkerPool", "add_worker_options", "workers_of"]
