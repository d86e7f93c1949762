"""Statistics of shaders and texture units."""

from __future__ import annotations

from attila_bridge.statistics.statistic import AttilaStatistic, listed

__all__ = ["SHADING"]

SHADING: tuple[AttilaStatistic, ...] = (
    *listed(
        "ShF",
        """
Inputs|threads|Inputs received: fragments and vertices, padding included.
Outputs|threads|Outputs sent.
FetchedInstr|instructions|Instructions fetched for threads.
ReFetchedInstr|instructions|Instructions fetched again because decoding had refused them.
Blocks|threads|Threads that were blocked.
Unblocks|threads|Threads that were unblocked.
InputActiveInputAttributes|attributes|Input registers of the inputs received.
InputActiveOutputAttributes|attributes|Output registers of the inputs received.
InputRegisters|registers|Temporary registers of the inputs received, at least one for each.
ReadyThreads|threads x cycles|Threads that could be fetched for, summed over the cycles in which the shader was at work.
FreeThreads|threads x cycles|Free threads, summed over the cycles in which the shader was at work.
FinishedThreads|threads x cycles|Threads that had ended and not left, summed over cycles.
UsedResources|registers x cycles|Registers in use, summed over the cycles in which the shader was at work.
""",
    ),
    *listed(
        "ShDX",
        """
ExecutedInstructions|instructions|Instructions carried out for threads.
RemovedInstructions|instructions|Instructions fetched for threads and dropped: refused, or the thread was blocked.
BlockCommands|threads|Threads that decoding had blocked.
UnblockCommands|threads|Threads unblocked by a texture's answer.
EndCommands|threads|Threads that ended.
ReplayCommands|groups|Instructions refused for a group.
TextureRequests|quads|Texture reads sent to texture units.
""",
    ),
    *listed(
        "TU",
        """
TextureRequests|quads|Requests received.
TextureResults|quads|Results sent.
TextureResultLatency|cycles|Cycles from the acceptance of an access to its result, summed over results.
BilinearSamples|steps|Bilinear steps.
AddressCalculationFinished|accesses|Accesses whose addresses were begun completely.
AddressALUBusyCycles|cycles|Cycles in which addresses were calculated.
FilterALUBusyCycles|cycles|Cycles in which texels were filtered.
AnisotropyRatio|samples|Samples of all accesses.
FetchesOK|texels|Texels whose line was reserved.
FetchesFailed|tries|Tries to reserve a texel's line that failed.
FetchStallAddress|cycles|Cycles in which the fetch waited for addresses.
FetchStallFetch|cycles|Cycles in which there was nothing to fetch while accesses were in the unit.
FetchStallReadyRead|cycles|Cycles in which the fetch waited for the queue of samples to be read.
FetchStallWaitRead|cycles|Cycles in which the fetch waited for the window of samples without lines.
ReadsOK|texels|Texels read.
ReadTransactions|transactions|Reads sent to memory.
ReadBytesMemory|bytes|Bytes received from memory.
MemoryRequests|transactions|Answers received from memory.
MemoryRequestLatency|cycles|Cycles from a read to its answer, summed over answers.
AccessQueueOccupation|accesses x cycles|Accesses before or in the fetch, summed over cycles.
RequestQueueOccupation|requests x cycles|Requests that waited, summed over cycles.
ResultQueueOccupation|results x cycles|Results that waited, summed over cycles.
ReadyReadQueueOccupation|samples x cycles|Samples that waited to be read, summed over cycles.
WaitReadWindowOccupation|samples x cycles|Samples that waited for lines, summed over cycles.
MipsSampled1|accesses|Accesses whose samples read one level.
MipsSampled2|accesses|Accesses whose samples read two levels.
HistoAnisoRatioNoAniso|accesses|Accesses of one sample.
""",
    ),
    *(
        AttilaStatistic(f"HistoAnisoRatio{number:02}", "TU", "accesses", f"Accesses of {number} samples.")
        for number in range(2, 17)
    ),
    *(
        AttilaStatistic(f"HistoBilinears{number:02}", "TU", "accesses", f"Accesses of {number} bilinear steps.")
        for number in range(1, 33)
    ),
)
"""What they count."""
