"""Account of a picture by nodes (watching): sources of its figures, and work that is not counted."""

from __future__ import annotations

from collections.abc import Mapping

from pixelflow.caveats import coded
from pixelflow.config import NodeConfig
from pixelflow.node import Guesses
from pixelflow.simd.configuration import constants_of, named
from pixelflow.simd.drawing import Bound, FreeWork, Ground, HowCounted, Work
from pixelflow.simd.isa.encoding import WORD_BITS
from pixelflow.simd.report import counted, number
from pixelflow.simd.units import Constant, Standing

# Grounds of a picture by nodes: the guesses behind its figures, formulas, and the work that is counted.


PE_BITS = 8
"""Width of an ALU."""

_BITS = Constant("PE bits", PE_BITS, Standing.THESIS, "thesis 2.2.2", "of an ALU", "bits")
ENCODING = Constant("encoding", "words of 32 bits", Standing.INVENTED, "the thesis prints no encodings")
_SIZES = ("array.modules", "array.emcs_per_module", "array.panels_per_emc", "array.pes_per_panel")
_NETWORK = "composition."
_REGIONS = "pixels covered by counting in 64-bit integers, over the PEs of the regions that a triangle's box reaches"


def grounds_of_nodes(used: Guesses, config: NodeConfig, *, composed: bool) -> Mapping[str, Ground]:
    """Return the grounds of the figures of nodes, given the guesses their runs ``used``.

    Guesses are those that took part and values that were set; times printed in the thesis are not guesses.
    """
    kinds = {
        f"isa.{each}": Constant(f"isa.{each}", each, standing, "its declaration (about --model)", "what it takes")
        for standing, mnemonics in used.instructions.items()
        for each in mnemonics
    }
    sizes = constants_of(config, named(_SIZES))
    took_part = {*used.values, *used.moved}
    if not config.igc.supply:  # words that come at a rate are the only path of MB/s that takes part in drawing
        took_part.discard("clock_mhz")
    rates = constants_of(config, lambda key, _: key in took_part and not key.startswith(_NETWORK))
    times = Ground.executed(*sizes, *rates, *kinds.values())
    network = constants_of(config, lambda key, _: key.startswith(_NETWORK))
    composing = Ground.executed(*network) if composed else Ground()
    return {
        "clock_mhz": Ground.given(*constants_of(config, named(["clock_mhz"]))),
        "lanes": Ground.given(*sizes),
        "lane_bits": Ground.given(_BITS),
        "cycles": times | composing,
        "work": times,
        "stages": times,
        "mix": Ground.executed(*sizes),
        "covered_lanes": Ground.formula(_REGIONS, *sizes),
        "enabled_lanes": times,
        "traffic: instructions to the nodes": Ground.executed(ENCODING, *sizes),
        "traffic: image composition network": Ground.executed(),
        "traffic: texels to the PEs": Ground.executed(),
        "picture": Ground.executed(),
    }


def counted_by_nodes(used: Guesses, *, composed: bool, fed: bool) -> Mapping[Work, HowCounted]:
    """Return how the cycles of nodes count the work of a picture; ``fed`` if words arrive at a rate."""
    return {
        Work.VERTICES: HowCounted.FREE,
        Work.SETUP: HowCounted.FREE,
        Work.BINNING: HowCounted.FREE,
        Work.COVERAGE: HowCounted.PROGRAM,
        Work.TESTS: HowCounted.PROGRAM,
        Work.COLOURS: HowCounted.PROGRAM,
        Work.TEXELS: HowCounted.PROGRAM,
        Work.BLENDING: HowCounted.PROGRAM,
        # Pixels are in PE memory; texture memory is waited for.
        Work.MEMORY: HowCounted.UNITS if any(key.startswith("sdram.") for key in used.values) else HowCounted.NONE,
        Work.FEED: HowCounted.UNITS if fed else HowCounted.FREE,
        Work.OUTPUT: HowCounted.UNITS if composed else HowCounted.FREE,
        Work.COMMANDS: HowCounted.FREE,
    }


