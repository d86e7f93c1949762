"""Configuration of the whole machine, the presets of the paper, and overrides by the public simulator's names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from attila_bridge.time.config.front import (
    AssemblyConfig,
    ClippingConfig,
    CommandConfig,
    DisplayConfig,
    GpuConfig,
    MemoryConfig,
    StreamerConfig,
)
from attila_bridge.time.config.names import NAMES, NEGATED
from attila_bridge.time.config.pixels import (
    FifoConfig,
    HierarchicalConfig,
    SetupConfig,
    ShadingConfig,
    TexturingConfig,
    TraversingConfig,
)
from attila_bridge.time.config.rops import ColorConfig, DepthConfig
from pixelflow.simd.config.param import Value, check_values, leaves, section
from pixelflow.simd.errors import InputError, nearest

__all__ = ["CASE", "PAPER", "PRESETS", "AttilaConfig", "overridden"]


@dataclass(frozen=True)
class AttilaConfig:
    """What the machine is given; the defaults are the unified machine of the paper's Tables 1 and 2."""

    gpu: GpuConfig = section(GpuConfig)
    command: CommandConfig = section(CommandConfig)
    memory: MemoryConfig = section(MemoryConfig)
    streamer: StreamerConfig = section(StreamerConfig)
    assembly: AssemblyConfig = section(AssemblyConfig)
    clipper: ClippingConfig = section(ClippingConfig)
    setup: SetupConfig = section(SetupConfig)
    traversal: TraversingConfig = section(TraversingConfig)
    hz: HierarchicalConfig = section(HierarchicalConfig)
    fifo: FifoConfig = section(FifoConfig)
    shader: ShadingConfig = section(ShadingConfig)
    texture: TexturingConfig = section(TexturingConfig)
    depth: DepthConfig = section(DepthConfig)
    color: ColorConfig = section(ColorConfig)
    display: DisplayConfig = section(DisplayConfig)

    @property
    def values(self) -> Mapping[str, Value]:
        """Every value by its dotted key."""
        return MappingProxyType({key: value for key, _, value, _ in leaves(self)})

    @property
    def sha256(self) -> str:
        """A hash of all values."""
        return hashlib.sha256(json.dumps(dict(self.values), sort_keys=True).encode()).hexdigest()

    def with_values(self, changes: Mapping[str, Value]) -> AttilaConfig:
        """Return a copy with other values, by dotted key; raises InputError where one is unknown or out of range."""
        groups: dict[str, dict[str, Value]] = {}
        known = self.values
        for key, value in changes.items():
            if key not in known:
                close = nearest(key, known)
                raise InputError(f"unknown configuration key: {key}" + (f" (did you mean {close}?)" if close else ""))
            group, name = key.split(".")
            groups.setdefault(group, {})[name] = value
        changed = {group: replace(getattr(self, group), **values) for group, values in groups.items()}
        made = replace(self, **changed)
        check_values(made)
        return made


PAPER = AttilaConfig()
"""The unified machine of the paper's Tables 1 and 2; what they leave open is from the public code's early preset."""

CASE = PAPER.with_values(
    {
        "gpu.shaders": 1,
        "gpu.rops": 1,
        "gpu.vertex_ports": 1,
        "memory.channels": 2,
        "shader.threads": 368,
        "shader.registers": 1536,
        "shader.thread_rate": 12,
        "shader.fetch_delay": 12,
        "texture.units": 3,
        "texture.request_rate": 3,
        "texture.request_queue": 128,
    }
)
"""The machine of the paper's section 5: three shaders as one box with a window of 384 inputs, three texture units."""

PRESETS: Mapping[str, AttilaConfig] = MappingProxyType({"paper": PAPER, "case": CASE})


_DIGITS = 18
"""The most that a value may have; no range goes as far."""


def overridden(config: AttilaConfig, overrides: Mapping[str, Value]) -> AttilaConfig:
    """Return ``config`` with parameters changed by their public names, ``SECTION.Parameter`` or the last part alone.

    Raises InputError where a name is unknown or not built, or a value is not one of its kind or range.
    """
    changes: dict[str, Value] = {}
    for name, value in overrides.items():
        matches = [each for each in NAMES if name in (each, each.split(".")[1])]
        if not matches:
            close = nearest(name, NAMES)
            raise InputError(f"{name}: no parameter of this name is built" + (f" (near: {close})" if close else ""))
        for match in matches:
            changes[NAMES[match]] = _converted(match, value, config)
    return config.with_values(changes)


def _converted(name: str, value: Value, config: AttilaConfig) -> Value:
    """Return a value of the public simulator's form as the key has it: TRUE and FALSE may come as words."""
    if isinstance(config.values[NAMES[name]], bool):
        words = {"TRUE": True, "FALSE": False, "1": True, "0": False}
        switch = words.get(str(value).upper())
        if switch is None:
            raise InputError(f"{name}: expected TRUE or FALSE, found {value}")
        return switch != (name in NEGATED)
    if isinstance(value, str):
        if not value.isdecimal() or len(value) > _DIGITS:
            raise InputError(f"{name}: expected a whole number, found {value[:_DIGITS]}")
        return int(value)
    return value
