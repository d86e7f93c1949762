"""Claims of the paper on ATTILA, with the printed figures, and their measures; no model reads them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attila_bridge.claims import sections, study
from attila_bridge.claims.probes import AttilaBench
from pixelflow.evidence import Claim, ClaimClass, Measured, Note, Number, Paper, Reason, derived

M, N, P, R = ((each,) for each in (ClaimClass.MECHANICAL, ClaimClass.NOT, ClaimClass.PROXY, ClaimClass.REPRODUCIBLE))

_SEEN = "the most that the unit's wires carried in one cycle, and held between them, in scenes of ours"
_FIGURE = "scenes of ours on the machine of section 5: the games' traces and shaders are not public"
NOTES = {
    "hz-queue": Note("hz-queue", "Table 1", Reason.MODEL,
        "With a queue of 64 quads a unit that takes 32 a cycle, and is ready only while more than 64 are free, never "
        "starts; the authors' simulator has 128, and so has this machine."),
    "interpolation": Note("interpolation", "Table 1", Reason.MODEL,
        "The authors' simulator takes 4 cycles and one more for every four attributes, at most 8, and so does this "
        "machine: none can be done in 2, and a program of ARB reads at most 12 attributes."),
    "setup-rate": Note("setup-rate", "Table 1", Reason.MODEL,
        "The authors' simulator begins with a triangle every 4 cycles, and so does this machine: its wires carry one a "
        "cycle, the unit does not take one."),
    "in-order": Note("in-order", "Figure 7", Reason.MODEL,
        "In order a quad takes what its instructions and its texture reads take one after the other, which neither "
        "three units nor two shorten. One unit alone is slower than that, so it does matter."),
}  # fmt: skip
"""Notes where the machine differs from the print, or a sentence holds in part."""

# fmt: off
CLAIMS = (
    Claim("streamer", "Table 1", "The Streamer takes an index and gives a vertex a cycle; 48 shaded vertices stay.", R,
        "1 index; 1 vertex; 48", _SEEN, values={"indices": 1, "vertices": 1, "kept": 48}),
    Claim("assembly", "Table 1", "Assembly takes a vertex and gives a triangle a cycle; its queue has 8.", R,
        "1 vertex; 1 triangle; 8", _SEEN, values={"vertices": 1, "triangles": 1, "queue": 8}),
    Claim("clipping", "Table 1", "The Clipper takes and gives a triangle a cycle; 4 in its queue; 6 cycles.", R,
        "1; 1; 4; 6 cycles", _SEEN, values={"triangles": 1, "given": 1, "queue": 4, "latency": 6}),
    Claim("setup", "Table 1", "Set-up takes and gives a triangle a cycle; 12 in its queue; 10 cycles.", R,
        "1; 1; 12; 10 cycles", _SEEN, values={"triangles": 1, "given": 1, "cycles": 1, "queue": 12, "latency": 10},
        instead={"cycles": derived("start", start=4)}, notes=(NOTES["setup-rate"],)),
    Claim("generation", "Table 1", "Generation takes a triangle and gives two tiles of 64 fragments a cycle.", R,
        "1 triangle; 128 fragments", _SEEN, values={"triangles": 1, "fragments": 128}),
    Claim("hierarchical-z", "Table 1", "Hierarchical Z takes and gives two tiles a cycle; 64 in its queue; 1 cycle.", R,
        "128; 128 fragments; 64; 1 cycle", _SEEN, values={"fragments": 128, "given": 128, "queue": 64, "latency": 1},
        instead={"queue": derived("quads", quads=128)}, expected={"more_than_printed": 1},
        notes=(NOTES["hz-queue"],), constants=frozenset(("queue",))),
    Claim("z-test", "Table 1", "A Z unit takes and gives a quad a cycle; 64 in its queue; 2 cycles and memory.", R,
        "4; 4 fragments; 64; 2 cycles", _SEEN, values={"fragments": 4, "given": 4, "queue": 64, "latency": 2}),
    Claim("interpolation", "Table 1", "The interpolator takes and gives two quads a cycle, in 2 to 8 cycles.", R,
        "8; 8 fragments; 2 to 8 cycles", _SEEN, values={"fragments": 8, "given": 8, "least": 2, "most": 8},
        instead={"least": derived("pipe", pipe=4),
            "most": derived("pipe + attributes // each", pipe=4, attributes=12, each=4)},
        notes=(NOTES["interpolation"],)),
    Claim("colour-write", "Table 1", "A colour unit takes a quad a cycle; 64 in its queue; 2 cycles and memory.", R,
        "4 fragments; 64; 2 cycles", _SEEN, values={"fragments": 4, "queue": 64, "latency": 2}),
    Claim("vertex-shader", "Table 1", "A separate vertex shader holds 12 inputs and 4 buffers.", N, "12 + 4",
        reason="the machine built is the unified one of Figure 2, whose shaders take vertices too"),
    Claim("fragment-shader", "Table 1", "A shader takes and gives 4 fragments a cycle and holds 112 and 16 buffers.", R,
        "4; 4 fragments; 112 + 16", _SEEN, values={"fragments": 4, "given": 4, "inputs": 128}),
    Claim("registers", "2.3", "112 inputs of 4 registers each fit: 448.", M, "448 registers",
        "the most registers that inputs of a program with 4 held at once", values={"registers": 448}),
    Claim("caches", "Table 2", "Texture, Z and colour caches have 16 KB: 4 ways of 16 lines of 256 bytes.", R,
        "16 KB; 4 ways; 16 lines; 256 bytes",
        "the most kilobytes of texels, depths and colours that are gone over twice and come in once, on one unit of "
        "each; ways by texels alone. Of two ROPs each has only lines of every other set",
        values={"texture": 16, "depth": 16, "colour": 16, "ways": 4, "line": 256}),
    Claim("memory-rate", "2.2", "Four channels give 64 bytes a cycle.", R, "64 bytes a cycle",
        "64 bytes for each transaction that channels begin within 4 cycles, at the most, in layers that are written",
        values={"bytes": 64}),
    Claim("fast-clear", "2.2", "Depth, stencil and colour are cleared in a few cycles, without memory.", R, "no figure",
        "bytes of memory in a frame that is cleared and not drawn; the cycles are given too", expected={"bytes": 0}),
    Claim("compression", "2.2", "Z lines are compressed to a half or a quarter.", R, "1:2, 1:4",
        "sizes of lines that were written back, of tilted planes", expected={"quarter": 1, "half": 1}),
    Claim("bilinear", "2.3", "A texture unit gives a bilinear sample a cycle, a trilinear one every two.", R, "1; 1/2",
        "the fewest cycles from one filtering to the next; also what a further read costs, the texels all there",
        values={"bilinear": 1, "trilinear": 2}),
    Claim("window-3-to-2", "Figure 7", "With the window, two texture units instead of three cost 5 to 10 %.", P,
        "5 to 10 %", _FIGURE, expected={"within": 1}),
    Claim("window-3-to-1", "Figure 7", "With the window, one texture unit instead of three costs much more.", P,
        "no figure", _FIGURE, expected={"more_than_twice_that": 1}),
    Claim("in-order", "Figure 7", "In order the machine is slower than with the window and three units.", P,
        "no figure", _FIGURE, expected={"slower": 1}),
    Claim("in-order-units", "Figure 7", "In order, the number of texture units does not matter.", P, "no figure",
        _FIGURE + "; does not matter: less than 5 % from three units to two", expected={"within_5": 1},
        notes=(NOTES["in-order"],)),
    Claim("hit-rate", "Figure 8", "More texture units: fewer hits, more bytes.", P, "no figure", _FIGURE,
        expected={"bytes_grow": 1, "misses_grow": 1}),
    Claim("one-unit-busy", "Figure 9",
        "With one unit texturing bounds the machine: it is busy 95 to 99 %. In order all units are under-used.", P,
        "95 to 99 %", _FIGURE + "; under-used: busy for less than half", expected={"within": 1, "under_used": 1}),
    Claim("statistics", "4", "Up to 300 statistics.", M, "300",
        "statistics that are declared, units and channels apart; there are more than the paper says",
        values={"statistics": 300}, expected={"as_many": 1}),
    Claim("games", "5, Figures 7 to 10", "Frames a second of UT2004 and DOOM3, and a picture of one.", N,
        "about 5 to 30 frames/s", reason="the traces are not public"),
)
# fmt: on


def _bench(watch: Callable[[object], None]) -> AttilaBench:
    return AttilaBench()


def _measure(claim: str) -> Callable[[AttilaBench, Mapping[str, Number]], Measured]:
    """Return the function of a claim: its name with underscores, in `sections` or `study`."""
    name = claim.replace("-", "_")
    measure: Callable[[AttilaBench, Mapping[str, Number]], Measured] = getattr(
        study if hasattr(study, name) else sections, name
    )
    return measure


PAPER = Paper(
    name="attila",
    title="Moya et al., ATTILA: a cycle-level execution-driven simulator for modern GPU architectures, ISPASS 2006",
    claims=CLAIMS,
    measures={claim.name: _measure(claim.name) for claim in CLAIMS if ClaimClass.NOT not in claim.classes},
    bench=_bench,
    efforts={
        "streamer": 10,
        "generation": 4,
        "z-test": 5,
        "colour-write": 3,
        "caches": 8,
        "bilinear": 4,
        "window-3-to-2": 60,
        "in-order": 15,
        "in-order-units": 15,
        "hit-rate": 60,
    },
    notes=tuple(NOTES.values()),
    closing="Scenes are ours. What the paper does not print is the early preset of its authors' simulator.",
)
"""ISPASS 2006; no model reads what it prints."""
