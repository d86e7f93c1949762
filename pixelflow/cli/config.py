"""Show or check a configuration: every value with its unit, standing, source and where it was set.

``schema`` prints the JSON Schema of configuration files, for editors.
"""

from __future__ import annotations

import argparse
import json

from pixelflow.cli.arguments import add_common_options, add_config_options
from pixelflow.cli.machine import unread_keys
from pixelflow.cli.screen import Column, Screen, counted
from pixelflow.config import Effective, json_schema, leaves, load_effective
from pixelflow.simd.errors import Fault, InputError

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


def run(args: argparse.Namespace) -> int:
    """Print the effective configuration or the schema, or report whether a file is in order."""
    screen = Screen.of(args)
    if args.action == "schema":
        screen.text(json.dumps(json_schema(), indent=2))
        return 0
    if args.action == "check":
        return _check(screen, args.file)
    effective = load_effective(args.config, args.overrides, args.preset)
    if screen.json:
        _show_object(screen, effective)
    else:
        _show_table(screen, effective)
    return 0


def _check(screen: Screen, file: str) -> int:
    """Report on a file; as JSON its faults are in the object, else they are raised."""
    try:
        effective = load_effective(file)
    except InputError as error:
        if not screen.json:
            raise
        screen.object(CHECK_SCHEMA, file=file, sha256=None, faults=[_fault_object(fault) for fault in error.faults])
        return error.exit_code
    if screen.json:
        screen.object(CHECK_SCHEMA, file=file, sha256=effective.config.sha256, faults=[])
    elif not screen.quiet:
        changed = sum(not origin.startswith("preset ") for origin in effective.set_by.values())
        screen.text(f"{file}: in order; preset {effective.preset}, {counted(changed, 'value')} set in the file")
    return 0


def _fault_object(fault: Fault) -> dict[str, object]:
    place = fault.place
    return {
        "message": fault.message,
        "hint": fault.hint,
        "line": place.line if place else None,
        "column": place.column if place else None,
    }


def _show_object(screen: Screen, effective: Effective) -> None:
    values = {
        key: {
            "value": value,
            "unit": about.unit,
            "standing": about.standing.value,
            "source": about.source,
            "allowed": about.range_text(),
            "set_by": effective.set_by[key],
            "read_by": about.read_by,
        }
        for key, about, value, _ in leaves(effective.config)
    }
    config = effective.config
    screen.object(
        "pixelflow.config/1", preset=effective.preset, sha256=config.sha256, values=values, derived=config.derived
    )


def _show_table(screen: Screen, effective: Effective) -> None:
    config = effective.config
    screen.text(f"pixelflow config · preset {effective.preset} · {config.sha256[:6]}")
    screen.text()
    columns = [Column("value", numbers=True), Column("key", fixed=True), Column("unit", fixed=True)]
    columns += [Column("standing", fixed=True), Column("set by", style="cyan")]
    if screen.width >= 110 or screen.verbose:
        columns.append(Column("source"))
    rows = []
    for key, about, value, _ in leaves(config):
        shown = str(value).lower() if isinstance(value, bool) else str(value)
        row = [shown, key, about.unit, about.standing.value, effective.set_by[key], about.source]
        rows.append(row[: len(columns)])
    screen.table(columns, rows)
    screen.text()
    screen.paragraph("which makes: " + ", ".join(f"{value:,} {name}" for name, value in config.derived.items()))
    unread = unread_keys(config)
    if unread and not screen.quiet:
        screen.text()
        screen.paragraph("not read yet by any part of the model: " + ", ".join(unread))
