"""Reproduce the thesis's tables: published, formula, measured, deviation, standing, and a note for every difference.

`verify larrabee` puts the claims of the paper on Larrabee beside what is measured; further words choose among them
(6.4, table1, fig12, or a claim's name).

TABLE is the number of a table, or a name such as table7, figure13, section5, 4.1.4 or appendix-b; without one all are
verified. What is measured is executed at that moment. A row that deviates must have a note that accounts for it, else
the exit code is 1; with --strict no note excuses a deviation.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePath

from pixelflow.cli.shell.arguments import UsageError
from pixelflow.cli.shell.output import STANDARD_STREAM, check_drawing, check_writable, output_file
from pixelflow.cli.shell.progress import Progress
from pixelflow.cli.shell.screen import Screen
from pixelflow.cli.watch.observing import Watching, add_observer_options
from pixelflow.config import load_effective
from pixelflow.simd.errors import nearest
from pixelflow.simd.report import Column, Report, Table
from tessellation.reproduction import REPRODUCTIONS, WITHOUT_FIGURES, Bench, Reproduction
from tessellation.reproduction.report import documents
from tessellation.reproduction.report.figure import CURVES, save_figure
from tessellation.reproduction.report.verification import verified_report
from tessellation.reproduction.report.verified import Verified

EXAMPLES = (
    "pixelflow verify 6",
    "pixelflow verify --strict 2 3 table6",
    "pixelflow verify appendix-b 2.2.4 --json",
    "pixelflow verify --list",
    "pixelflow verify larrabee 6.4 table1 gather-gain",
)

_SUFFIXES = {"markdown": (".md",), "svg": (".svg",), "figure": (".png", ".svg")}


_ALIASES = {"appendix a": "table 13", "introduction": "section 1", "results": "section 5", "conclusion": "section 5"}
_WITHIN = {"2.2.3": "table 1", "2.2.6": "table 2", "4.1.1": "table 3", "4.1.2": "table 4", "4.2": "table 8"}
"""Sections whose figures are those of a table."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add tables and outputs."""
    add = parser.add_argument
    add("tables", nargs="*", metavar="TABLE", help="what to verify (default: everything)")
    add("--class", dest="classes", default="RMPN", metavar="LETTERS",
        help="`larrabee`: R reproducible, M mechanical, P by proxy, N not reproducible (default: all)")  # fmt: skip
    add("--quick", action="store_true", help="`larrabee`: leave measures out that take seconds")
    add("--strict", action="store_true", help="let every deviation fail, also those that a note accounts for")
    add("--list", action="store_true", help="list what can be verified; execute nothing")
    add_observer_options(parser, record=False)
    group = parser.add_argument_group("outputs")
    add = group.add_argument
    add("--markdown", metavar="FILE.md", help="write the report as Markdown")
    add("--svg", metavar="FILE.svg", help="write a picture of the report")
    add("--figure", metavar="FILE", help="draw the curves, .png or .svg (needs matplotlib: extra plot)")


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Verify, write the files, report; fails where a row does."""
    if "larrabee" in args.tables:
        return _claims(args, screen)
    _check_outputs(args)
    tables = _chosen(args.tables)
    if args.list:
        columns = (Column("name", fixed=True), Column("section", fixed=True), Column("title"))
        table = Table(columns, [(each.name, each.section, each.title) for each in tables])
        return Report(results=[table], schema="pixelflow.tables/1", data={"tables": [each.name for each in tables]})
    effective = load_effective(None, [], "thesis")
    with Watching(args, screen, effective, source="") as watching:
        bench = Bench(watching.attach)
        # A bar on the terminal would fight with the dashboard there.
        verified = _verified(replace(screen, progress=screen.progress and not args.live), tables, bench)
    for path, document in ((args.markdown, documents.markdown), (args.svg, documents.svg)):
        if path:
            with output_file(path) as stream:
                stream.write(document(verified))
    if args.figure:
        if CURVES.isdisjoint(table.name for table in tables):
            raise UsageError("--figure", f"nothing to draw; there are curves of {', '.join(sorted(CURVES))}")
        with output_file(args.figure, binary=True) as stream:
            save_figure(stream, PurePath(args.figure).suffix.lower()[1:], verified.tables, bench)
    return verified_report(verified, strict=args.strict)


def _claims(args: argparse.Namespace, screen: Screen) -> Report:
    """Put the claims of the paper on Larrabee beside what is measured; the other words name claims or their places."""
    from pixelflow.cli.evidence.claims import claims

    for option in ("strict", "list", "stats", "trace", "live", "frame", *_SUFFIXES):
        if getattr(args, option):
            raise UsageError(f"--{option}", "is for the thesis's tables", "leave it out, or leave out larrabee")
    return claims(screen, [word for word in args.tables if word != "larrabee"], args.classes, quick=args.quick)


def _verified(screen: Screen, tables: Sequence[Reproduction], bench: Bench) -> Verified:
    """Execute the reproductions on the bench."""
    found = []
    with Progress(screen, sum(table.effort for table in tables)) as progress:
        bench.progress = progress.doing
        for table in tables:
            found.append((table, tuple(table.rows(bench))))
            progress.step(table.effort)
    return Verified(tuple(found), complete=len(tables) == len(REPRODUCTIONS))


def _check_outputs(args: argparse.Namespace) -> None:
    """Raise UsageError or InputError for output files that could not be written; changes nothing."""
    for option, suffixes in _SUFFIXES.items():
        path = getattr(args, option)
        if path is None:
            continue
        if path == STANDARD_STREAM:
            raise UsageError(f"--{option} -", "standard output has the report", f"name a {suffixes[0]} file")
        if PurePath(path).suffix.lower() not in suffixes:
            raise UsageError(f"--{option}", f"{path!r} is no {' or '.join(suffixes)} file")
        check_writable(path)
    if args.figure:
        check_drawing()


def _chosen(names: Iterable[str]) -> list[Reproduction]:
    """Return the reproductions of those names in their own order, all for none.

    A number is a table, a number with a dot a section, and ``table7``, ``Table-7`` and ``table 7`` are the same.
    Raises UsageError for what is unknown, or prints no figure.
    """
    wanted = {_reproduction(name) for name in names}
    return [each for name, each in REPRODUCTIONS.items() if not wanted or name in wanted]


def _reproduction(given: str) -> str:
    name = _plain(given)
    if name in REPRODUCTIONS:
        return name
    if name in WITHOUT_FIGURES:
        raise UsageError("TABLE", f"{name} has no figures to verify: {WITHOUT_FIGURES[name]}")
    found = nearest(name, REPRODUCTIONS)
    hint = f"did you mean {found}?" if found else "all of them: pixelflow verify --list"
    raise UsageError("TABLE", f"{given[:60]!r} is no table, figure, section or appendix that is reproduced", hint)


def _plain(given: str) -> str:
    """Return a name as the reproductions have it, where its form is a known one."""
    text = " ".join(re.sub(r"[-_]", " ", given.lower()).split())
    match re.fullmatch(r"(table|figure|section|appendix)? ?([ab]|[\d.]*\d)", text):
        case None:
            return _ALIASES.get(text, text)
        case found:
            kind, number = found.groups()
    if number in ("a", "b"):
        kind = "appendix"
    elif "." in number:
        if number in _WITHIN:
            return _WITHIN[number]
        kind, number = "section", number.partition(".")[0]
    text = f"{kind or 'table'} {number}"
    return _ALIASES.get(text, text)
