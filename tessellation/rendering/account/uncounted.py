"""What of pictures by nodes nobody counts: the same wherever their cycles stand, with its size where it has a bound."""

from __future__ import annotations

from pixelflow.config import NodeConfig, constants_of, named
from pixelflow.simd.drawing import Bound, FreeWork, Work
from pixelflow.simd.isa.encoding import WORD_BITS
from pixelflow.simd.report import counted, number
from tessellation.rendering.account.grounds import ENCODING

__all__ = ["PIXELS", "feed_floors", "free_feed", "free_pixels", "uncounted_pixels", "uncounted_work"]

PIXELS = "pixels to the frame buffer"
"""Of a node alone: with more than one the image composition network brings them, and is counted."""


def uncounted_work(
    *, chosen: bool = False, projected: bool = False, words: bool = False, textures: bool = False
) -> str:
    """Return what GPs do for no cycles.

    They may have ``chosen`` k for each patch; EMCs may have ``projected`` the samples, or gone on to instruction
    ``words``; draws may have ``textures``.
    """
    work = ["camera"] * (not (projected or words)) + ["choice of samples"] * chosen
    work += (
        ["records put into the lists of regions by their headers"] if words else ["light", "regions", "instructions"]
    )
    return f"work of the GPs: {', '.join(work + ['textures with their levels put into its memory'] * textures)}"


def uncounted_pixels(width: int, height: int, *, composed: bool) -> str:
    """Return what becomes of a picture's pixels for no cycles; ``composed``: they have been brought, and are kept."""
    pixels = width * height
    if composed:
        return f"what the frame buffer does with {pixels:,} pixels, 3 bytes each"
    return f"{PIXELS}: {pixels:,} of 3 bytes each"


def feed_floors(words: int, parts: int, config: NodeConfig) -> list[tuple[str, int]]:
    """Return the paths that instruction words of a picture go over, and the fewest cycles in which each brings them."""
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
    """Return the way of instruction words to the nodes, of each path; nothing where its time is counted."""
    if config.igc.supply:
        return []
    rates = constants_of(config, named(["gni.mb_per_second", "gni.gp_memory_mb_per_second"]))
    return [
        FreeWork("instructions on their way", Bound.FLOOR, f"over {name}", cycles, (Work.FEED,), (rate, ENCODING))
        for (name, cycles), rate in zip(feed_floors(words, parts, config), rates, strict=True)
    ]


def free_pixels(regions: int, each: int, config: NodeConfig) -> FreeWork:
    """Return the way of the pixels of a node alone to the frame buffer, in ``each`` cycles a region."""
    return FreeWork(
        PIXELS,
        Bound.ABOUT,
        f"{counted(regions, 'region')}, {each} cycles each on the wires of an EMC (composition.*)",
        regions * each,
        (Work.OUTPUT,),
        constants_of(config, named(["composition.emc_bytes_per_cycle"])),
    )
