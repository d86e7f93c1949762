"""Front end on the vector unit (neither): vertices, culling, bins (Seiler et al. 2008, 4.2 and 4.3)."""

from larrabee_bridge.pipeline.front_end.inputs import Cull, FrontEndSetting, HierarchicalDepth
from larrabee_bridge.pipeline.front_end.primsets import DropReason
from larrabee_bridge.pipeline.front_end.run import FrontEndResult, run_front_end
from larrabee_bridge.pipeline.front_end.stages import StageCost

__all__ = [
    "Cull",
    "DropReason",
    "FrontEndResult",
    "FrontEndSetting",
    "HierarchicalDepth",
    "StageCost",
    "run_front_end",
]
