"""Statistics of depth and colour units."""

from __future__ import annotations

from attila_bridge.statistics.statistic import AttilaStatistic, listed

__all__ = ["ROPS"]

_BOTH = """
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
RWReqFull|cycles|Cycles in which a line waited because a queue between cache and memory was full.
WaitWriteStall|cycles|Cycles in which a line waited for its own write-back.
MemReqStall|cycles|Cycles in which a write-back waited because a read was sent.
ReadLinePortStall|cycles|Cycles in which the write-back of a line waited for a port.
WriteLinePortStall|cycles|Cycles in which the fill of a line waited for a port.
CacheLineWARStall|cycles|Cycles in which the fill of a line waited until the old one had been read.
CompressorBusy|cycles|Cycles in which a line was compressed.
DecompressorBusy|cycles|Cycles in which a line was decompressed.
DataBusBusy|cycles|Cycles in which the bus to memory was in use.
ComprBlock64|lines|Lines written back in 64 bytes.
ComprBlock128|lines|Lines written back in 128 bytes.
ComprBlock192|lines|Lines written back in 192 bytes.
ComprBlock256|lines|Lines written back uncompressed.
"""
"""What units of both kinds count."""
_DEPTH = """
ConsumerBusy|cycles|Cycles in which a quad that was done could not leave.
OutputFragments|fragments|Fragments of quads sent back, and four for the end of each draw.
TestedFragments|fragments|Fragments of quads that were tested.
PassedFragments|fragments|Fragments that passed depth and stencil.
FailedFragments|fragments|Fragments of tested quads that did not pass, or were dead.
UpdatesHZ|blocks|Maxima of blocks sent to hierarchical Z.
"""
_COLOR = """
BlendedFragments|fragments|Fragments of quads that were blended.
"""

ROPS: tuple[AttilaStatistic, ...] = (
    *listed("ZST", _BOTH),
    *listed("ZST", _DEPTH),
    *listed("CW", _BOTH),
    *listed("CW", _COLOR),
)
"""What they count."""
