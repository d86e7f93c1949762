"""Saved runs and memory checks of a command's nodes: ``--record FILE.npz`` and ``--check-memory``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pixelflow.cli.screen import output_file
from pixelflow.debugger.memory_check import MemoryCheck, with_findings
from pixelflow.node import Node, Recorder
from pixelflow.observe import Bus
from pixelflow.simd.errors import UsageError
from pixelflow.simd.report import Report

# ``--check-memory``: the checkers of a command's nodes, and what they have found in its report.


class MemoryChecks:
    """The checkers of all nodes that a command runs."""

    def __init__(self) -> None:
        self._checks: list[MemoryCheck] = []

    def attach(self, node: Node) -> None:
        """Watch a node, before anything is loaded into it."""
        self._checks.append(MemoryCheck(node))

    def shown(self, name: str, rows: Iterable[int], cycle: int, lanes: Sequence[int] | None = None) -> None:
        """Say which bytes are shown after the runs, so that they matter."""
        for each in self._checks:
            each.shown(name, rows, cycle, lanes)

    def checked(self, report: Report) -> Report:
        """Return a report with what was found, which fails where there is anything."""
        return with_findings(report, self._checks)


# One run of a node, kept until all runs are over and then written: ``--record FILE.npz``.


class Recording:
    """Keeps one run of a node, and writes it when all runs are over."""

    def __init__(self, path: str, node: Node, command: str, number: int = 1) -> None:
        self._path = path
        self._number = number
        self._recorder = Recorder(node, command, number)

    def attach(self, bus: Bus) -> None:
        """Listen; before the runs begin."""
        self._recorder.attach(bus)

    def close(self, ok: bool = True) -> None:
        """Write the file, also where the run was stopped (``ok`` is false); nothing where it had not begun.

        Raises UsageError where all runs went well but there were not that many.
        """
        saved = self._recorder.saved
        if saved is not None:
            with output_file(self._path, binary=True) as stream:
                stream.write(saved.to_bytes())
        elif ok:
            raise UsageError(f"--record-pass {self._number}", f"no such pass; there were {self._recorder.runs}")
