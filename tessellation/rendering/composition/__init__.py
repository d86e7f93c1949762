"""Image composition: nodes with roles, and the network that merges what they draw (thesis 2.2.2)."""

from tessellation.rendering.composition.network import NetworkTime, NodeTime, run_network
from tessellation.rendering.composition.roles import RecordWork, SampleWork, ShadingWork
from tessellation.rendering.composition.transfers import Cargo, RegionTransfer, Roles, transfers_of

__all__ = [
    "Cargo",
    "NetworkTime",
    "NodeTime",
    "RecordWork",
    "RegionTransfer",
    "Roles",
    "SampleWork",
    "ShadingWork",
    "run_network",
    "transfers_of",
]
