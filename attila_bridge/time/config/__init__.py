"""Configuration: what the machine is given, its presets, and the parameters of the public simulator by their names."""

from attila_bridge.time.config.machine import CASE, PAPER, PRESETS, AttilaConfig, overridden

__all__ = ["CASE", "PAPER", "PRESETS", "AttilaConfig", "overridden"]
