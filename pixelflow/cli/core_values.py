"""Values of the model of a Larrabee core, as options set them."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from pixelflow.cli.arguments import UsageError
from pixelflow.config import leaves
from pixelflow.simd.config.param import leaf_faults
from pixelflow.simd.errors import Fault, InputError, nearest

if TYPE_CHECKING:
    from larrabee_bridge.core import CoreConfig

__all__ = ["add_core_option", "core_config", "core_of"]

_OF_CACHES = ("caches", "l1_bytes", "ways", "l2_cycles", "memory_cycles")
"""What only threads that share a core and its caches depend on: in pictures every access hits."""


def add_core_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--core``, for commands that draw on Larrabee."""
    text = "a value of Larrabee's core model, as larrabee run has them (repeatable)"
    parser.add_argument("--core", action="append", default=[], metavar="KEY=VALUE", help=text)


def core_of(args: argparse.Namespace) -> CoreConfig:
    """Return the core model of ``--core``; raises UsageError for a value that no picture depends on."""
    for text in args.core:
        key = text.partition("=")[0]
        if key in _OF_CACHES:
            hint = "every access hits the L1 cache here; see: larrabee run --per-core"
            raise UsageError(f"--core {text}", "no picture depends on it", hint)
    return core_config("--core", args.core)


def core_config(option: str, overrides: list[str]) -> CoreConfig:
    """Return the core model with the values that ``option`` sets; raises InputError with every fault."""
    from larrabee_bridge.core import CoreConfig

    known = {key: (param, default) for key, param, _, default in leaves(CoreConfig())}
    values: dict[str, Any] = {}
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
    return CoreConfig(**values)
