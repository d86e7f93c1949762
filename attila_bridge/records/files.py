"""Files of records: ``runs.csv``, tables of statistics, scenes and frames of a folder, read once and checked."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path

from attila_bridge.scene.fields import shown
from pixelflow.simd.errors import Fault, InputError, Place
from pixelflow.simd.files import RECORDS, read_text

__all__ = ["MACHINES", "RecordedRun", "Records", "read_records"]

MACHINES = ("paper", "case")
"""The machines of records that are built here."""
_KEYS = ("run", "scene", "group", "machine")


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run that was recorded."""

    name: str
    scene: str
    group: str
    machine: str
    overrides: Mapping[str, str]
    """Values of the recorded machine's parameters, ``SECTION.Parameter``, that differ from its preset."""
    columns: Mapping[str, float]
    """The numbers of its row of ``runs.csv``."""
    frame: str
    """The file of its picture, in ``frames``; empty where none was recorded."""
    statistics: Mapping[str, float] = field(default_factory=dict)
    """Every statistic that was recorded, by name and instance."""


@dataclass(frozen=True, slots=True)
class Records:
    """What a folder has."""

    folder: Path
    runs: tuple[RecordedRun, ...]
    skipped: Mapping[str, str]
    """What is not judged, and why."""

    def scene(self, run: RecordedRun) -> Path:
        """Return the file of the scene of a run."""
        return self.folder / "scenes" / f"{run.scene}.json"

    def frame(self, run: RecordedRun) -> Path | None:
        """Return the file of the picture of a run; None where there is none."""
        path = self.folder / "frames" / run.frame
        return path if run.frame and path.is_file() else None


def read_records(folder: Path) -> Records:
    """Return what a folder has; raises InputError where it has no ``runs.csv``, or one that is damaged."""
    path = folder / "runs.csv"
    if not path.is_file():
        raise InputError(Fault("is no folder of records of ATTILA", Place(str(folder)), "it needs a runs.csv"))
    statistics, skipped = _statistics(folder)
    runs: list[RecordedRun] = []
    elsewhere: dict[str, int] = {}
    names: set[str] = set()
    for number, row in _table(path):
        if missing := [key for key in _KEYS if not row.get(key)]:
            raise InputError(Fault(f"has no {missing[0]}", Place(str(path), number), "columns: " + ", ".join(_KEYS)))
        if row["machine"] not in MACHINES:
            elsewhere[row["machine"]] = elsewhere.get(row["machine"], 0) + 1
            continue
        run = _run(path, number, row, statistics.get(row["run"], {}))
        if run.name in names:
            raise InputError(Fault(f"{run.name} is there twice", Place(str(path), number), "a row for each run"))
        names.add(run.name)
        if not (folder / "scenes" / f"{run.scene}.json").is_file():
            skipped[run.name] = f"there is no scene {run.scene}"
            continue
        runs.append(run)
    for machine, count in elsewhere.items():
        skipped[f"{count} runs of {machine}"] = "that machine is not built here"
    return Records(folder, tuple(runs), skipped)


def _run(path: Path, number: int, row: Mapping[str, str], statistics: Mapping[str, float]) -> RecordedRun:
    try:
        overrides = json.loads(row.get("overrides") or "{}")
        if not isinstance(overrides, dict):
            raise ValueError("overrides are no JSON object")
        columns = _numbers({key: text for key, text in row.items() if key not in (*_KEYS, "overrides", *_TEXTS)})
        if none := [key for key, value in columns.items() if key in _CYCLES and value <= 0]:
            raise ValueError(f"{none[0]} is {columns[none[0]]:g}, a run takes cycles")
    except (ValueError, RecursionError) as error:
        raise InputError(Fault(f"cannot be read: {error}", Place(str(path), number))) from None
    names = (row["run"], row["scene"], row["group"], row["machine"])
    for key in ("scene", "frame"):
        if not _FILE_NAME.fullmatch(row.get(key) or "none"):
            fault = f"{key} is {shown(row[key])}"
            raise InputError(
                Fault(fault, Place(str(path), number), f"a name in the folder {key}s: no /, no leading dot")
            )
    given = {str(key): str(value) for key, value in overrides.items()}
    return RecordedRun(*names, given, columns, row.get("frame") or "", statistics)


_TEXTS = ("frame", "frame_sha256", "seconds")
"""Columns that are no figures of the machine."""
_CYCLES = ("cycles", "cycles_drawing", "cycles_rendered")
_FILE_NAME = re.compile(r"[^/\\\0.][^/\\\0]{0,199}")
"""Names of scenes and pictures, which stay in their folders."""


def _numbers(row: Mapping[str, str]) -> dict[str, float]:
    """Return the numbers of a row; a cell is empty where the machine has no such unit. Raises ValueError."""
    found = {}
    for key, text in row.items():
        if key and text:
            try:
                found[key] = float(text)
            except ValueError:
                raise ValueError(f"{key} is {shown(text)}, a number is wanted here") from None
            if not isfinite(found[key]):
                raise ValueError(f"{key} is {text}, a finite number is wanted here")
    return found


def _statistics(folder: Path) -> tuple[dict[str, dict[str, float]], dict[str, str]]:
    found: dict[str, dict[str, float]] = {}
    skipped: dict[str, str] = {}
    for machine in MACHINES:
        path = folder / f"statistics_{machine}.csv"
        if not path.is_file():
            skipped[path.name] = "not in the folder"
            continue
        for number, row in _table(path):
            name = row.pop("run", "")
            try:
                found[name] = _numbers(row)
            except ValueError as error:
                raise InputError(Fault(f"cannot be read: {error}", Place(str(path), number))) from None
    return found, skipped


def _table(path: Path) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a CSV file by the names in its first line, each with the number of its last line."""
    reader = csv.DictReader(io.StringIO(read_text(path, RECORDS)), restval="")
    try:
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise InputError(Fault(f"is no CSV: {error}", Place(str(path), max(1, reader.line_num)))) from None
    for number, row in rows:
        if None in row:
            raise InputError(Fault("has more cells than its first line has names", Place(str(path), number)))
    return rows
