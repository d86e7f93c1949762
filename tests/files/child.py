"""Child process that runs a command line within limits of time and memory, and what became of it."""

from __future__ import annotations

import os
import resource
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.files.command_lines import BadLine

__all__ = ["CPU_SECONDS", "MEMORY_BYTES", "Outcome", "outcome"]

CPU_SECONDS = 5
MEMORY_BYTES = 1 << 30
FILE_BYTES = 256 << 20


@dataclass(frozen=True)
class Outcome:
    """What became of it."""

    code: int
    out: bytes
    err: bytes
    seconds: float
    peak_bytes: int
    left: dict[str, int]
    """Files that were not there before, and their sizes."""


def outcome(line: BadLine, folder: Path) -> Outcome:
    """Run a command line in a child of this process, in a folder, within 5 s of processor time.

    The child finds everything imported, so that what is measured is the command's own.
    """
    folder.mkdir()
    for name, data in line.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    (folder / "loop").symlink_to("loop")
    before = set(os.listdir(folder))
    beside = folder.with_name(folder.name + "-streams")
    beside.mkdir()
    for name, data in (("in", line.stdin), ("out", b""), ("err", b"")):
        (beside / name).write_bytes(data)
    held = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    child = os.fork()
    if child == 0:
        _run(line, folder, beside)
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    left = {name: (folder / name).lstat().st_size for name in os.listdir(folder) if name not in before}
    streams = [(beside / name).read_bytes() for name in ("out", "err")]
    # What this process holds, the child holds too from its first moment on.
    peak = max(0, (usage.ru_maxrss << 10) - held)
    return Outcome(code, *streams, usage.ru_utime + usage.ru_stime, peak, left)


def _run(line: BadLine, folder: Path, beside: Path) -> None:
    """Be the child: run the command and end without a way back."""
    code = 99
    try:
        os.chdir(folder)
        for number, (name, flags) in enumerate((("in", os.O_RDONLY), ("out", os.O_WRONLY), ("err", os.O_WRONLY))):
            os.dup2(os.open(beside / name, flags), number)
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, mode, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
            for number, mode in ((0, "r"), (1, "w"), (2, "w"))
        )
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
        from pixelflow.cli.main import main

        code = main(line.words)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException as error:  # what a process would end with, and print
        try:
            import traceback

            traceback.print_exception(error)
            sys.stderr.flush()
        finally:
            os._exit(98)
    finally:
        os._exit(code if isinstance(code, int) else 97)
