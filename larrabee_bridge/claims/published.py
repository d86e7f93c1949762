"""Claims of Seiler et al. 2008 as printed: one table of all figures of the paper."""

from pixelflow.evidence import Claim, ClaimClass, Note, PrintedRange, Reason

_NO_FIGURE = "needs a figure: none is printed"

M, N, P, R = ((each,) for each in (ClaimClass.MECHANICAL, ClaimClass.NOT, ClaimClass.PROXY, ClaimClass.REPRODUCIBLE))

CLAIMS = (
    # 2 and 3: processors, caches, the vector unit, the ring, fixed function.
    Claim("single-stream-price", "2.3",
        "In one process technology a new design that is faster on one stream costs more area and power.",
        N, "1.5x to 1.7x performance for 2x to 3x area and 2x to 2.5x power",
        "cited by the paper from two others",
        reason="needs area and power of processors; nothing here has either"),
    Claim("table-1", "Table 1",
        "Ten in-order cores with a 16-wide unit, in the area and power of two out-of-order ones, halve the "
        "single-stream rate and multiply the peak vector throughput.",
        M, "8 and 160 vector operations a clock, 20x; 40x in flops; 4 and 2 instructions a clock",
        "arithmetic on the printed numbers of cores and widths; lanes are the vector unit's, and that it issues one "
        "operation a clock is executed; a multiply-add is declared as two flops; instructions a clock, area and power "
        "are not looked at",
        values={
            "out_of_order_cores": 2, "out_of_order_width": 4, "in_order_cores": 10, "out_of_order_operations": 8,
            "in_order_operations": 160, "ratio": 20, "flops_ratio": 40},
        constants=frozenset(("out_of_order_operations", "in_order_operations", "ratio", "flops_ratio"))),
    Claim("caches", "3.1",
        "A core has larger L1 caches than the Pentium, for four threads, and a slice of the L2 cache.",
        M, "32 KB for instructions and 32 KB for data (8 and 8 KB in the Pentium); 256 KB of L2; 4 threads",
        "caches are parameters of the core model; threads are a constant of the kernels here",
        values={"l1_code_kb": 32, "l1_data_kb": 32, "l2_kb": 256, "threads": 4},
        constants=frozenset(("l1_code_kb", "l1_data_kb", "l2_kb", "threads"))),
    Claim("vector-unit-area", "3.3",
        "The vector unit with its registers takes a good part of a core.",
        N, "about one third of the area",
        "a layout",
        reason="needs a layout; nothing here has an area"),
    Claim("lane-utilisation", "3.3",
        "Sixteen lanes are well used by pixel shaders, one component of sixteen pixels at a time.",
        P, "88 %",
        "equilateral triangles of growing area at places and angles of all kinds, coverage alone: how many pixels of a "
        "vector of sixteen are covered, as 4x4 blocks and as any four 2x2 blocks; branches of shaders are left out, "
        "and whether the paper's figure includes them is not printed",
        values={"utilisation": 0.88},
        spans={"utilisation": PrintedRange.digits(0.88, 0.01)},
        missed="it depends on the size of triangles, which is not printed: less at small ones, more at large ones"),
    Claim("free-conversions", "3.3",
        "Narrow data are widened on their way from the L1 cache at no cost.",
        M, "8-bit unorm, 8-bit uint, 16-bit sint and 16-bit float: no loss",
        "the same eight additions with every kind of memory operand; that a load-op costs nothing more is a parameter "
        "of the model, so this says that no kind is treated otherwise",
        values={"more_cycles": 0, "formats": 4},
        constants=frozenset(("more_cycles", "formats"))),
    Claim("gather-rate", "3.3",
        "A gather is limited by the cache, which serves one line a cycle; many access patterns are coherent.",
        R, "usually 1 line a cycle, much less than 16 cycles for coherent patterns",
        "gathers of sparse matrix products in the L1 cache: five-point stencil of 32 x 16 points, band of 50 on either "
        "side, uniform over 1,024 columns; sixteen rows at once, and entries row by row; the rule is the model's, the "
        "number of lines is found; much less than 16 is read as half at most",
        spans={"coherent": PrintedRange(1, 8)}),
    Claim("clauses", "3.3",
        "A clause of if and else can be left out where the mask is all zeros or all ones.",
        R, "no figure",
        "programs of the renderer have such clauses; what one of them gains is in no printed figure",
        reason=_NO_FIGURE),
    Claim("ring", "3.4",
        "A ring in both directions joins the cores; each agent accepts from one direction on even clocks and from the "
        "other on odd ones; several short rings above some number of cores.",
        M, "512 bits a direction; more than 16 cores: several rings",
        "parameters; the clocks of a message on empty rings follow from them by formula, and those of sixteen agents "
        "are what the core model takes for a ride",
        values={"bits": 512, "most_cores_on_a_ring": 16},
        constants=frozenset(("bits", "most_cores_on_a_ring"))),
    Claim("texture-filtering", "3.5",
        "Filtering textures on the cores would take much longer than in the texture units, above all where textures "
        "are compressed.",
        P, "12x to 40x longer",
        "bilinear samples of a texture in the L1 cache by our programs, RGBA8 or BC1 in blocks; what a texture unit "
        "would have to do in a clock for each bound to hold with RGBA8; the ratio at rates that the model allows; none "
        "is printed",
        values={"least": 12, "most": 40}, spans={"ratio": PrintedRange(12, 40)},
        missed="the rate of the texture unit decides: it is not printed, and invented here",
        notes=(Note("texture-filtering", "3.5", Reason.CONTRADICTION,
            "The section sends readers to a section 5.5 for shares of processing time; there is none, 5.4 has "
            "them."),)),
    Claim("texture-cache", "3.5",
        "The texture units have a cache for each core.",
        M, "32 KB",
        "a parameter, where a model here has one",
        values={"texture_cache_kb": 32},
        constants=frozenset(("texture_cache_kb",))),
    # 4: tiles, bins, the rasterizer, the back end.
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
        "a statement about sizes of triangles, and which sizes games had is not public; also real meshes "
        "with the cameras of their scenes, four alone at 800x600 and seven composed at 1600x1200",
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
        "these against an independent software rasterizer in tests/drawing",
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
        "Each pixel of the render targets is read and written once to memory; a clear saves the read; unused depth "
        "and samples that are resolved save writes.",
        R, "once each, whatever the overlap",
        "the byte counters of bins, with a mesh in three layers; what colours and depths of a pixel move, in samples",
        expected={
            **{f"plain_{way}_{name}": 1 for way in ("read", "written") for name in ("colour", "depth")},
            "saving_read_colour": 0, "saving_read_depth": 0, "saving_written_depth": 0, "four_written_colour": 1}),
    Claim("fibers", "4.5",
        "One set-up thread hands groups of sixteen pixels (qquads) to work threads; fibers, switched at each texture "
        "read, hide its latency.",
        R, "1 set-up and 3 work threads; hundreds of clocks of latency",
        "threads of a tile in the renderer; by formula the fewest fibers for which less than 5 % of the cycles stall, "
        "and those shares, where a shader asks for texels every 60 cycles: how four threads share the core is not in "
        "them",
        values={"set_up_threads": 1, "work_threads": 3},
        constants=frozenset(("set_up_threads", "work_threads"))),
    # 5 and 6: what was measured with games, and other applications.
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
        "This number of units draws every sample frame 60 times a second.",
        N, "about 10 (Half-Life 2), 25 (F.E.A.R.) and 25 (Gears of War)",
        "not the games: our composed scenes at 1600x1200 with a shader of 50 operations more than it needs, cycles as "
        "for figure 9, as if speed grew with the cores",
        spans={"units": PrintedRange(9.5, 25.5)},
        missed="not the games: fewer layers, one light and no texture; how long their shaders were is not printed",
        notes=(Note("units-for-60", "Fig. 10", Reason.CONTRADICTION,
            "Simulated on one core as if speed grew with the number of cores; figure 9 falls 7 to 10 % "
            "short of that."),)),
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
        "frame whole, vertices included, under the shader of figures 9 to 11; the same with the shadow volumes of "
        "everything in the room, made by the host, each triangle for the side that it shows; light is the host's as "
        "well; no textures; not the games",
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
        "Fragments in any order are kept in lists while their tile is drawn, and are sorted before it leaves.",
        R, "no figure",
        "8, 17, 24 and 40 layers of glass over each other, in each cell of the screen in another order of depth; "
        "pixels that differ from 64-bit integers, sorted by numpy",
        expected={"differing": 0}),
    Claim("fog", "6.2, Fig. 15",
        "Effects between such layers, as fog, take part before they are blended.",
        R, "no figure",
        "there is no fog here",
        reason=_NO_FIGURE),
    Claim("tones", "6.3",
        "Colours that are drawn may be read again while their tile is in the cache.",
        R, "no figure",
        "colours leave their tile here as they were drawn",
        reason=_NO_FIGURE),
    Claim("shadow-map", "6.3, Fig. 16",
        "Shadows are found at the samples of the eye, in lists of the light's view, and not at texels of a map.",
        R, "no figure",
        "there is no such shadow map here",
        reason=_NO_FIGURE),
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
        N, "234,000 triangles, about 4 million rays, 25 MB of kd-tree, 1 light, 1 reflection",
        "their scene and tree",
        reason="needs their scene: figures of a scene are met by no other one"),
    Claim("ray-scaling", "Fig. 19",
        "The ray tracer scales with cores.",
        P, "a chart",
        "their tracer and scene",
        reason="needs their ray tracer and scene"),
    Claim("applications-scaling", "Fig. 20",
        "Image processing, physical simulation and other applications scale with cores.",
        P, "a chart",
        "physics and rays alone are here; the other applications are not public",
        reason="needs their applications"),
)  # fmt: skip
"""In the order of the paper."""
