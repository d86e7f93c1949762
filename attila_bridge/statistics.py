"""Neither meaning nor time: statistics of the boxes, each declared once under the public simulator's name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple


class AttilaStatistic(NamedTuple):
    """A statistic under the public simulator's name."""

    name: str
    box: str
    """Suffix of the box, without the number of a unit: `HZ`, `CW` of `CW-SU0`."""
    unit: str
    doc: str
    per_channel: bool = False
    """True if each channel of memory has one; its number in two digits follows the name."""


# A head names the boxes that count the rows below it, each with a prefix of the names, if any, and the words for
# ``{}``. ``##`` is the number of a channel; ``<02-16>`` expands to a row for each number.
_TABLE = """
[StF]
IndexesSent|indices|Indices sent to the output cache.
MemoryTransactions|transactions|Reads of indices sent to memory.
ReadBytes|bytes|Bytes of indices received from memory.
[StOC]
Hits|indices|Indices whose shaded vertex is still kept.
Misses|indices|Indices whose vertex has to be shaded.
Indices|indices|Indices looked up.
[SL0]
Indices|indices|Indices to be loaded: misses, and a hit that ends a draw.
Inputs|vertices|Vertices sent to the shaders, and one for a hit that ends a draw.
Fetches|attributes|Attributes whose line was reserved.
NoFetches|tries|Tries to reserve a line that failed.
Reads|attributes|Attributes read from the cache.
NoReads|tries|Tries to read an attribute whose line was not there.
MemTransactions|transactions|Reads of vertices sent to memory.
ReadBytes|bytes|Bytes of vertices received from memory.
SplittedAttributes|attributes|Attributes in two lines.
StallsShaderBusy|cycles|Cycles in which a loaded vertex could not leave.
MappedAttributes|attributes|Attributes that draws read from memory, summed over draws.
[StC]
Indices|indices|Indices received from the output cache.
Outputs|vertices|Vertices sent to assembly.
Requests|vertices|Vertices that assembly asked for.
ShaderOutputs|vertices|Shaded vertices received.
OutputAttributes|attributes|Attributes that shaded vertices have, summed over draws.
[PA]
Triangles|triangles|Triangles sent to the Clipper, the end of each draw included.
Vertices|vertices|Vertices received.
Requests|requests|Requests for vertices.
Degenerated|triangles|Triangles dropped because they name an index twice.
[CLP]
InputTriangles|triangles|Triangles received, the end of each draw included.
OutputTriangles|triangles|Triangles sent to set-up, the end of each draw included.
ClippedTriangles|triangles|Triangles dropped as outside of the frustum.
[TS]
InputTriangles|triangles|Triangles received, the end of each draw included.
OutputTriangles|triangles|Triangles sent to traversal, the end of each draw included.
RequestedTriangles|requests|Requests of traversal.
CulledTriangles|triangles|Triangles dropped because they face away or have no area.
FrontFacingTriangles|triangles|Triangles that came to set-up and face the viewer.
BackFacingTriangles|triangles|Triangles that came to set-up and face away.
TrianglesLess_1|triangles|Triangles kept that cover less than a pixel.
Triangles1_to_4|triangles|Triangles kept that cover 1 to 4 pixels.
Triangles4_to_16|triangles|Triangles kept that cover 4 to 16 pixels.
Triangles16_to_100|triangles|Triangles kept that cover 16 to 100 pixels.
Triangles100_to_1000|triangles|Triangles kept that cover 100 to 1000 pixels.
Triangles1000_to_Screen|triangles|Triangles kept that cover 1000 pixels or more, and less than the screen.
TrianglesGreaterScreen|triangles|Triangles kept that cover as much as the screen or more.
[TT]
InputTriangles|triangles|Triangles received, the end of each draw included.
RequestedTriangles|requests|Requests for triangles.
GeneratedFragments|fragments|Fragments generated, covered or not, and four for the end of each draw.
Stamps0Fragment|quads|Quads generated without a fragment within their triangle, the end of each draw included.
Stamps1Fragment|quads|Quads generated with one fragment within their triangle.
Stamps2Fragment|quads|Quads generated with two fragments within their triangle.
Stamps3Fragment|quads|Quads generated with three fragments within their triangle.
Stamps4Fragment|quads|Quads generated with four fragments within their triangle.
UtilizationCycles|cycles|Cycles in which a batch was traversed.
[HZ]
InputFragments|fragments|Fragments received, covered or not, and four for the end of each draw.
OutputFragments|fragments|Fragments of quads sent on, and four for the end of each draw.
CulledFragments|fragments|Fragments of quads without a covered fragment, or past the maximum of their block.
CulledOutsideFragments|fragments|Fragments of quads without a covered fragment.
CulledHZFragments|quads|Quads past the maximum of their block; they are quads in spite of the name.
OutsideTriangleFragments|fragments|Fragments outside of their triangle.
OutsideViewportFragments|fragments|Fragments within their triangle and outside of scissor or viewport.
HitsHZCache|quads|Quads whose block was in the cache.
MissesHZCache|tries|Tries to look up a block that was not in the cache.
ReadsHZBuffer|lines|Lines read from the buffer of maxima.
WritesHZBuffer|blocks|Maxima written to the buffer.
[FFU]
InputFragments|fragments|Fragments of quads received from hierarchical Z, and four for the end of each draw.
InterpolatedFragments|fragments|Fragments of quads that came back from interpolation, and four for each ROP and draw.
ShadedFragments|fragments|Fragments that came back from the shaders.
OutputFragments|fragments|Fragments of quads sent past the shaders, and four for each ROP and draw.
InputVertices|vertices|Vertices received to be shaded.
ShadedVertices|vertices|Vertices that came back from the shaders, padding included.
OutputVertices|vertices|Shaded vertices sent to commit.
RastStampQueuesOccupation|quads x cycles|Quads that waited for the depth test, summed over cycles.
TestStampQueuesOccupation|quads x cycles|Quads past the depth test, summed over cycles.
IntStampQueuesOccupation|quads x cycles|Interpolated quads that waited for a shader, summed over cycles.
ShadedStampQueuesOccupation|quads x cycles|Quads given to the shaders and not sent on, summed over cycles.
VertexInputQueueOccupation|vertices x cycles|Vertices that waited for a shader, summed over cycles.
VertexOutputQueueOccupation|vertices x cycles|Shaded vertices that waited to leave, summed over cycles.
[ZST; CW]
InputFragments|fragments|Fragments of quads received, and four for the end of each draw.
OutsideFragments|fragments|Fragments received that were dead already.
CulledFragments|fragments|Fragments of quads dropped because all were dead.
OperatedFragments|quads|Quads that passed the arithmetic; they are quads in spite of the name.
FetchOK|quads|Quads whose line was reserved to be read.
FetchFailed|tries|Tries to reserve a line to be read that failed.
AllocateOK|quads|Quads whose line was reserved to be written over.
AllocateFailed|tries|Tries to reserve a line to be written over that failed.
ReadOK|quads|Quads whose words were read.
ReadFailed|tries|Tries to read words that were not there, or without a free port.
WriteOK|quads|Quads whose words were written.
WriteFailed|tries|Tries to write words into a line that was not there, or without a free port.
FetchQFullStall|cycles|Cycles in which a quad waited for the queue of fetched ones.
ReadQFullStall|cycles|Cycles in which a quad waited for the queue of read ones.
OperationQFullStall|cycles|Cycles in which a quad waited for the queue past the arithmetic.
WriteQFullStall|cycles|Cycles in which a quad waited for the queue of written ones.
ROPOperatorBusy|cycles|Cycles in which a quad waited for the arithmetic.
RAWDependence|cycles|Cycles in which a quad waited for the same place to be written.
ReadTransactions|transactions|Reads sent to memory.
WriteTransactions|transactions|Writes sent to memory.
ReadBytes|bytes|Bytes received from memory.
WriteBytes|bytes|Bytes sent to memory.
ReadReqAccepted|lines|Lines that were queued to be read from memory.
WriteReqAccepted|lines|Lines that were queued to be written to memory.
RWReqFull|cycles|Cycles in which a line waited because a queue between cache and memory was full; two for both queues.
WaitWriteStall|cycles|Cycles in which a line waited for its own write-back.
MemReqStall|cycles|Cycles in which a write-back waited because a read was sent.
ReadLinePortStall|cycles|Cycles in which the write-back of a line waited for a port or for the read of another line.
WriteLinePortStall|cycles|Cycles in which the fill of a line waited for a port.
CacheLineWARStall|cycles|Cycles in which the fill of a line waited until the old one had been read.
CompressorBusy|cycles|Cycles in which a line was compressed.
DecompressorBusy|cycles|Cycles in which a line was decompressed.
DataBusBusy|cycles|Cycles in which the bus to memory was in use.
ComprBlock64|lines|Lines written back in 64 bytes.
ComprBlock128|lines|Lines written back in 128 bytes.
ComprBlock192|lines|Lines written back in 192 bytes.
ComprBlock256|lines|Lines written back uncompressed.
[ZST]
ConsumerBusy|cycles|Cycles in which a quad that was done could not leave.
OutputFragments|fragments|Fragments of quads sent back, and four for the end of each draw.
TestedFragments|fragments|Fragments of quads that were tested.
PassedFragments|fragments|Fragments that passed depth and stencil.
FailedFragments|fragments|Fragments of tested quads that did not pass, or were dead.
UpdatesHZ|blocks|Maxima of blocks sent to hierarchical Z.
[CW]
BlendedFragments|fragments|Fragments of quads that were blended.
[ShF]
Inputs|threads|Inputs received: fragments and vertices, padding included.
Outputs|threads|Outputs sent.
FetchedInstr|instructions|Instructions fetched for threads.
ReFetchedInstr|instructions|Instructions fetched again because decoding had refused them.
Blocks|threads|Threads that were blocked.
Unblocks|threads|Threads that were unblocked.
InputActiveInputAttributes|attributes|Input registers of the inputs received.
InputActiveOutputAttributes|attributes|Output registers of the inputs received.
InputRegisters|registers|Temporary registers of the inputs received, at least one for each.
ReadyThreads|threads x cycles|Threads that could be fetched for, summed over cycles.
FreeThreads|threads x cycles|Free threads, summed over all cycles.
FinishedThreads|threads x cycles|Threads that had ended and not left, summed over cycles.
UsedResources|registers x cycles|Registers in use, summed over all cycles.
[ShDX]
ExecutedInstructions|instructions|Instructions executed for threads.
RemovedInstructions|instructions|Instructions fetched for threads and dropped: refused, or the thread was blocked.
BlockCommands|threads|Threads that decoding had blocked.
UnblockCommands|threads|Threads unblocked by a texture's answer.
EndCommands|threads|Threads that ended.
ReplayCommands|groups|Instructions refused for a group.
TextureRequests|quads|Texture reads sent to texture units.
[TU]
TextureRequests|quads|Requests received.
TextureResults|quads|Results sent.
TextureResultLatency|cycles|Cycles from the execution of a texture read in a shader to its result, summed over results.
BilinearSamples|steps|Bilinear steps.
AddressCalculationFinished|accesses|Accesses whose addresses were begun completely.
AddressALUBusyCycles|cycles|Cycles in which addresses were calculated.
FilterALUBusyCycles|cycles|Cycles in which texels were filtered.
AnisotropyRatio|samples|Samples of all accesses.
FetchesOK|texels|Texels whose line was reserved.
FetchesFailed|tries|Tries to reserve a texel's line that failed.
FetchStallAddress|cycles|Cycles in which the fetch waited for addresses.
FetchStallFetch|cycles|Cycles in which there was nothing to fetch.
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
HistoAnisoRatio<02-16>|accesses|Accesses of {} samples.
HistoBilinears<01-32>|accesses|Accesses of {} bilinear steps.
[FC_ZST: depth quads; FC_CW: colour quads; FC64_TU: texels; FC_InC: attributes]
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
[FC_ZST: depth quads; FC_CW: colour quads]
HitsAlloc|tries|Allocations of {} whose line was there.
MissesAlloc|tries|Allocations of {} whose line was not there.
MissOKAlloc|lines|Lines of {} given to another block.
MissFailAlloc|tries|Allocations of {} that found no line.
MissFailReqQueueAlloc|tries|Allocations of {} that failed because too many lines were on their way.
MissFailReserveAlloc|tries|Allocations of {} that failed because every line was reserved.
WritesOK|writes|Writes of {} that found their line.
WritesFail|tries|Writes of {} whose line was not there.
[MC]
DataCycles##|cycles|Cycles in which data were on the channel.
ReadBytesMemoryBus##|bytes|Bytes read over the channel.
WriteBytesMemoryBus##|bytes|Bytes written over the channel.
OpenPages##|pages|Pages opened.
OpenPagePenalty##|cycles|Cycles in which the channel's next transaction waited for its page.
ReadToWritePenalty##|cycles|Cycles in which a write waited because of the read before.
WriteToReadPenalty##|cycles|Cycles in which a read waited because of the write before.
[MC CommandProcessor: the command processor; MC StreamerFetch: the fetch of indices; MC StreamerLoader: the loader;
MC ZStencilTest: depth units; MC ColorWrite: colour units; MC DAC: the display; MC TextureUnit: texture units]
Transactions|transactions|Transactions received from {}.
ReadTransactions|transactions|Reads received from {}.
WriteTransactions|transactions|Writes received from {}.
ReadBytes|bytes|Bytes read from memory for {}.
WriteBytes|bytes|Bytes written to memory for {}.
[MC]
IdleCycles|cycles|Cycles in which no channel had anything to do; the public simulator has no such statistic.
[DAC]
ColorStateBlocksTotal|blocks|Blocks of the picture.
ColorStateBlocksClear|blocks|Blocks that were still clear.
ColorStateBlocksCompressedBest|blocks|Blocks that were in 64 bytes.
ColorStateBlocksCompressedNormal|blocks|Blocks that were in 128 bytes.
ColorStateBlocksCompressedWorst|blocks|Blocks that were in 192 bytes.
ColorStateBlocksUncompressed|blocks|Blocks that were uncompressed.
[CP]
Ready|cycles|Cycles in which the processor went through registers and commands.
Draw|cycles|Cycles until the geometry of the present draw had ended.
EndGeometry|cycles|Cycles from the end of its geometry to the end of its fragments.
EndFragment|cycles|Cycles in which a draw was ended.
Clear|cycles|Cycles of clears.
MemoryWrite|cycles|Cycles of uploads.
MemoryRead|cycles|Cycles of loads of programs.
Swap|cycles|Cycles of the swap.
Batches|draws|Draws.
Frames|frames|Frames.
BytesWritten|bytes|Bytes uploaded, programs included.
BytesRead|bytes|Bytes of programs loaded.
"""
"""Rows of ``name|unit|what it counts``, box by box in the order of the pipeline."""


