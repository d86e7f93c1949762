"""The action ``pixelflow larrabee claims``: the old spelling of ``verify larrabee``, for one release."""

from __future__ import annotations

import argparse

from pixelflow.cli.evidence.verify import add_choice, paper_named, verify
from pixelflow.cli.shell.screen import Screen
from pixelflow.simd.report import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which claims, and how long."""
    help_only = "claims of a section, table or figure (3.3, table1, fig12), or a claim's name (repeatable)"
    parser.add_argument("--only", action="extend", nargs="+", default=[], metavar="CLAIM", help=help_only)
    add_choice(parser)
    parser.set_defaults(strict=False, markdown=None, svg=None, figure=None)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Measure and report."""
    paper = paper_named("larrabee")
    return verify(paper, args.only, args, screen, option="--only", everything="pixelflow larrabee claims --quick")
