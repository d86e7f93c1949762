"""Watching: a folder of recorded runs of ATTILA, judged by class of acceptance."""

from attila_bridge.records.judge import judge, report

__all__ = ["judge", "report"]
