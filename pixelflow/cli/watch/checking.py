"""``--check-memory``: the checkers of a command's nodes, and what they have found in its report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pixelflow.debugger.memory_check import MemoryCheck
from pixelflow.debugger.memory_report import with_findings
from pixelflow.node import Node
from pixelflow.simd.report import Report

__all__ = ["MemoryChecks"]


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
