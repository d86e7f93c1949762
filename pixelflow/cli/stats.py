"""The dictionary of statistics: what --stats writes, with unit, meaning and the events that are counted."""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import PurePath
from typing import IO

from pixelflow import __version__
from pixelflow.cli.machine_values import configured
from pixelflow.cli.screen import STANDARD_STREAM, Screen, check_writable, output_file
from pixelflow.config import NodeConfig
from pixelflow.node import EnergyConfig, EnergyMeter
from pixelflow.observe.node_statistics import SCHEMA, STATISTICS, Collector, RunStatistics
from pixelflow.simd.configuration import Effective
from pixelflow.simd.errors import UsageError
from pixelflow.simd.observe import Bus
from pixelflow.simd.report import Json, Part, Report

# Statistics files: JSON and CSV of the same numbers, byte-identical for the same input.


_COLUMNS = ("run", "program", "program_sha256", "config_sha256", "engine", "reason", "statistic", "unit", "value")


class StatsFiles:
    """The statistics of the runs of nodes, and the files that they go to."""

    def __init__(
        self,
        paths: Sequence[str],
        effective: Effective[NodeConfig],
        energies: Callable[[], Mapping[str, int]] | None = None,
    ) -> None:
        """Raise UsageError unless each name says JSON or CSV, InputError where it could not be written."""
        for path in paths:
            if path == STANDARD_STREAM:
                hint = "name a file: --stats F.json or --stats F.csv"
                raise UsageError("--stats -", "standard output has the report", hint)
            if PurePath(path).suffix not in _WRITERS:
                raise UsageError("--stats", f"{path!r} is neither .json nor .csv")
            check_writable(path)
        self._paths, self._effective, self._collector = paths, effective, Collector(energies)

    def attach(self, bus: Bus) -> None:
        """Listen to a node's bus, before its runs."""
        self._collector.attach(bus)

    def writers(self) -> Iterator[Callable[[], None]]:
        """Yield what writes each file; nothing where no run has begun."""
        if self._collector.runs:
            for path in self._paths:
                yield partial(self._write, path)

    def _write(self, path: str) -> None:
        with output_file(path) as stream:
            _WRITERS[PurePath(path).suffix](stream, self._collector.runs, self._effective)


def _write_json(stream: IO[str], runs: Sequence[RunStatistics], effective: Effective[NodeConfig]) -> None:
    content = {
        "schema": SCHEMA,
        "tool": {"name": "pixelflow-sim", "version": __version__},
        "config": effective.as_object(),
        "runs": [
            {
                "program": {"name": run.program, "sha256": run.sha256},
                "engine": run.engine,
                "reason": run.reason,
                "statistics": run.values,
                "units": run.units,
            }
            for run in runs
        ],
    }
    stream.write(json.dumps(content, sort_keys=True, indent=2) + "\n")


def _write_csv(stream: IO[str], runs: Sequence[RunStatistics], effective: Effective[NodeConfig]) -> None:
    rows = csv.writer(stream, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for number, run in enumerate(runs, 1):
        for name, value in run.values.items():
            head = (number, run.program, run.sha256, effective.config.sha256, run.engine, run.reason)
            rows.writerow([*head, name, run.units[name], "" if value is None else value])


_WRITERS = {".json": _write_json, ".csv": _write_csv}


def energy_meter(config: NodeConfig, prices: list[str]) -> EnergyMeter:
    """Return what accounts for the energy of a node's runs at the prices given; raises InputError with all faults."""
    return EnergyMeter(config, configured(EnergyConfig, "--price", prices))


EXAMPLES = ("pixelflow stats list",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the action."""
    text = "every statistic; <...> stands for as many as there are"
    parser.add_argument("action", metavar="list", choices=("list",), help=text)


def run(args: argparse.Namespace, screen: Screen) -> Report:
    """Return every statistic."""
    parts: list[Part] = []
    found: list[dict[str, Json]] = []
    for each in STATISTICS:
        events = [event.__name__ for event in each.events]
        doc = " ".join(each.doc.split())
        found.append({"name": each.name, "unit": each.unit, "doc": doc, "events": events})
        parts += [f"{each.name}  ({each.unit}; {', '.join(events)})", f"    {doc}"]
    data: dict[str, Json] = {"statistics_schema": SCHEMA, "statistics": found}
    return Report(results=parts, schema="pixelflow.stats-list/1", data=data)