def _read(table: str) -> Iterator[AttilaStatistic]:
    """Yield the statistics of a table."""
    for heads, rows in re.findall(r"^\[([^]]*)\]\n([^\[]*)", table, re.MULTILINE):
        for head in heads.split(";"):
            which, _, words = head.partition(":")
            box, *first = which.split()
            for row in rows.splitlines():
                name, unit, doc = row.split("|")
                for numbered, number in _numbered(name):
                    base = numbered.removesuffix("##")
                    about = doc.replace("{}", number or words.strip())
                    yield AttilaStatistic("".join((*first, base)), box, unit, about, base != numbered)


def _numbered(name: str) -> Iterator[tuple[str, str]]:
    """Yield the names that one expands to, each with its number; a plain name without."""
    range_of = re.fullmatch(r"(.*)<(\d\d)-(\d\d)>", name)
    if range_of is None:
        yield name, ""
        return
    for number in range(int(range_of[2]), int(range_of[3]) + 1):
        yield f"{range_of[1]}{number:02}", str(number)


STATISTICS: tuple[AttilaStatistic, ...] = tuple(_read(_TABLE))
"""All statistics."""

Counts = dict[str, int]
"""Counts of a box by name."""


def counts_of(box: str, channels: int = 0) -> Counts:
    """Return the counts of a box, all 0; ``box`` is its suffix without a number (`CW`, `HZ`)."""
    counts: Counts = {}
    for statistic in STATISTICS:
        if statistic.box == box:
            numbers = range(channels) if statistic.per_channel else ()
            for name in [f"{statistic.name}{number:02}" for number in numbers] or [statistic.name]:
                counts[name] = 0
    return counts


