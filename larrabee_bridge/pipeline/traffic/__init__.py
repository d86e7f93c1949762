"""Traffic (time): bytes to and from memory, of the binning renderer and of an immediate-mode one (4.5, 5.3).

Section numbers are those of Seiler et al., "Larrabee: A Many-Core x86 Architecture for Visual Computing", 2008.
Bytes are counted, block after block, from what the frame draws; nothing here knows time. Not counted, since both kinds
of renderer read them alike: vertices and indices as the application gives them, and commands.
"""

from larrabee_bridge.pipeline.traffic.accesses import Accesses, accesses_of
from larrabee_bridge.pipeline.traffic.binned import (
    BinContents,
    RenderTarget,
    TileSizes,
    bin_contents,
    binned_traffic,
    corners_of,
    default_targets,
)
from larrabee_bridge.pipeline.traffic.immediate import immediate_traffic
from larrabee_bridge.pipeline.traffic.layers import (
    expected_ratio,
    expected_reuse,
    harmonic,
    layer_accesses,
    random_layers,
)
from larrabee_bridge.pipeline.traffic.settings import TrafficConfig
from larrabee_bridge.pipeline.traffic.sums import Traffic

__all__ = [
    "Accesses",
    "BinContents",
    "RenderTarget",
    "TileSizes",
    "Traffic",
    "TrafficConfig",
    "accesses_of",
    "bin_contents",
    "binned_traffic",
    "corners_of",
    "default_targets",
    "expected_ratio",
    "expected_reuse",
    "harmonic",
    "immediate_traffic",
    "layer_accesses",
    "random_layers",
]
