"""Watching: recorded kernels, programs, runs and regions, judged one by one against this machine."""

from gen6_bridge.records.judge import judge, report

__all__ = ["judge", "report"]
