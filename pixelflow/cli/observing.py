"""The options that watch runs, and what listens to a node for them."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pixelflow.cli.stats_files import check_stats_name, write_stats

if TYPE_CHECKING:
    from pixelflow.cli.screen import Screen
    from pixelflow.config import Effective
    from pixelflow.node import Node

__all__ = ["Watching", "add_observer_options"]


def add_observer_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `Watching`."""
    add = parser.add_argument_group("watch").add_argument
    add("--stats", action="append", default=[], metavar="FILE", help="write statistics: .json or .csv (repeatable)")


class Watching:
    """What a command was asked to watch. Made before long work, so that a bad name is refused at once."""

    def __init__(self, args: argparse.Namespace, screen: Screen, effective: Effective) -> None:
        """Raises UsageError for options that contradict each other, InputError for files that cannot be written."""
        self._stats: list[str] = args.stats
        self._screen, self._effective = screen, effective
        for path in self._stats:
            check_stats_name(path)

    @contextlib.contextmanager
    def over(self, node: Node) -> Iterator[None]:
        """Watch the runs of a node; what was heard is written at the end, also where a run was stopped."""
        with contextlib.ExitStack() as watchers:
            if self._stats:
                watchers.enter_context(self._statistics(node))
            yield

    @contextlib.contextmanager
    def _statistics(self, node: Node) -> Iterator[None]:
        from pixelflow.observe.stats import Collector

        collector = Collector()
        collector.attach(node.bus)
        try:
            yield
        finally:
            if collector.runs:
                for path in self._stats:
                    write_stats(path, collector.runs, self._effective)
