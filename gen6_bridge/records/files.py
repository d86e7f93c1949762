"""Files of records: JSON objects with a list ``records``, and CSV tables, plain or gzipped."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from gen6_bridge.code.isa.encoding.operands import GRF_REGISTERS, REGISTER_BYTES
from pixelflow.simd.errors import Fault, InputError, Place
from pixelflow.simd.files import RECORDS, parse_json, read_bytes, unpacked
from pixelflow.simd.report import counted

__all__ = [
    "Entry",
    "Judged",
    "Table",
    "Value",
    "judged",
    "list_in",
    "object_in",
    "read_json",
    "read_table",
    "registers_of",
]

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"
Entry: TypeAlias = "dict[str, Value]"
"""A record of a JSON file."""
Table: TypeAlias = "list[dict[str, str]]"


@dataclass(frozen=True, slots=True)
class Judged:
    """A record beside what this machine makes of it."""

    kind: str
    """What was compared."""
    name: str
    difference: str
    """The first one; empty where there is none."""


def _text(path: Path) -> str:
    content = read_bytes(path, RECORDS)
    try:
        return (unpacked(content, RECORDS, str(path)) if path.suffix == ".gz" else content).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(Fault(f"cannot be read: {error}", Place(str(path)))) from None


def read_json(path: Path) -> list[Entry]:
    """Return the records of a JSON file; raises InputError for a damaged one, or one without any."""
    body = parse_json(_text(path), str(path))
    records = body.get("records") if isinstance(body, dict) else None
    if not isinstance(records, list) or not all(isinstance(each, dict) for each in records):
        raise InputError(
            Fault("has no list of records", Place(str(path)), 'the form is {"about": ..., "records": [...]}')
        )
    return records


def read_table(path: Path) -> Table:
    """Return the rows of a CSV file by the names in its first line; raises InputError for a damaged one."""
    try:
        return list(csv.DictReader(io.StringIO(_text(path)), restval="", strict=True))
    except csv.Error as error:
        raise InputError(Fault(f"is no table: {error}", Place(str(path)))) from None


def judged(kind: str, path: Path, names: Sequence[str], check: Callable[[int], Iterator[str]]) -> Iterator[Judged]:
    """Yield what comes of records: ``check`` yields the differences of the one at a position.

    Raises InputError where a record has not the form that its file's has.
    """
    for position, name in enumerate(names):
        try:
            difference = next(check(position), "")
        except (KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError) as error:
            what = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise InputError(Fault(f"record {position}, {name}: {what}", Place(str(path)))) from None
        yield Judged(kind, name, difference)


def list_in(entry: Mapping[str, Value], key: str) -> list[Value]:
    """Return a list of a record, empty where it has none; raises TypeError for something else."""
    found = entry.get(key) or []
    if not isinstance(found, list):
        raise TypeError(f"{key} is no list")
    return found


def object_in(entry: Mapping[str, Value], key: str) -> dict[str, Value]:
    """Return an object of a record, empty where it has none; raises TypeError for something else."""
    found = entry.get(key) or {}
    if not isinstance(found, dict):
        raise TypeError(f"{key} is no object")
    return found


def registers_of(entry: Mapping[str, Value], key: str) -> dict[int, bytes]:
    """Return registers by number, of a record's ``{"r10": "hex"}``; none where the record has no such key."""
    found = {int(name[1:]): bytes.fromhex(str(value)) for name, value in object_in(entry, key).items()}
    for number, content in found.items():
        if not 0 <= number < GRF_REGISTERS or len(content) != REGISTER_BYTES:
            raise ValueError(f"{key}: register {number} with {counted(len(content), 'byte')}")
    return found
