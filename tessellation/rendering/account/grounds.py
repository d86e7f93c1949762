"""Grounds of a picture by nodes: which guesses its figures rest on, what is a formula, and which work is counted."""

from __future__ import annotations

from collections.abc import Mapping

from pixelflow.config import NodeConfig, constants_of, named
from pixelflow.node import Guesses
from pixelflow.simd.drawing import Ground, HowCounted, Work
from pixelflow.simd.units import Constant, Standing

__all__ = ["ENCODING", "PE_BITS", "counted_by_nodes", "grounds_of_nodes"]

PE_BITS = 8
"""Of an ALU."""

_BITS = Constant("PE bits", PE_BITS, Standing.THESIS, "thesis 2.2.2", "of an ALU", "bits")
ENCODING = Constant("encoding", "words of 32 bits", Standing.INVENTED, "the thesis prints no encodings")
_SIZES = ("array.modules", "array.emcs_per_module", "array.panels_per_emc", "array.pes_per_panel")
_NETWORK = "composition."
_REGIONS = "pixels covered by counting in 64-bit integers, over the PEs of the regions that a triangle's box reaches"


def grounds_of_nodes(used: Guesses, config: NodeConfig, *, composed: bool) -> Mapping[str, Ground]:
    """Return what figures of nodes rest on, whose runs ``used`` those guesses; ``composed`` with other nodes' pictures.

    What the thesis prints of the times is no guess; the guesses are those that took part, and what somebody has set.
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
    """Return how the cycles of nodes have the work of a picture; ``fed`` where words come at a rate."""
    return {
        Work.VERTICES: HowCounted.FREE,
        Work.SETUP: HowCounted.FREE,
        Work.BINNING: HowCounted.FREE,
        Work.COVERAGE: HowCounted.PROGRAM,
        Work.TESTS: HowCounted.PROGRAM,
        Work.COLOURS: HowCounted.PROGRAM,
        Work.TEXELS: HowCounted.PROGRAM,
        Work.BLENDING: HowCounted.PROGRAM,
        # Pixels are in the memory of PEs; what is in texture memory is waited for.
        Work.MEMORY: HowCounted.UNITS if any(key.startswith("sdram.") for key in used.values) else HowCounted.NONE,
        Work.FEED: HowCounted.UNITS if fed else HowCounted.FREE,
        Work.OUTPUT: HowCounted.UNITS if composed else HowCounted.FREE,
        Work.COMMANDS: HowCounted.FREE,
    }
