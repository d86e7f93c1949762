"""Statistics of the tags of all caches."""

from __future__ import annotations

from attila_bridge.statistics.statistic import AttilaStatistic, listed

__all__ = ["CACHES"]

CACHES: tuple[AttilaStatistic, ...] = (
    *listed(
        "FC_ZST",
        """
HitsFetch|tries|Fetches of depth quads whose line was there.
MissesFetch|tries|Fetches of depth quads whose line was not there.
MissOKFetch|lines|Lines of depth quads asked from memory.
MissFailFetch|tries|Fetches of depth quads that missed and could not ask.
MissFailReqQueueFetch|tries|Fetches of depth quads that failed because too many lines were missing.
MissFailReserveFetch|tries|Fetches of depth quads that failed because every line was reserved.
MissFailMissFetch|tries|Fetches of depth quads that failed because a miss had begun in the cycle.
ReadsOK|reads|Reads of depth quads that found their line.
ReadsFail|tries|Reads of depth quads whose line was not there.
Unreserves|reservations|Reservations of depth quads given back without a write.
HitsAlloc|tries|Allocations of depth quads whose line was there.
MissesAlloc|tries|Allocations of depth quads whose line was not there.
MissOKAlloc|lines|Lines of depth quads given to another block.
MissFailAlloc|tries|Allocations of depth quads that found no line.
MissFailReqQueueAlloc|tries|Allocations of depth quads that failed because too many lines were on their way.
MissFailReserveAlloc|tries|Allocations of depth quads that failed because every line was reserved.
WritesOK|writes|Writes of depth quads that found their line.
WritesFail|tries|Writes of depth quads whose line was not there.
""",
    ),
    *listed(
        "FC_CW",
        """
HitsFetch|tries|Fetches of colour quads whose line was there.
MissesFetch|tries|Fetches of colour quads whose line was not there.
MissOKFetch|lines|Lines of colour quads asked from memory.
MissFailFetch|tries|Fetches of colour quads that missed and could not ask.
MissFailReqQueueFetch|tries|Fetches of colour quads that failed because too many lines were missing.
MissFailReserveFetch|tries|Fetches of colour quads that failed because every line was reserved.
MissFailMissFetch|tries|Fetches of colour quads that failed because a miss had begun in the cycle.
ReadsOK|reads|Reads of colour quads that found their line.
ReadsFail|tries|Reads of colour quads whose line was not there.
Unreserves|reservations|Reservations of colour quads given back without a write.
HitsAlloc|tries|Allocations of colour quads whose line was there.
MissesAlloc|tries|Allocations of colour quads whose line was not there.
MissOKAlloc|lines|Lines of colour quads given to another block.
MissFailAlloc|tries|Allocations of colour quads that found no line.
MissFailReqQueueAlloc|tries|Allocations of colour quads that failed because too many lines were on their way.
MissFailReserveAlloc|tries|Allocations of colour quads that failed because every line was reserved.
WritesOK|writes|Writes of colour quads that found their line.
WritesFail|tries|Writes of colour quads whose line was not there.
""",
    ),
    *listed(
        "FC64_TU",
        """
HitsFetch|tries|Fetches of texels whose line was there.
MissesFetch|tries|Fetches of texels whose line was not there.
MissOKFetch|lines|Lines of texels asked from memory.
MissFailFetch|tries|Fetches of texels that missed and could not ask.
MissFailReqQueueFetch|tries|Fetches of texels that failed because too many lines were missing.
MissFailReserveFetch|tries|Fetches of texels that failed because every line was reserved.
MissFailMissFetch|tries|Fetches of texels that failed because a miss had begun in the cycle.
ReadsOK|reads|Reads of texels that found their line.
ReadsFail|tries|Reads of texels whose line was not there.
Unreserves|reservations|Reservations of texels given back without a write.
""",
    ),
    *listed(
        "FC_InC",
        """
HitsFetch|tries|Fetches of attributes whose line was there.
MissesFetch|tries|Fetches of attributes whose line was not there.
MissOKFetch|lines|Lines of attributes asked from memory.
MissFailFetch|tries|Fetches of attributes that missed and could not ask.
MissFailReqQueueFetch|tries|Fetches of attributes that failed because too many lines were missing.
MissFailReserveFetch|tries|Fetches of attributes that failed because every line was reserved.
MissFailMissFetch|tries|Fetches of attributes that failed because a miss had begun in the cycle.
ReadsOK|reads|Reads of attributes that found their line.
ReadsFail|tries|Reads of attributes whose line was not there.
Unreserves|reservations|Reservations of attributes given back without a write.
""",
    ),
)
"""What they count."""
