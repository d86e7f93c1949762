"""Statistics of set-up, traversal, hierarchical Z and the fragment FIFO."""

from __future__ import annotations

from attila_bridge.statistics.statistic import AttilaStatistic, listed

__all__ = ["RASTER"]

RASTER: tuple[AttilaStatistic, ...] = (
    *listed(
        "TS",
        """
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
""",
    ),
    *listed(
        "TT",
        """
InputTriangles|triangles|Triangles received, the end of each draw included.
RequestedTriangles|requests|Requests for triangles.
GeneratedFragments|fragments|Fragments generated, covered or not, and four for the end of each draw.
Stamps0Fragment|quads|Quads generated without a fragment within their triangle, the end of each draw included.
Stamps1Fragment|quads|Quads generated with one fragment within their triangle.
Stamps2Fragment|quads|Quads generated with two fragments within their triangle.
Stamps3Fragment|quads|Quads generated with three fragments within their triangle.
Stamps4Fragment|quads|Quads generated with four fragments within their triangle.
UtilizationCycles|cycles|Cycles in which a batch was traversed.
""",
    ),
    *listed(
        "HZ",
        """
InputFragments|fragments|Fragments received, covered or not, and four for the end of each draw.
OutputFragments|fragments|Fragments of quads sent on, and four for the end of each draw.
CulledFragments|fragments|Fragments of quads that did not leave.
CulledOutsideFragments|fragments|Fragments of quads without a covered fragment.
CulledHZFragments|quads|Quads past the maximum of their block; they are quads in spite of the name.
OutsideTriangleFragments|fragments|Fragments outside of their triangle.
OutsideViewportFragments|fragments|Fragments within their triangle and outside of scissor or viewport.
HitsHZCache|quads|Quads whose block was in the cache.
MissesHZCache|tries|Tries to look up a block that was not in the cache.
ReadsHZBuffer|lines|Lines read from the buffer of maxima.
WritesHZBuffer|blocks|Maxima written to the buffer.
""",
    ),
    *listed(
        "FFU",
        """
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
ShadedStampQueuesOccupation|quads x cycles|Quads from the shaders on, summed over cycles.
VertexInputQueueOccupation|vertices x cycles|Vertices that waited for a shader, summed over cycles.
VertexOutputQueueOccupation|vertices x cycles|Shaded vertices that waited to leave, summed over cycles.
""",
    ),
)
"""What they count."""
