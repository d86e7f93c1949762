"""The configuration file as a JSON Schema (draft 2020-12), derived from the declarations.

An editor that knows JSON Schema for TOML completes and checks a file with it. It says everything that holds for a
value by itself; combinations of values are checked when a file is loaded. JSON Schema counts
``4.0`` as an integer, a configuration file does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING

from pixelflow.simd.config.param import Param, default_of

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["DRAFT", "json_schema"]

DRAFT = "https://json-schema.org/draft/2020-12/schema"

_TYPES = {bool: "boolean", int: "integer", str: "string"}


def json_schema(presets: Mapping[str, DataclassInstance], title: str) -> dict[str, object]:
    """Return the schema of a configuration file that may start from one of some presets, all of one class.

    Unit, standing and source of a value are ``x-`` annotations.
    """
    default = next(iter(presets))
    preset = {"description": "what the file starts from", "enum": list(presets), "default": default}
    return {"$schema": DRAFT, "title": title, **_section(type(presets[default]), {"preset": preset})}


def _section(kind: type[DataclassInstance], first: Mapping[str, object]) -> dict[str, object]:
    properties = dict(first)
    for each in fields(kind):
        factory = each.default_factory
        if isinstance(factory, type) and is_dataclass(factory):
            about = (factory.__doc__ or "").partition("\n")[0]
            properties[each.name] = {"description": about, **_section(factory, {})}
        else:
            properties[each.name] = _value(each.metadata["param"], default_of(each))
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _value(known: Param, default: int | bool | str) -> dict[str, object]:
    found: dict[str, object] = {
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
