"""Claims of section 4 of Seiler et al. 2008: tiles, bins, the rasterizer, the back end."""

from larrabee_bridge.claims.published.claim import Claim, Kind

__all__ = ["CLAIMS"]

M, N, P, R = Kind.MECHANICAL, Kind.NOT, Kind.PROXY, Kind.REPRODUCIBLE

CLAIMS = (
    Claim(
        name="tile-bytes",
        where="4.1",
        text="Tiles are square powers of two; the largest with 32 bits of colour and 32 of depth leaves half of the L2 "
        "slice free.",
        published="32x32 to 128x128; 128x128 fills half of 256 KB",
        kinds=(M,),
        conditions="tiles of the bins here, the slice of the core model, 4 + 4 bytes a pixel",
        values={"smallest": 32, "largest": 128, "share_of_slice": 0.5},
        measure="bytes_of_a_tile",
    ),
    Claim(
        name="bin-spread",
        where="4.1",
        text="Few triangles are in more than one bin.",
        published="less than 5 % more triangles than without tiles, typically",
        kinds=(R, P),
        conditions="meshes that fill a screen of whole tiles with triangles of about one size each, bins by covered "
        "pixels; it is a statement about sizes of triangles, and which sizes games had is not public",
        values={"spread": 0.05},
        measure="spread_by_area",
    ),
    Claim(
        name="order-restored",
        where="4.3",
        text="Every core bins into its own part of a bin; reading the part with the smallest sequence id first "
        "restores the order, without locks.",
        published="no figure",
        kinds=(R,),
        conditions="a mesh that covers itself several times, each PrimSet given to one of 1 to 48 cores at random, "
        "every tile compared with the order of drawing",
        expected={"out_of_order": 0},
        measure="order_of_sub_bins",
    ),
    Claim(
        name="recursion",
        where="4.4",
        text="A tile is divided by 16 down to samples, sixteen blocks at a time on the vector unit.",
        published="64x64 to 16x16 to 4x4 to pixels",
        kinds=(R,),
        conditions="our program on two meshes at 800x600, tiles of three sizes, every mask against exact "
        "integers in 64 bits; these against a software rasterizer that nobody here wrote in "
        "tests/drawing",
        expected={"differing": 0},
        measure="rasterizer_masks",
    ),
    Claim(
        name="vector-share",
        where="4.4",
        text="Most instructions of the rasterizer run on the vector unit.",
        published="about 70 %",
        kinds=(R,),
        conditions="our programs for set-up and descent, not theirs, loops and addresses included; four "
        "meshes of 912 to 3,674 triangles at 800x600, tiles of 64x64",
        values={"share": 0.70},
        measure="rasterizer_mix",
    ),
    Claim(
        name="find-first-bit",
        where="4.4",
        text="Special instructions such as find first bit bring a part of the rasterizer's efficiency.",
        published="about 10 %",
        kinds=(R,),
        conditions="cycles of our descent, each thread alone, with a loop over bits in place of its bit "
        "scan; the same meshes",
        values={"share": 0.10},
        measure="rasterizer_ablation",
    ),
    Claim(
        name="pixels-once",
        where="4.5",
        text="Each pixel of the render targets is read and written once to memory; a clear saves the read, and depth "
        "that nobody needs and samples that are resolved save writes.",
        published="once each, whatever the overlap",
        kinds=(R,),
        conditions="the byte counters of bins, with a mesh in three layers; what colours and depths of a "
        "pixel move, in samples",
        expected={
            **{f"plain_{way}_{name}": 1 for way in ("read", "written") for name in ("colour", "depth")},
            "saving_read_colour": 0,
            "saving_read_depth": 0,
            "saving_written_depth": 0,
            "four_written_colour": 1,
        },
        measure="bytes_of_tiles",
    ),
    Claim(
        name="fibers",
        where="4.5",
        text="One set-up thread hands groups of sixteen pixels (qquads) to work threads; fibers, switched at each "
        "texture read, hide its latency.",
        published="1 set-up and 3 work threads; hundreds of clocks of latency",
        kinds=(R,),
        conditions="a model of fibers that take turns in a circle, and a stated shader of five stretches: "
        "the fewest for which less than 5 % of the cycles stall; how the four threads share the "
        "core is not in it",
        measure="fibers_needed",
    ),
)
"""In the order of the paper."""
