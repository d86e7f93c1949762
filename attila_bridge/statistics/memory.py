"""Statistics of the memory controller, the display and the command processor."""

from __future__ import annotations

from attila_bridge.statistics.statistic import AttilaStatistic, listed

__all__ = ["MEMORY"]

# One of each for every channel, whose number follows the name.
_CHANNELS = listed(
    "MC",
    """
DataCycles|cycles|Cycles in which data were on the channel.
ReadBytesMemoryBus|bytes|Bytes read over the channel.
WriteBytesMemoryBus|bytes|Bytes written over the channel.
OpenPages|pages|Pages opened.
OpenPagePenalty|cycles|Cycles in which the channel's next transaction waited for its page.
ReadToWritePenalty|cycles|Cycles in which a write waited because of the read before.
WriteToReadPenalty|cycles|Cycles in which a read waited because of the write before.
""",
    per_channel=True,
)

MEMORY: tuple[AttilaStatistic, ...] = (
    *_CHANNELS,
    *listed(
        "MC",
        """
CommandProcessorTransactions|transactions|Transactions received from the command processor.
CommandProcessorReadTransactions|transactions|Reads received from the command processor.
CommandProcessorWriteTransactions|transactions|Writes received from the command processor.
CommandProcessorReadBytes|bytes|Bytes read from memory for the command processor.
CommandProcessorWriteBytes|bytes|Bytes written to memory for the command processor.
StreamerFetchTransactions|transactions|Transactions received from the fetch of indices.
StreamerFetchReadTransactions|transactions|Reads received from the fetch of indices.
StreamerFetchWriteTransactions|transactions|Writes received from the fetch of indices.
StreamerFetchReadBytes|bytes|Bytes read from memory for the fetch of indices.
StreamerFetchWriteBytes|bytes|Bytes written to memory for the fetch of indices.
StreamerLoaderTransactions|transactions|Transactions received from the loader.
StreamerLoaderReadTransactions|transactions|Reads received from the loader.
StreamerLoaderWriteTransactions|transactions|Writes received from the loader.
StreamerLoaderReadBytes|bytes|Bytes read from memory for the loader.
StreamerLoaderWriteBytes|bytes|Bytes written to memory for the loader.
ZStencilTestTransactions|transactions|Transactions received from depth units.
ZStencilTestReadTransactions|transactions|Reads received from depth units.
ZStencilTestWriteTransactions|transactions|Writes received from depth units.
ZStencilTestReadBytes|bytes|Bytes read from memory for depth units.
ZStencilTestWriteBytes|bytes|Bytes written to memory for depth units.
ColorWriteTransactions|transactions|Transactions received from colour units.
ColorWriteReadTransactions|transactions|Reads received from colour units.
ColorWriteWriteTransactions|transactions|Writes received from colour units.
ColorWriteReadBytes|bytes|Bytes read from memory for colour units.
ColorWriteWriteBytes|bytes|Bytes written to memory for colour units.
DACTransactions|transactions|Transactions received from the display.
DACReadTransactions|transactions|Reads received from the display.
DACWriteTransactions|transactions|Writes received from the display.
DACReadBytes|bytes|Bytes read from memory for the display.
DACWriteBytes|bytes|Bytes written to memory for the display.
TextureUnitTransactions|transactions|Transactions received from texture units.
TextureUnitReadTransactions|transactions|Reads received from texture units.
TextureUnitWriteTransactions|transactions|Writes received from texture units.
TextureUnitReadBytes|bytes|Bytes read from memory for texture units.
TextureUnitWriteBytes|bytes|Bytes written to memory for texture units.
UnusedCycles|cycles|Cycles in which no channel had anything to do.
""",
    ),
    *listed(
        "DAC",
        """
ColorStateBlocksTotal|blocks|Blocks of the picture.
ColorStateBlocksClear|blocks|Blocks that were still clear.
ColorStateBlocksCompressedBest|blocks|Blocks that were in 64 bytes.
ColorStateBlocksCompressedNormal|blocks|Blocks that were in 128 bytes.
ColorStateBlocksCompressedWorst|blocks|Blocks that were in 192 bytes.
ColorStateBlocksUncompressed|blocks|Blocks that were uncompressed.
""",
    ),
    *listed(
        "CP",
        """
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
""",
    ),
)
"""What they count."""
