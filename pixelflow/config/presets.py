"""Named machines."""

from __future__ import annotations

from types import MappingProxyType

from pixelflow.config.tree import ArrayConfig, NodeConfig

__all__ = ["PRESETS", "THESIS", "TINY"]

THESIS = NodeConfig()
"""The node of the thesis: 4 modules x 8 EMCs x 8 panels x 32 PEs = 8192 PEs at 100 MHz."""

TINY = NodeConfig(array=ArrayConfig(modules=1, emcs_per_module=1))
"""One module of one EMC: 256 PEs with the same panels, memory and widths; for tests and teaching."""

PRESETS = MappingProxyType({"thesis": THESIS, "tiny": TINY})
"""Every preset by the name that a configuration file gives in ``preset = ...``."""
