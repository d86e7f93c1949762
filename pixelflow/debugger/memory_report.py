"""Report of what the checker of a run's memory has found, as a part of the report of the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

from pixelflow.debugger.memory_check import MemoryCheck
from pixelflow.simd.report import Fact, Report, counted

__all__ = ["with_findings"]


def with_findings(report: Report, checks: Sequence[MemoryCheck]) -> Report:
    """Return a report with the findings of all nodes after its results; it fails where there are any."""
    found = [finding for each in checks for finding in each.findings]
    left_out = sum(each.left_out for each in checks)
    lines: list[Fact | str] = [str(finding) for finding in found]
    if left_out:
        lines.append(f"and {counted(left_out, 'more finding')}")
    if not found:
        lines = ["memory: every byte that was read had been written, and no writes of a round collide"]
    total = len(found) + left_out
    return replace(
        report,
        results=[*report.results, "", *lines],
        data={**report.data, "memory_check": {"left_out": left_out, "findings": [asdict(each) for each in found]}},
        failure=report.failure or (f"the check of memory has {counted(total, 'finding')}" if found else None),
    )
