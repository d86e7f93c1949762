"""Reports as one JSON object: facts and tables under their keys, sorted, the same bytes for the same report."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pixelflow import __version__
from pixelflow.simd.report.model import Fact, Json, Report, Table

__all__ = ["json_text", "report_object", "table_object"]


def json_text(report: Report) -> str:
    """Return the object of a report as text, with its schema and the version of the simulator."""
    return json.dumps(report_object(report), sort_keys=True, indent=2, allow_nan=False) + "\n"


def report_object(report: Report) -> dict[str, Json]:
    """Return what JSON holds of a report."""
    found: dict[str, Json] = {"schema": report.schema, "tool": {"name": "pixelflow-sim", "version": __version__}}
    found |= report.data
    for part in (*report.parts, *report.results):
        if isinstance(part, Fact) and part.key:
            found = _with(found, part.key, part.value)
        elif isinstance(part, Table) and part.key:
            found = _with(found, part.key, table_object(part))
    return found


def table_object(table: Table) -> Json:
    """Return the rows of a table by the keys of its columns."""
    places = {column.key: at for at, column in enumerate(table.columns) if column.key}
    if not table.named:
        return [{key: row[at] for key, at in places.items()} for row in table.rows]
    name = places.pop(table.named)
    if len(places) == 1:
        (only,) = places.values()
        return {str(row[name]): row[only] for row in table.rows}
    return {str(row[name]): {key: row[at] for key, at in places.items()} for row in table.rows}


def _with(target: Mapping[str, Json], key: str, value: Json) -> dict[str, Json]:
    """Return an object with a value under a dotted key; the objects on the way are copied."""
    first, _, rest = key.partition(".")
    inside = target.get(first, {})
    if rest and isinstance(inside, Mapping):
        return {**target, first: _with(inside, rest, value)}
    return {**target, first: value}
