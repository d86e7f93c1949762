"""Judges of recorded data, which is not in this repository: `python -m tests.recorded --help`."""

from pixelflow.simd.files import FileKind
from pixelflow.simd.workers import WorkerPool

RECORDS = FileKind("a file of records", 64 << 20)
HERE = WorkerPool()
"""This process."""
