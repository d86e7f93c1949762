"""Other machines than PixelFlow on the command line: ``--machine``, and values of their configuration."""

from __future__ import annotations

import argparse
from typing import TypeVar

from pixelflow.cli.shell.arguments import UsageError
from pixelflow.simd.config.param import Param, Value, leaf_faults, leaves
from pixelflow.simd.errors import Fault, InputError, nearest

__all__ = ["PIXELFLOW", "add_machine_option", "add_value_option", "configured", "values_of_pictures"]

PIXELFLOW = "pixelflow"
"""The machine of every command that is told no other."""

_Config = TypeVar("_Config")


def add_machine_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--machine``; which there are is looked up only for one that is named."""
    parser.add_argument("--machine", default=PIXELFLOW, metavar="NAME", help="which machine (default: pixelflow)")


def add_value_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--core``, for commands that draw."""
    text = "a value of the core model of a machine that has cores, as run has them (repeatable)"
    parser.add_argument("--core", action="append", default=[], metavar="KEY=VALUE", help=text)


def values_of_pictures(kind: type[_Config], overrides: list[str]) -> _Config:
    """Return the configuration of ``--core``; raises UsageError for a value that no picture depends on."""
    about = {key: param for key, param, _, _ in leaves(kind())}
    for text in overrides:
        key = text.partition("=")[0]
        if key in about and about[key].matters == "caches":
            hint = "every access hits the L1 cache here; see: larrabee run --per-core"
            raise UsageError(f"--core {text}", "no picture depends on it", hint)
    return configured(kind, "--core", overrides)


def configured(kind: type[_Config], option: str, overrides: list[str]) -> _Config:
    """Return the configuration of a machine with the values that ``option`` sets; raises InputError with all faults."""
    known: dict[str, tuple[Param, Value]] = {key: (param, default) for key, param, _, default in leaves(kind())}
    values: dict[str, Value] = {}
    faults = []
    for text in overrides:
        key, equals, written = text.partition("=")
        if not equals:
            raise UsageError(f"{option} {text}", "a value is missing", f"write: {option} KEY=VALUE")
        if key not in known:
            near = nearest(key, known)
            hint = f"did you mean {near}?" if near else "keys: " + ", ".join(known)
            faults.append(Fault(f"unknown key {key}", hint=hint))
            continue
        value = {"true": True, "false": False}.get(written, int(written) if written.lstrip("-").isdigit() else written)
        faults += leaf_faults(key, known[key][0], value, known[key][1])
        values[key] = value
    if faults:
        raise InputError(faults)
    return kind(**values)
