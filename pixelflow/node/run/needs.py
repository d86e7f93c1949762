"""What programs say that they need of the configuration, compared with what it has."""

from __future__ import annotations

from collections.abc import Iterator

from pixelflow.config import NodeConfig
from pixelflow.isa import Program
from pixelflow.simd.config.param import Value
from pixelflow.simd.errors import Fault, InputError, nearest

__all__ = ["must_have"]


def must_have(program: Program, config: NodeConfig) -> None:
    """Raise InputError where a configuration lacks what a program needs, with a fault for each value."""
    faults = list(_faults(program, config))
    if faults:
        raise InputError(faults)


def _faults(program: Program, config: NodeConfig) -> Iterator[Fault]:
    values, name = config.values, program.name or "the program"
    for need in program.needs:
        if need.key not in values:
            near = nearest(need.key, values)
            hint = f"did you mean {near}?" if near else "pixelflow config show lists all"
            yield Fault(f"{name} needs {need.key} = {need.value}, which no configuration has", hint=hint)
        elif values[need.key] != need.value:
            has, why = values[need.key], f": {need.why}" if need.why else ""
            wanted = bool(need.value) if isinstance(has, bool) and need.value in (0, 1) else need.value
            message = f"{name} needs {need.key} = {_shown(wanted)}{why}; the configuration has {_shown(has)}"
            yield Fault(message, hint=f"-D {need.key}={_shown(wanted)}, or a program for this machine")


def _shown(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
