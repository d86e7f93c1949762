"""Claims of section 4 of Seiler et al. 2008: tiles, bins, the rasterizer, the back end."""

from pixelflow.evidence import Claim, ClaimClass, PrintedRange

__all__ = ["CLAIMS"]

M, N, P, R = ((each,) for each in (ClaimClass.MECHANICAL, ClaimClass.NOT, ClaimClass.PROXY, ClaimClass.REPRODUCIBLE))

CLAIMS = (
    Claim("tile-bytes", "4.1",
        "Tiles are square powers of two; the largest with 32 bits of colour and 32 of depth leaves half of the L2 "
        "slice free.",
        M, "32x32 to 128x128; 128x128 fills half of 256 KB",
        "tiles of the bins here, the slice of the core model, 4 + 4 bytes a pixel",
        values={"smallest": 32, "largest": 128, "share_of_slice": 0.5},
        constants=frozenset(("smallest", "largest", "share_of_slice"))),
    Claim("bin-spread", "4.1",
        "Few triangles are in more than one bin.",
        R + P, "less than 5 % more triangles than without tiles, typically",
        "meshes that fill a screen of whole tiles with triangles of about one size each, bins by covered pixels; it is "
        "a statement about sizes of triangles, and which sizes games had is not public; real meshes beside "
        "them with the cameras of their scenes, four alone at 800x600 and seven composed at 1600x1200",
        values={"spread": 0.05},
        spans={"spread": PrintedRange(0, 0.05)},
        missed="triangles of these meshes are larger than what a tile of 64x64 allows for that: see the sizes"),
    Claim("order-restored", "4.3",
        "Every core bins into its own part of a bin; reading the part with the smallest sequence id first restores "
        "the order, without locks.",
        R, "no figure",
        "a mesh that covers itself several times, each PrimSet given to one of 1 to 48 cores at random, every tile "
        "compared with the order of drawing",
        expected={"out_of_order": 0}),
    Claim("recursion", "4.4",
        "A tile is divided by 16 down to samples, sixteen blocks at a time on the vector unit.",
        R, "64x64 to 16x16 to 4x4 to pixels",
        "our program on two meshes at 800x600, tiles of three sizes, every mask against exact integers in 64 bits; "
        "these against a software rasterizer that nobody here wrote in tests/drawing",
        expected={"differing": 0}),
    Claim("vector-share", "4.4",
        "Most instructions of the rasterizer run on the vector unit.",
        R, "about 70 %",
        "our programs for set-up and descent, not theirs, loops and addresses included; four meshes of 912 to 3,674 "
        "triangles at 800x600, tiles of 64x64",
        values={"share": 0.7},
        spans={"share": PrintedRange.digits(0.7, 0.1)},
        missed="an address takes three scalar instructions a block, having no scale; the rest is unexplained"),
    Claim("find-first-bit", "4.4",
        "Special instructions such as find first bit bring a part of the rasterizer's efficiency.",
        R, "about 10 %",
        "cycles of our descent, each thread alone, with a loop over bits in place of its bit scan; the same meshes",
        values={"share": 0.1},
        spans={"more": PrintedRange.digits(0.1, 0.1)},
        missed="it grows with the size of triangles, which is not printed"),
    Claim("pixels-once", "4.5",
        "Each pixel of the render targets is read and written once to memory; a clear saves the read, and depth that "
        "nobody needs and samples that are resolved save writes.",
        R, "once each, whatever the overlap",
        "the byte counters of bins, with a mesh in three layers; what colours and depths of a pixel move, in samples",
        expected={
            **{f"plain_{way}_{name}": 1 for way in ("read", "written") for name in ("colour", "depth")},
            "saving_read_colour": 0, "saving_read_depth": 0, "saving_written_depth": 0, "four_written_colour": 1}),
    Claim("fibers", "4.5",
        "One set-up thread hands groups of sixteen pixels (qquads) to work threads; fibers, switched at each texture "
        "read, hide its latency.",
        R, "1 set-up and 3 work threads; hundreds of clocks of latency",
        "a model of fibers that take turns in a circle, and a stated shader of five stretches: the fewest for which "
        "less than 5 % of the cycles stall; how the four threads share the core is not in it",
        spans={"stall": PrintedRange(0, 0.05)}),
)  # fmt: skip
"""In the order of the paper."""
