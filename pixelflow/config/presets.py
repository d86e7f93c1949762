"""Named machines, and the files that start from them."""

from __future__ import annotations

from types import MappingProxyType

from pixelflow.config.sections import ArrayConfig, LeeConfig
from pixelflow.config.tree import NodeConfig
from pixelflow.simd.config import schema
from pixelflow.simd.config.load import ConfigFiles

__all__ = ["LARGE", "PRESETS", "THESIS", "TINY", "json_schema", "load_config", "load_effective", "override_faults"]

THESIS = NodeConfig()
"""The node of the thesis: 4 modules x 8 EMCs x 8 panels x 32 PEs = 8192 PEs at 100 MHz."""

TINY = NodeConfig(array=ArrayConfig(modules=1, emcs_per_module=1))
"""One module of one EMC: 256 PEs with the same panels, memory and widths; for tests and teaching."""

LARGE = NodeConfig(array=ArrayConfig(emcs_per_module=32), lee=LeeConfig(xp_bits=9))
"""Four times the thesis machine: 32 EMCs in each of 4 modules, 32,768 PEs; registers xp that tell 512 columns apart."""

PRESETS = MappingProxyType({"thesis": THESIS, "tiny": TINY, "large": LARGE})
"""Every preset by the name that a configuration file gives in ``preset = ...``."""

_FILES = ConfigFiles(PRESETS)
load_config, load_effective, override_faults = _FILES.load, _FILES.load_effective, _FILES.override_faults


def json_schema() -> dict[str, object]:
    """Return the JSON Schema of a node's configuration file."""
    return schema.json_schema(PRESETS, "PixelFlow node")
