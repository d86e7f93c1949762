"""Grade solutions of the course's exercises: is every PE right, and is the solution fast enough.

The exercise is part of the name of the file (carries.mc, carries-ada.mc), or --exercise says it. Exit code 1 where a
solution does not pass, with the reason: which PE, which byte, expected and found; cycles over the budget. Stubs with
the text of the task: pixelflow examples copy first
"""

from __future__ import annotations

import argparse

from pixelflow.cli.shell.arguments import add_engine_option
from pixelflow.cli.shell.programs import read_program
from pixelflow.cli.shell.screen import Screen
from pixelflow.course import EXERCISES, GradeReport, exercise_for, grade
from pixelflow.simd.report import Report

EXAMPLES = (
    "pixelflow examples copy sides",
    "pixelflow grade sides.mc",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the solutions."""
    add = parser.add_argument
    add("solutions", metavar="FILE", nargs="+", help="source (.mc) or object file (.mco) of a solution")
    add("--exercise", choices=tuple(EXERCISES), help="the exercise that all of them solve (default: in their names)")
    add_engine_option(parser)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Grade; one solution in full, several in a table."""
    wanted = [(path, exercise_for(path, args.exercise)) for path in args.solutions]
    grades = [grade(read_program(path, ()), each, source=path, engine=args.engine) for path, each in wanted]
    shown = grades[0] if len(grades) == 1 else GradeReport(grades)
    failure = None if all(each.passed for each in grades) else ""
    report = shown.report()
    return Report(report.title, report.subject, report.parts, schema=report.schema, data=report.data, failure=failure)
