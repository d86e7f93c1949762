"""Judges of recorded data, which is not in this repository: `python -m tests.recorded --help`."""

from pixelflow.simd.files import FileKind

RECORDS = FileKind("a file of records", 64 << 20)
