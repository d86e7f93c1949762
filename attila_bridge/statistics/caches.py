"""Statistics of the tags of all caches: the same for each, but that only caches that are written allocate."""

from __future__ import annotations

from attila_bridge.statistics.statistic import AttilaStatistic, listed

__all__ = ["CACHES"]

_READ = """
HitsFetch|tries|Fetches of {} whose line was there.
MissesFetch|tries|Fetches of {} whose line was not there.
MissOKFetch|lines|Lines of {} asked from memory.
MissFailFetch|tries|Fetches of {} that missed and could not ask.
MissFailReqQueueFetch|tries|Fetches of {} that failed because too many lines were missing.
MissFailReserveFetch|tries|Fetches of {} that failed because every line was reserved.
MissFailMissFetch|tries|Fetches of {} that failed because a miss had been tried in the cycle.
ReadsOK|reads|Reads of {} that found their line.
ReadsFail|tries|Reads of {} whose line was not there.
Unreserves|reservations|Reservations of {} given back without a write.
"""
"""Of caches that are read."""

_WRITTEN = """
HitsAlloc|tries|Allocations of {} whose line was there.
MissesAlloc|tries|Allocations of {} whose line was not there.
MissOKAlloc|lines|Lines of {} given to another block.
MissFailAlloc|tries|Allocations of {} that found no line.
MissFailReqQueueAlloc|tries|Allocations of {} that failed because too many lines were on their way.
MissFailReserveAlloc|tries|Allocations of {} that failed because every line was reserved.
WritesOK|writes|Writes of {} that found their line.
WritesFail|tries|Writes of {} whose line was not there.
"""
"""Of caches that are also written."""

_KINDS = (
    ("FC_ZST", "depth quads", _READ + _WRITTEN),
    ("FC_CW", "colour quads", _READ + _WRITTEN),
    ("FC64_TU", "texels", _READ),
    ("FC_InC", "attributes", _READ),
)

CACHES: tuple[AttilaStatistic, ...] = tuple(
    each
    for box, what, table in _KINDS
    for each in listed(box, "\n".join(line for line in table.replace("{}", what).splitlines() if line))
)
"""What they count."""
