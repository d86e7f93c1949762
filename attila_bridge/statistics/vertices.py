"""Statistics of the streamer, assembly and the Clipper."""

from __future__ import annotations

from attila_bridge.statistics.statistic import AttilaStatistic, listed

__all__ = ["VERTICES"]

VERTICES: tuple[AttilaStatistic, ...] = (
    *listed(
        "StF",
        """
IndexesSent|indices|Indices sent to the output cache.
MemoryTransactions|transactions|Reads of indices sent to memory.
ReadBytes|bytes|Bytes of indices received from memory.
""",
    ),
    *listed(
        "StOC",
        """
Hits|indices|Indices whose shaded vertex is still kept.
Misses|indices|Indices whose vertex has to be shaded.
Indices|indices|Indices looked up.
""",
    ),
    *listed(
        "SL0",
        """
Indices|indices|Indices received, hits included.
Inputs|vertices|Vertices sent to the shaders, stand-ins for a last hit included.
Fetches|attributes|Attributes whose line was reserved.
NoFetches|tries|Tries to reserve a line that failed.
Reads|attributes|Attributes read from the cache.
NoReads|tries|Tries to read an attribute whose line was not there.
MemTransactions|transactions|Reads of vertices sent to memory.
ReadBytes|bytes|Bytes of vertices received from memory.
SplittedAttributes|attributes|Attributes that lie in two lines.
StallsShaderBusy|cycles|Cycles in which a loaded vertex could not leave.
MappedAttributes|attributes|Attributes that draws read from memory, summed over draws.
""",
    ),
    *listed(
        "StC",
        """
Indices|indices|Indices received from the output cache.
Outputs|vertices|Vertices sent to assembly.
Requests|vertices|Vertices that assembly asked for.
ShaderOutputs|vertices|Shaded vertices received.
OutputAttributes|attributes|Attributes that shaded vertices have, summed over draws.
""",
    ),
    *listed(
        "PA",
        """
Triangles|triangles|Triangles sent to the Clipper, the end of each draw included.
Vertices|vertices|Vertices received.
Requests|requests|Requests for vertices.
Degenerated|triangles|Triangles dropped because they name an index twice.
""",
    ),
    *listed(
        "CLP",
        """
InputTriangles|triangles|Triangles received, the end of each draw included.
OutputTriangles|triangles|Triangles sent to set-up, the end of each draw included.
ClippedTriangles|triangles|Triangles dropped as outside of the frustum.
""",
    ),
)
"""What they count."""
