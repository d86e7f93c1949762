"""Scheduling (time): which core does what when, and what waits for what (4.2, 4.3, 4.5, 5.2).

Section numbers are those of Seiler et al., "Larrabee: A Many-Core x86 Architecture for Visual Computing", 2008.
Costs are given in cycles; where they come from is the caller's affair.
"""

from larrabee_bridge.pipeline.scheduling.balance import Balance, balance_of
from larrabee_bridge.pipeline.scheduling.checks import critical_path, violations
from larrabee_bridge.pipeline.scheduling.costs import (
    FormulaCosts,
    PairCosts,
    bins_of,
    entry_quads,
    formula_costs,
    frame_work,
    primset_numbers,
)
from larrabee_bridge.pipeline.scheduling.graph import Dependencies, dependencies_of
from larrabee_bridge.pipeline.scheduling.measured import measured_work
from larrabee_bridge.pipeline.scheduling.scaling import CORES, Scaling, scaling_of
from larrabee_bridge.pipeline.scheduling.scheduler import ScheduleConfig, schedule
from larrabee_bridge.pipeline.scheduling.timeline import Schedule, WorkKind, WorkSpan
from larrabee_bridge.pipeline.scheduling.work import FrameWork

__all__ = [
    "CORES",
    "Balance",
    "Dependencies",
    "FormulaCosts",
    "FrameWork",
    "PairCosts",
    "Scaling",
    "Schedule",
    "ScheduleConfig",
    "WorkKind",
    "WorkSpan",
    "balance_of",
    "bins_of",
    "critical_path",
    "dependencies_of",
    "entry_quads",
    "formula_costs",
    "frame_work",
    "measured_work",
    "primset_numbers",
    "scaling_of",
    "schedule",
    "violations",
]
