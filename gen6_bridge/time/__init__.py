"""Time: what threads that execute a program take on execution units; nothing here knows a value."""

from gen6_bridge.time.config import EU_MHZ, EuConfig, unsupported
from gen6_bridge.time.dependences import EuDependences, dependences
from gen6_bridge.time.schedule import (
    Account,
    CarriedStep,
    InstructionCaches,
    Stretches,
    ThreadAccount,
    ThreadTraces,
    Watcher,
    schedule,
)

__all__ = [
    "EU_MHZ",
    "Account",
    "CarriedStep",
    "EuConfig",
    "EuDependences",
    "InstructionCaches",
    "Stretches",
    "ThreadAccount",
    "ThreadTraces",
    "Watcher",
    "dependences",
    "schedule",
    "unsupported",
]
