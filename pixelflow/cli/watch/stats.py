"""The dictionary of statistics: what --stats writes, with unit, meaning and the events that are counted."""

from __future__ import annotations

import argparse

from pixelflow.cli.shell.arguments import Parser
from pixelflow.cli.shell.screen import Screen

_ACTIONS = ("list",)


EXAMPLES = ("pixelflow stats list",)


def add_arguments(parser: Parser) -> None:
    """Add the action."""
    parser.add_argument("action", choices=_ACTIONS, help="list: every statistic; <...> stands for as many as there are")


def run(args: argparse.Namespace) -> int:
    """List every statistic."""
    from pixelflow.observe.stats import SCHEMA, STATISTICS

    screen = Screen.of(args)
    if screen.json:
        screen.object(
            "pixelflow.stats-list/1",
            statistics_schema=SCHEMA,
            statistics=[
                {
                    "name": each.name,
                    "unit": each.unit,
                    "doc": _line(each.doc),
                    "events": [e.__name__ for e in each.events],
                }
                for each in STATISTICS
            ],
        )
        return 0
    for each in STATISTICS:
        events = ", ".join(event.__name__ for event in each.events)
        screen.text(f"{each.name}  ({each.unit}; {events})")
        screen.paragraph(_line(each.doc), indent="    ")
    return 0


def _line(doc: str) -> str:
    return " ".join(doc.split())