STAGES: Mapping[str, Work] = {
    "clear": Work.TESTS, "edges": Work.COVERAGE, "depth": Work.TESTS, "cutout": Work.TESTS,
    **dict.fromkeys(("colour", "values", "division", "samples added up"), Work.COLOURS),
    **dict.fromkeys(("coordinates", "coordinates of neighbours", "detail", "levels", "addresses", "texels", "filter",
        "texel times colour"), Work.TEXELS),
    "blend": Work.BLENDING,
    **dict.fromkeys(("copy for composition", "receive", "finished pixels"), Work.OUTPUT),
}  # fmt: skip
"""Kind of work of each stage of rendering; values of pixels are colours and texture coordinates."""


# Work that is not counted, with a bound where there is one.


LAST_LAYER = coded("the answer whether a layer was the last", "PF303")
PIXELS = "pixels to the frame buffer"
"""Not counted for a node alone; with several nodes the image composition network counts them."""


def uncounted_work(
    *, chosen: bool = False, projected: bool = False, words: bool = False, textures: bool = False
) -> str:
    """Return the work of GPs that takes no cycles.

    GPs may choose k for each patch (``chosen``) and prepare ``textures``; EMCs may have ``projected`` the samples or
    made instruction ``words``.
    """
    work = ["camera"] * (not (projected or words)) + ["choice of samples"] * chosen
    work += (
        ["records put into the lists of regions by their headers"] if words else ["light", "regions", "instructions"]
    )
    work += ["textures with their levels put into its memory"] * textures
    return f"{coded('work of the GPs', 'PF301')}: {', '.join(work)}"


def uncounted_pixels(width: int, height: int, *, composed: bool) -> str:
    """Return the work on a picture's pixels that takes no cycles; ``composed``: only that of the frame buffer."""
    pixels = width * height
    if composed:
        return coded(f"what the frame buffer does with {pixels:,} pixels, 3 bytes each", "PF302")
    return f"{coded(PIXELS, 'PF302')}: {pixels:,} of 3 bytes each"


def feed_floors(words: int, parts: int, config: NodeConfig) -> list[tuple[str, int]]:
    """Return the paths of a picture's instruction words and the least cycles of each."""
    count, clock = words * WORD_BITS // 8, config.clock_mhz
    paths = (
        (f"the geometry network's {number(config.gni.mb_per_second)} MB/s", count, config.gni.mb_per_second),
        (
            f"{number(config.gni.gp_memory_mb_per_second)} MB/s of a GP's memory, for each node its own",
            -(-count // parts),
            config.gni.gp_memory_mb_per_second,
        ),
    )
    return [(name, -(-each * clock // rate)) for name, each, rate in paths]


def free_feed(words: int, parts: int, config: NodeConfig) -> list[FreeWork]:
    """Return the transport of instruction words over each path, unless its time is counted."""
    if config.igc.supply:
        return []
    rates = constants_of(config, named(["gni.mb_per_second", "gni.gp_memory_mb_per_second"]))
    return [
        FreeWork(
            "instructions on their way", "PF102", Bound.FLOOR, f"over {name}", cycles, (Work.FEED,), (rate, ENCODING)
        )
        for (name, cycles), rate in zip(feed_floors(words, parts, config), rates, strict=True)
    ]


def free_pixels(regions: int, each: int, config: NodeConfig) -> FreeWork:
    """Return the transport of a node's pixels to the frame buffer, ``each`` cycles a region."""
    return FreeWork(
        PIXELS,
        "PF302",
        Bound.ABOUT,
        f"{counted(regions, 'region')}, {each} cycles each on the wires of an EMC (composition.*)",
        regions * each,
        (Work.OUTPUT,),
        constants_of(config, named(["composition.emc_bytes_per_cycle"])),
    )
