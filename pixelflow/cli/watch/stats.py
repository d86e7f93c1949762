"""The dictionary of statistics: what --stats writes, with unit, meaning and the events that are counted."""

from __future__ import annotations

import argparse

from pixelflow.cli.shell.screen import Screen
from pixelflow.observe.stats import SCHEMA, STATISTICS
from pixelflow.simd.report import Part, Report

EXAMPLES = ("pixelflow stats list",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the action."""
    text = "list: every statistic; <...> stands for as many as there are"
    parser.add_argument("action", choices=("list",), help=text)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Return every statistic."""
    parts: list[Part] = []
    found = []
    for each in STATISTICS:
        events = [event.__name__ for event in each.events]
        doc = " ".join(each.doc.split())
        found.append({"name": each.name, "unit": each.unit, "doc": doc, "events": events})
        parts += [f"{each.name}  ({each.unit}; {', '.join(events)})", f"    {doc}"]
    data = {"statistics_schema": SCHEMA, "statistics": found}
    return Report(results=parts, schema="pixelflow.stats-list/1", data=data)
