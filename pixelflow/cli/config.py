"""Show or check a configuration: every value with its unit, standing, source and where it was set.

``schema`` prints the JSON Schema of configuration files, for editors.
"""

from __future__ import annotations

import argparse
import json

from pixelflow.cli.arguments import add_common_options, add_config_options
from pixelflow.cli.screen import Screen
from pixelflow.config import NodeConfig, json_schema, load_effective
from pixelflow.simd.configuration import Effective, leaves, written_as
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import Column, Fact, Json, Report, Table, counted, number

CHECK_SCHEMA = "pixelflow.config-check/1"

EXAMPLES = (
    "pixelflow config show",
    "pixelflow config show -D sdram.refresh=true",
    "pixelflow config schema",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``show``, ``check`` and ``schema``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="show|check|schema")
    show = actions.add_parser("show", help="print every effective value", description="Print every effective value.")
    add_config_options(show)
    check = actions.add_parser("check", help="check a file, print all faults", description="Check a file.")
    check.add_argument("file", metavar="FILE", help="configuration file (TOML)")
    schema = actions.add_parser(
        "schema", help="print the JSON Schema of a file", description="Print the JSON Schema (2020-12) of a file."
    )
    for action in (show, check, schema):
        add_common_options(action)


def run(args: argparse.Namespace, screen: Screen) -> Report | int:
    """Return the effective configuration or the schema, or report whether a file is in order."""
    if args.action == "schema":
        text = Fact(json.dumps(json_schema(), indent=2), wrap=False)
        if screen.format in ("markdown", "html"):
            return Report("JSON Schema of a configuration file", results=[text])
        screen.print(text)
        screen.write_page(Report("JSON Schema of a configuration file", results=[text]))
        return 0
    if args.action == "check":
        return _check(screen, args.file)
    return _shown(screen, load_effective(args.config, args.overrides, args.preset))


def _check(screen: Screen, file: str) -> Report | int:
    """Report on a file; as JSON its faults are in the object, else they are raised."""
    try:
        effective = load_effective(file)
    except InputError as error:
        if not screen.json:
            raise
        faults = [_fault_object(fault) for fault in error.faults]
        screen.show(Report(schema=CHECK_SCHEMA, data={"file": file, "sha256": None, "faults": faults}))
        return error.exit_code
    changed = sum(not origin.startswith("preset ") for origin in effective.set_by.values())
    text = f"{file}: in order; preset {effective.preset}, {counted(changed, 'value')} set in the file"
    data = {"file": file, "sha256": effective.config.sha256, "faults": []}
    return Report(parts=[text], schema=CHECK_SCHEMA, data=data)


def _fault_object(fault: Fault) -> dict[str, Json]:
    place = fault.place
    return {
        "message": fault.message,
        "hint": fault.hint,
        "line": place.line if place else None,
        "column": place.column if place else None,
    }


def _shown(screen: Screen, effective: Effective[NodeConfig]) -> Report:
    config = effective.config
    wide = screen.width >= 110 or screen.verbose
    columns = (
        Column("value", written_as, "value"),
        Column("key", key="key", fixed=True),
        Column("unit", key="unit", fixed=True),
        Column("standing", key="standing", fixed=True),
        Column("set by", key="set_by", style="cyan"),
        Column("source" if wide else None, key="source"),
        Column(None, key="allowed"),
        Column(None, key="read_by"),
    )
    rows = [
        (value, key, p.unit, p.standing.value, effective.set_by[key], p.source, p.range_text(), p.read_by)
        for key, p, value, _ in leaves(config)
    ]
    table = Table(columns, rows, key="values", named="key")
    derived = "which makes: " + ", ".join(f"{number(value)} {name}" for name, value in config.derived.items())
    return Report(
        results=[f"pixelflow config · preset {effective.preset} · {config.sha256[:6]}", "", table, "", derived],
        schema="pixelflow.config/1",
        data={"preset": effective.preset, "sha256": config.sha256, "derived": config.derived},
    )
