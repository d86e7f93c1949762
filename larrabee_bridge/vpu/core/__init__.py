"""Core (time): when the instructions of threads issue, alone on a core or taking turns on one."""

from larrabee_bridge.vpu.core.config import CORE_MHZ, CoreConfig, changed, invented
from larrabee_bridge.vpu.core.costs import Costs
from larrabee_bridge.vpu.core.issue import Core
from larrabee_bridge.vpu.core.threads import SharedCore, take_turns

__all__ = [
    "CORE_MHZ",
    "Core",
    "CoreConfig",
    "Costs",
    "SharedCore",
    "changed",
    "invented",
    "take_turns",
]
