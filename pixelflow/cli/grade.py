"""Grade solutions of the course's exercises: is every PE right, and is the solution fast enough.

The exercise is part of the name of the file (carries.mc, carries-ada.mc), or --exercise says it; first means first.mc
here. Exit code 1 where a solution does not pass, with the reason: which PE, which byte, expected and found; cycles over
the budget; what is wrong with a file that cannot be graded, which keeps no other one from its grade. Memory of the PEs
holds random bytes at the start, outputs included. Stubs with the text of the task: pixelflow examples copy first
"""

from __future__ import annotations

import argparse
import csv
import os
from dataclasses import replace

import numpy as np

from pixelflow.cli.arguments import add_engine_option, count
from pixelflow.cli.programs import read_program
from pixelflow.cli.screen import STANDARD_STREAM, Screen, check_writable, output_file
from pixelflow.course import EXERCISES, Grade, GradeReport, exercise_for, grade, not_graded
from pixelflow.isa.program import PIXELFLOW
from pixelflow.simd.errors import Fault, InputError, MissingPackageError, Place, UsageError, nearest
from pixelflow.simd.report import Report

EXAMPLES = (
    "pixelflow examples copy sides",
    "pixelflow grade sides.mc",
    "pixelflow grade sides.mc --save-data start.npz",
    "pixelflow run sides.mc --memory start.npz --range side",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the solutions."""
    add = parser.add_argument
    add("solutions", metavar="FILE", nargs="+", help="source (.mc) or object file (.mco) of a solution")
    add("--exercise", choices=tuple(EXERCISES), help="the exercise that all of them solve (default: in their names)")
    add("--save-data", metavar="F.npz",
        help="save the PE memory before the run that failed, or the last: for pixelflow run --memory")  # fmt: skip
    add("--hint", type=count, metavar="N", help="one solution: show its exercise's first N hints, of three")
    add("--csv", metavar="FILE.csv", help="several solutions: write their table too")
    add("--anonymous", action="store_true", help="several solutions: number them instead of naming their files")
    add_engine_option(parser)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Grade; one solution in full, several in a table."""
    if args.save_data is not None:
        _check_data_name(args)
    _check_table(args)
    grades = [_grade(path, args.exercise, args.engine) for path in args.solutions]
    if args.anonymous:
        grades = [replace(each, source=f"solution {at}") for at, each in enumerate(grades, start=1)]
    shown = grades[0] if len(grades) == 1 else GradeReport(grades)
    report = replace(shown.report(), failure=None if all(each.passed for each in grades) else "")
    if args.csv is not None:
        _write_table(args.csv, GradeReport(grades))
        report = replace(report, notes=(*report.notes, f"wrote {args.csv}"))
    if args.hint is not None and grades[0].exercise is not None:
        hints = [f"hint {at}: {text}" for at, text in enumerate(grades[0].exercise.hints[: args.hint], start=1)]
        report = report.with_parts(["", *hints], hints=hints)
    if len(grades) > 1 or grades[0].start is None:
        return report
    again = f"pixelflow run {grades[0].source} --memory"
    if args.save_data is not None:
        with output_file(args.save_data, binary=True) as stream:
            np.savez_compressed(stream, memory=grades[0].start)
        return replace(report, notes=(*report.notes, f"the same run again: {again} {args.save_data}"))
    if grades[0].passed:
        return report
    note = f"the same run again: pixelflow grade {grades[0].source} --save-data start.npz, then {again} start.npz"
    return replace(report, notes=(*report.notes, note))


def _grade(path: str, name: str | None, engine: str) -> Grade:
    """Return the grade of one file; where it cannot be graded, that is its grade."""
    exercise = None
    try:
        path = _solution(path)
        exercise = exercise_for(path, name)
        return grade(read_program(path, (), PIXELFLOW), exercise, source=path, engine=engine)
    except (MissingPackageError, UsageError):  # of this machine or command, not of the file
        raise
    except InputError as error:
        return not_graded(path, error, exercise)


def _solution(path: str) -> str:
    """Return the file of a word; raises InputError for a missing one."""
    if os.path.isdir(path):
        raise InputError(Fault("is a folder", Place(path), f"its files: pixelflow grade {os.path.join(path, '*.mc')}"))
    if os.path.exists(path) or path == STANDARD_STREAM:
        return path
    name = path.removesuffix(".mc")
    if os.path.exists(f"{name}.mc"):
        return f"{name}.mc"
    known = name if name in EXERCISES else nearest(name, EXERCISES)
    hint = f"pixelflow examples copy {known} writes the stub of this exercise" if known == name else None
    if known not in (None, name):
        hint = f"did you mean {known}.mc?"
    raise InputError(Fault("there is no such file", Place(path), hint))


def _check_table(args: argparse.Namespace) -> None:
    """Raise UsageError for options of one solution with several, and of several with one."""
    several = len(args.solutions) > 1
    for option, given in (("--csv", args.csv), ("--anonymous", args.anonymous)):
        if given and not several:
            raise UsageError(option, "a table is of several solutions", "name their files")
    if args.hint is not None and several:
        raise UsageError("--hint", "hints are of one exercise", "name one file")
    if args.csv is not None:
        if not args.csv.endswith(".csv"):
            raise UsageError(f"--csv {args.csv}", "the name must end in .csv")
        check_writable(args.csv)


def _write_table(path: str, grades: GradeReport) -> None:
    """Write the table of several grades, a row for each."""
    columns = grades.table().to_dict()
    with output_file(path) as stream:
        rows = csv.writer(stream, lineterminator="\n")
        rows.writerows([columns, *zip(*columns.values(), strict=True)])


def _check_data_name(args: argparse.Namespace) -> None:
    if len(args.solutions) > 1:
        raise UsageError("--save-data", "each of several solutions starts from different data", "name one file")
    if not args.save_data.endswith(".npz"):
        raise UsageError(f"--save-data {args.save_data}", "the name must end in .npz")
    check_writable(args.save_data)
