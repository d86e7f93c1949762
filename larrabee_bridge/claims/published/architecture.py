"""Claims of sections 2 and 3 of Seiler et al. 2008: processors, caches, the vector unit, the ring, fixed function."""

from pixelflow.evidence import Claim, ClaimClass, Note, PrintedRange, Reason

__all__ = ["CLAIMS"]

M, N, P, R = ((each,) for each in (ClaimClass.MECHANICAL, ClaimClass.NOT, ClaimClass.PROXY, ClaimClass.REPRODUCIBLE))

CLAIMS = (
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
        "two polynomials of degree 8 as if and else, each lane taking the if by itself with some likelihood; 64 "
        "vectors at each of 11 densities, four threads on a core",
        expected={"uniform_masks_that_gain": 2}),
    Claim("ring", "3.4",
        "A ring in both directions joins the cores; each agent accepts from one of them on even clocks and from the "
        "other on odd ones; several short rings above some number of cores.",
        M, "512 bits a direction; more than 16 cores: several rings",
        "a model of the ring under random messages; that nobody waits on the ring, and that each is accepted in the "
        "clocks of its direction, is compared message by message",
        values={"bits": 512, "most_cores_on_a_ring": 16},
        expected={"held_up": 0, "wrong_clock": 0},
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
)  # fmt: skip
"""In the order of the paper."""
