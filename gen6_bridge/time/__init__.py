"""Time: cycles that threads take on execution units; nothing here knows a value."""

from gen6_bridge.time.config import EU_MHZ, EuConfig, unsupported
from gen6_bridge.time.dependences import EuDependences, dependences
from gen6_bridge.time.schedule import (
    Account,
    CarriedStep,
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
    "Stretches",
    "ThreadAccount",
    "ThreadTraces",
    "Watcher",
    "dependences",
    "schedule",
    "unsupported",
]
