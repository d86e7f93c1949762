"""Claims of sections 5 and 6 of Seiler et al. 2008: what was measured with games, and other applications."""

from pixelflow.evidence import Claim, ClaimClass, Note, PrintedRange, Reason

__all__ = ["CLAIMS"]

M, N, P, R = ((each,) for each in (ClaimClass.MECHANICAL, ClaimClass.NOT, ClaimClass.PROXY, ClaimClass.REPRODUCIBLE))

CLAIMS = (
    Claim("workloads", "Table 2",
        "Frames of three games, far apart, were traced.",
        N, "25 frames each, 1600x1200, with 4, 4 and 1 samples",
        "the traces are not public; our scenes have the same size of screen where nothing else is said",
        reason="needs the traces of the games"),
    Claim("cycles-simulated", "5.1",
        "Most cycles of a frame were run through cycle-accurate simulators.",
        N, "90 %",
        "their tools and their assembly code",
        reason="needs their simulators and programs",
        notes=(Note("cycles-simulated", "5.1", Reason.CONTRADICTION,
            "5.1 counts limits of memory bandwidth among what was simulated; 5.3 says that the studies measure "
            "computational speed, unrestricted by it."),)),
    Claim("larrabee-unit", "5.1",
        "A Larrabee unit is one core at 1 GHz.",
        M, "32 GFLOPS at most",
        "fused multiply-adds that do not wait for each other, executed: how many issue in a cycle; that each is two "
        "flops in sixteen lanes is declared",
        values={"flops_per_cycle": 32},
        constants=frozenset(("flops_per_cycle",))),
    Claim("scaling", "5.2, Fig. 9",
        "Speed grows almost with the number of cores, relative to 8 of them.",
        P, "7 to 10 % below linear at 48 cores, PrimSets of at most 1000",
        "scheduling of composed scenes at 1600x1200 (meadow, swarm and tray fill the screen), not of the games, with "
        "four frames that overlap and with one alone; cycles of our programs, all tiles of 64x64 executed with "
        "caches, and with a shader of 50 operations more than it needs; vertices, bins and planes executed too",
        values={"least": 0.07, "most": 0.1, "cores": 48, "from_cores": 8, "primset": 1000},
        spans={"below": PrintedRange(0.07, 0.1)},
        missed="unexplained: these are not the games' scenes"),
    Claim("smaller-primsets", "5.2",
        "Smaller PrimSets bring F.E.A.R. closer to linear.",
        P, "2 % below with PrimSets of 200",
        "the same scheduling with both sizes of PrimSet; that smaller ones are better is the direction",
        values={"below": 0.02, "primset": 200},
        spans={"below": PrintedRange.digits(0.02, 0.01)},
        missed="unexplained: these are not the game's scenes"),
    Claim("units-for-60", "Fig. 10",
        "So many units draw every sample frame 60 times a second.",
        N, "about 10 (Half-Life 2), 25 (F.E.A.R.) and 25 (Gears of War)",
        "not the games: our composed scenes at 1600x1200 with a shader of 50 operations more than it needs, cycles as "
        "for figure 9, as if speed grew with the cores",
        spans={"units": PrintedRange(9.5, 25.5)},
        missed="not the games: fewer layers, one light and no texture; how long their shaders were is not printed",
        notes=(Note("units-for-60", "Fig. 10", Reason.CONTRADICTION,
            "Simulated on one core as if speed grew with the number of cores, beside a figure 9 that falls 7 to 10 "
            "% short of that."),)),
    Claim("locks", "5.2",
        "Locks are few and cheap enough.",
        M + P, "less than 10,000 locks a frame, around 100 clocks each",
        "the product, as a share of a frame of 1/60 s on the units of figure 10; locks of our "
        "composed scenes are counted, of the games' they are not known",
        values={"locks": 10_000, "clocks": 100, "units": 25, "fewer_units": 10, "frames": 60},
        spans={"locks": PrintedRange(0, 10_000)}, constants=frozenset(("clocks",))),
    Claim("bin-balance", "Fig. 11",
        "Bins of a frame take about equally long.",
        P, "most from 0.5x to 2x the mean, few above 3x",
        "bins of 64x64 pixels of the same scenes with the same cycles; not the game; herd, fleet, works and anthill "
        "fill a part of the screen, and bins without a triangle do not count; a scene that fills the screen is named "
        "as such; most is read as half at least, few as a twentieth at most",
        values={"low": 0.5, "high": 2, "rare": 3},
        spans={"most": PrintedRange(0.5, 1), "few": PrintedRange(0, 0.05)},
        missed="unexplained: the two scenes of bunnies on a floor miss it, herd and meadow"),
    Claim("immediate-baseline", "5.3",
        "The immediate renderer that binning is compared with is an ideal one.",
        M, "perfect hierarchical depth culling; 128 KB of texture cache, 1 MB of colour and of depth cache; "
        "compression 2x and 4x at one sample, 4x and 8x at four",
        "the default configuration of the immediate model here",
        values={
            "texture_cache_kb": 128, "colour_cache_kb": 1024, "depth_cache_kb": 1024, "colour_compression": 2,
            "depth_compression": 4, "colour_compression_4": 4, "depth_compression_4": 8},
        constants=frozenset((
            "texture_cache_kb", "colour_cache_kb", "depth_cache_kb", "colour_compression", "depth_compression",
            "colour_compression_4", "depth_compression_4"))),
    Claim("binning-bandwidth", "Fig. 12",
        "Immediate rendering moves more bytes than binning in every frame.",
        P, "2.4x to 7x (F.E.A.R.), 1.5x to 2.6x (Gears of War), 1.6x to 1.8x (Half-Life 2)",
        "screens of 1600x1200 covered by layers, each block of 4x4 in a random order of depth, with the assumptions of "
        "5.3; tiles of 64x64 are cleared, their depths dropped and their colours resolved, which is a constant of 4 "
        "bytes a pixel; bins and vertices are those of layers of triangles of 800 pixels, in bytes that are invented; "
        "which depth the games had, and what they kept, is not public",
        values={"least": 1.5, "most": 7},
        spans={"ratio": PrintedRange(1.5, 7)},
        missed="bytes of bin entries, masks and vertices are invented, and decide: with none of them it holds"),
    Claim("gain-grows", "5.3",
        "Binning gains most where immediate rendering needs most.",
        R, "the highest gains at the highest bandwidth",
        "the same layers, bins and vertices included: does the ratio grow with their number, as the bytes of immediate "
        "mode do? Of targets alone it does by construction, since those of tiles are a constant",
        spans={"grows": PrintedRange(1, 1)},
        missed="the same invented bytes decide: bins grow with the layers as immediate mode does"),
    Claim("stages", "Fig. 13",
        "Rasterization takes a small share of the time, and a large one where stencil shadows are drawn.",
        P, "3.2 % in two games, 20.1 % in F.E.A.R.",
        "set-up and descents of our rasterizer among all cycles of cores, those of vertices, bins and planes included, "
        "in the composed scenes of figures 9 to 11 and under their shader; 20 shadow volumes alone at 256x192; no "
        "textures; not the games",
        values={"low": 0.032, "high": 0.201},
        spans={"games": PrintedRange.digits(0.032, 0.001), "volumes": PrintedRange.digits(0.201, 0.001)},
        missed="unknown: shaders of the games are not public, and a longer one lowers the share as far as one likes"),
    Claim("stages-walk", "Fig. 13",
        "The same over 25 frames, as they are drawn one by one, front end included.",
        P, "3.2 % in two games, 20.1 % in F.E.A.R.",
        "set-up and descents among all cycles of cores, in the scene walk from 25 places of its camera, 640x480, every "
        "frame whole and from its vertices on, under the shader of figures 9 to 11; the same with the shadow volumes "
        "of all that stands in the room, which the host makes, each triangle for the side that it shows; light is the "
        "host's as well; no textures; not the games",
        values={"low": 0.032, "high": 0.201},
        spans={"games": PrintedRange.digits(0.032, 0.001), "volumes": PrintedRange.digits(0.201, 0.001)},
        missed="unknown: shaders and triangles of the games are not public"),
    Claim("frames-vary", "Fig. 14",
        "Shares of the stages vary strongly between 25 frames of F.E.A.R.",
        P, "a chart",
        "the rasterizer's share, and all cycles, in each of the same 25 frames of our walk, without volumes and with "
        "them; not the game's frames"),
    Claim("geforce-8", "6.2",
        "A contemporary's shared memory belongs to few processors and must be managed by the program.",
        M, "16 KB for 8 processors and up to 768 threads",
        "cited by the paper from another",
        reason="a fact about another machine, cited; there is nothing to measure here"),
    Claim("gather-gain", "6.2",
        "Hardware gather speeds up sparse matrix kernels, such as sparse matrix times vector.",
        R, "almost 3x on average",
        "y = A x in float32, everything in the L1 cache, sixteen rows at once: a gather against 16 scalar loads of "
        "indices, 16 of elements, 16 stores and a vector load, two scalar instructions a cycle; which matrices and "
        "which software theirs was is not printed",
        values={"ratio": 3},
        spans={"mean": PrintedRange.digits(3, 1)},
        missed="which matrices and which software theirs was is not printed; threads that share a core gain more"),
    Claim("transparency", "6.2, Fig. 15",
        "Fragments in any order stand in lists while their tile is drawn, and are sorted before it leaves.",
        R, "no figure",
        "8, 17, 24 and 40 layers of glass over each other, in each cell of the screen in another order of depth; "
        "pixels that differ from 64-bit integers, sorted by numpy",
        expected={"differing": 0}),
    Claim("fog", "6.2, Fig. 15",
        "What lies between such layers, as fog does, takes part before they are blended.",
        R, "no figure",
        "24 panes of glass that cross each other, with fog between them and to the eye; pixels that are further from "
        "float64 than rounding to bytes allows",
        expected={"differing": 0}),
    Claim("tones", "6.3",
        "Colours that are drawn may be read again while their tile is in the cache.",
        R, "no figure",
        "a curve of tones that a picture of a knot goes through in its tiles: steps of a channel that it differs by "
        "from float64",
        expected={"differing": 0}),
    Claim("shadow-map", "6.3, Fig. 16",
        "Shadows are worked out at the samples of the eye, in lists of the light's view, and not at texels of a map.",
        R, "no figure",
        "a knot above a floor: samples that differ, by more than float32 moves them, from a test of every triangle in "
        "float64",
        expected={"differing": 0}),
    Claim("physics", "6.4, Fig. 17",
        "Game physics uses many cores well.",
        P, "more than 50 % of the resources up to 64 cores",
        "our programs and scenes, not theirs: a step of cloth of 96 x 96 points, sweep and prune of 10,000 boxes, "
        "densities and forces of 12,288 particles, distances of 4,096 pairs of convex bodies; speed-up on 64 cores as "
        "a share of 64, locks of 100 cycles, no bandwidth; rigid bodies are not here, and sorting is the host's",
        values={"share": 0.5, "cores": 64}, spans={"share": PrintedRange(0.5, 1)}, constants=frozenset(("cores",))),
    Claim("ray-triangle", "6.4",
        "Sixteen rays are tested against one triangle in few cycles.",
        R, "47 cycles; 257 on a Core 2 Duo",
        "our program (Moeller and Trumbore without a division) for each further triangle; which test theirs was is not "
        "printed; the other processor is not looked at",
        values={"cycles": 47, "other": 257},
        spans={"cycles": PrintedRange(47, 47)},
        missed="their kernel is not printed; ours has 41 vector operations, which one thread alone cannot pair"),
    Claim("ray-tracer", "6.4, Fig. 19",
        "Other processors take more clock cycles for a whole ray tracer.",
        N, "4.67x a core's (one Core 2 Duo), 4.6x eight cores' (8-core Xeon)",
        "the tracer and its scene",
        reason="needs their ray tracer and scene"),
    Claim("ray-scene", "Fig. 18",
        "The scene that was traced, and what it took.",
        P, "234,000 triangles, about 4 million rays, 25 MB of kd-tree, 1 light, 1 reflection",
        "our scene, a knot above a floor, 1024x1024, one light and one reflection; a tree of boxes that the host "
        "builds, not a kd-tree; every ray executed",
        spans={
            "triangles": PrintedRange.digits(234_000, 1000), "rays": PrintedRange.digits(4_000_000, 1_000_000),
            "tree_bytes": PrintedRange.digits(25_000_000, 1_000_000)},
        missed="another scene, and a tree of another kind: theirs is not public"),
    Claim("ray-scaling", "Fig. 19",
        "The ray tracer scales with cores.",
        P, "a chart",
        "our tracer and scene: tiles of 32x32 pixels from one list, four threads a core, locks of 100 cycles, no "
        "bandwidth; building the tree is the host's and is not counted"),
    Claim("applications-scaling", "Fig. 20",
        "Image processing, physical simulation and other applications scale with cores.",
        P, "a chart",
        "our programs: a matrix product, two filters, marching cubes, Fourier transforms, portfolios; locks of 100 "
        "cycles, no bandwidth; not their applications, which are not public"),
)  # fmt: skip
"""In the order of the paper."""
