"""The configuration file as a JSON Schema (draft 2020-12), derived from the declarations in `tree.py`.

An editor that knows JSON Schema for TOML completes and checks a file with it. It says everything that holds for a
value by itself; combinations of values are checked by :func:`pixelflow.config.load_config` alone. JSON Schema counts
``4.0`` as an integer, a configuration file does not.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from pixelflow.config.presets import PRESETS
from pixelflow.config.tree import NodeConfig
from pixelflow.simd.config.param import Param, Value

__all__ = ["DRAFT", "json_schema"]

DRAFT = "https://json-schema.org/draft/2020-12/schema"

_TYPES = {bool: "boolean", int: "integer", str: "string"}


def json_schema() -> dict[str, Any]:
    """Return the schema of a configuration file; unit, standing and source of a value are ``x-`` annotations."""
    whole = _section(NodeConfig)
    preset = {"description": "what the file starts from", "enum": list(PRESETS), "default": "thesis"}
    whole["properties"] = {"preset": preset, **whole["properties"]}
    return {"$schema": DRAFT, "title": "PixelFlow node", **whole}


def _section(kind: type) -> dict[str, Any]:
    found = {"type": "object", "additionalProperties": False, "properties": {}}
    if kind is not NodeConfig:
        found = {"description": (kind.__doc__ or "").partition("\n")[0], **found}
    for each in fields(kind):
        factory = each.default_factory
        is_section = isinstance(factory, type) and is_dataclass(factory)
        found["properties"][each.name] = (
            _section(factory) if is_section else _value(each.metadata["param"], each.default)
        )
    return found


def _value(known: Param, default: Value) -> dict[str, Any]:
    found: dict[str, Any] = {
        "description": f"{known.text} ({known.unit})" if known.unit else known.text,
        "type": _TYPES[type(default)],
        "default": default,
        "x-unit": known.unit,
        "x-standing": known.standing.value,
        "x-source": known.source,
    }
    if known.allowed is not None:
        found["enum"] = list(known.allowed)
    if known.low is not None:
        found["minimum"] = known.low
    if known.high is not None:
        found["maximum"] = known.high
    return found