# Columns: the main figures of a run, under the names of tables of recorded runs.


_PLAIN = (
    "IndexesSent_StF", "Hits_StOC", "Misses_StOC", "Triangles_PA", "OutputTriangles_CLP",
    "InputTriangles_TS", "InputTriangles_TT", "GeneratedFragments_TT", "OutputFragments_HZ",
    "CulledOutsideFragments_HZ", "CulledHZFragments_HZ", "InputFragments_FFU", "ShadedFragments_FFU",
    "OutputFragments_FFU",
)  # fmt: skip
"""Statistics of single units."""
_SUMS = {
    "shader_inputs": ("Inputs", "ShF"),
    "executed_instructions": ("ExecutedInstructions", "ShDX"),
    "texture_requests": ("TextureRequests", "TU"),
    "bilinear_samples": ("BilinearSamples", "TU"),
    "texture_fetch_hits": ("HitsFetch", "FC64_TU"),
    "texture_fetch_misses_ok": ("MissOKFetch", "FC64_TU"),
    "texture_bytes": ("TextureUnitReadBytes", "MC"),
    "z_tested": ("TestedFragments", "ZST"),
    "z_passed": ("PassedFragments", "ZST"),
    "z_read_bytes": ("ReadBytes", "ZST"),
    "z_write_bytes": ("WriteBytes", "ZST"),
    "color_operated_quads": ("OperatedFragments", "CW"),
    "color_blended": ("BlendedFragments", "CW"),
    "color_read_bytes": ("ReadBytes", "CW"),
    "color_write_bytes": ("WriteBytes", "CW"),
}
"""Columns that add up over units: the statistic and the kind of unit."""
_DRAWING = ("Draw", "EndGeometry", "EndFragment")
_PHASES = ("Ready", *_DRAWING, "Clear", "MemoryWrite", "MemoryRead", "Swap")


def columns_of(
    phases: Mapping[str, int], rendered: int, cycles: int, counts: Mapping[str, Mapping[str, int]]
) -> dict[str, int]:
    """Return columns by name; ``counts`` are those of each unit by its name, such as ``ShF-FS0``."""
    columns = {
        "cycles": cycles,
        "cycles_rendered": rendered,
        "cycles_drawing": sum(phases.get(each, 0) for each in _DRAWING),
        **{f"cp_{each}": phases.get(each, 0) for each in _PHASES},
    }
    for column in _PLAIN:
        name, _, unit = column.rpartition("_")
        columns[column] = counts.get(unit, {}).get(name, 0)
    for column, (name, kind) in _SUMS.items():
        columns[column] = sum(each.get(name, 0) for unit, each in counts.items() if unit.partition("-")[0] == kind)
    return columns
