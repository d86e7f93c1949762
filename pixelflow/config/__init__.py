"""Configuration of a node: a frozen tree of values with unit, source, standing and range.

>>> from pixelflow.config import THESIS, load_config
>>> THESIS.lanes
8192
>>> load_config(overrides=["array.modules=1"]).lanes
2048
"""

from pixelflow.config.instructions import ExtraConfig, IgcConfig
from pixelflow.config.presets import (
    LARGE,
    PRESETS,
    THESIS,
    TINY,
    json_schema,
    load_config,
    load_effective,
    override_faults,
)
from pixelflow.config.sections import (
    ArrayConfig,
    CompositionConfig,
    GniConfig,
    LeeConfig,
    SdramConfig,
    TasicConfig,
)
from pixelflow.config.tree import NodeConfig
from pixelflow.simd.config.constants import constants_of, named
from pixelflow.simd.config.load import Effective
from pixelflow.simd.config.param import Param, Value, leaves, param, section

__all__ = [
    "LARGE",
    "PRESETS",
    "THESIS",
    "TINY",
    "ArrayConfig",
    "CompositionConfig",
    "Effective",
    "ExtraConfig",
    "GniConfig",
    "IgcConfig",
    "LeeConfig",
    "NodeConfig",
    "Param",
    "SdramConfig",
    "TasicConfig",
    "Value",
    "constants_of",
    "json_schema",
    "leaves",
    "load_config",
    "load_effective",
    "named",
    "override_faults",
    "param",
    "section",
]
