"""Caveats of results: one table of codes, each with what it is about, what it means and what to do.

A report prints the code in the line where the caveat applies; ``pixelflow about CODE`` prints the entry, and
``docs/pages/limits.md`` has them all. A code is never reused for another meaning.
"""

from __future__ import annotations

from typing import NamedTuple

from pixelflow.simd.errors import Fault, InputError, suggestion


class Caveat(NamedTuple):
    """A limit of a result: ``title`` in a few words, ``meaning`` in a sentence or two, and ``remedy``, what to do."""

    code: str
    title: str
    meaning: str
    remedy: str


# fmt: off
_ALL = (
    Caveat("PF101", "assumed values and instruction costs",
        "No source on a machine is complete: the thesis prints no ALU, no instruction set and no encodings. Values and "
        "costs that are fitted to printed tables or invented took part in this result; the line has their number.",
        "`pixelflow about --assumptions` lists them with their sources (--machine NAME those of another machine); "
        "`pixelflow study sensitivity` measures what each is worth."),
    Caveat("PF102", "delivery of instruction words takes no time",
        "Words of instructions are at the IGCs when they are needed, as in the thesis.",
        "Set `-D igc.supply=MB/S`: then delivery is simulated and its waits are counted."),
    Caveat("PF103", "no time was simulated",
        "A run with --function-only ends in the state of a full run and has no cycles; port conflicts are not seen.",
        "Leave out --function-only."),
    Caveat("PF104", "energy at invented prices",
        "Prices keep the proportions of a published table of 45 nm; the machine is of 1992. Only comparisons mean "
        "anything.",
        "Set prices of your technology: `--price WORK=FJ`."),
    Caveat("PF105", "what a declared cycle needs in hardware",
        "Each access, sum and hop of an instruction is placed in one of its declared cycles: one memory port and one "
        "adder a PE are enough for all, with 16 hidden bits for EMC_PixSwap, 9 for linear expressions. A byte must be "
        "read in the cycle that uses it, and loops must be folded into other instructions. A trial in Amaranth without "
        "the pixel copies took 919 generic cells a PE, 44 of them flip-flops: figures of an invented ALU.",
        "`-D extra.store_then_read=1` and `-D igc.fold_loops=false` count the cycles without these two abilities."),
    Caveat("PF201", "database loaded outside the counted run",
        "Control points are in texture memory when the first cycle begins, as in the thesis.",
        "`--load gp` loads them from GP memory; the cycles are reported as a line."),
    Caveat("PF202", "results read outside the counted run",
        "Points and normals are read out of PE memory when the last cycle has ended.",
        "`--results gp` (or gp-coarse, gp-fine, gp-both) writes them to GP memory, in counted cycles."),
    Caveat("PF203", "trimming curves prepared by the GPs",
        "The GPs flatten trimming curves and cut triangles at them. Their cycles are a formula and are not in the sum.",
        "Read the formula's cycles in the line; no option executes this work."),
    Caveat("PF204", "surface not closed or not orientable",
        "Along shared edges of the patches the surface has cracks, or its sides do not agree.",
        "Look at the patch file; `--weld` closes gaps between equal samples, `--outward` turns whole parts."),
    Caveat("PF205", "patches left to the GPs",
        "Patches without room in the allowed passes are sampled by the GPs. Their cycles are a formula at the GPs' "
        "peak rate and are not in the sum.",
        "Allow more passes, or leave `--passes` out for as many as it takes."),
    Caveat("PF301", "work of the GPs takes no time",
        "The node draws what its GPs have prepared: camera, light, regions and instructions, as the line says.",
        "`--projection emc` projects on the EMCs, `--projection emc-words` also makes the instructions there."),
    Caveat("PF302", "pixels on their way to the frame buffer",
        "A node that draws alone keeps its picture: sending it takes no counted cycles. With several nodes the image "
        "composition network is simulated, and only what the frame buffer does with the pixels is left out.",
        "`--nodes 2` or more simulates the network."),
    Caveat("PF303", "the answer whether a layer was the last",
        "Sorted layers are drawn until none is left; the answer that ends this takes no cycles.",
        "No option counts it."),
    Caveat("PF304", "colours of instruction words made by the EMCs",
        "Light is computed in binary32, colours are linear on the screen and not in perspective, and a sample whose "
        "normal has no direction is dark; the host takes the mean of the triangles around it. Facets are refused.",
        "Leave out `--projection emc-words`: the host lights without these limits."),
    Caveat("PF401", "Larrabee: work of the host",
        "The line says which work on vertices, triangles and bins takes no cycles of the cores.",
        "Leave out --free-setup; `--projection vpu` also tessellates on the vector unit."),
    Caveat("PF402", "Larrabee: bytes by formula",
        "Bytes between cores and memory follow from what was drawn; sizes of bin entries, masks and vertices are "
        "invented.",
        "Compare pictures of one machine; do not read the bytes as measured."),
    Caveat("PF501", "Gen6: fixed functions take no cycles",
        "Execution units are simulated. Set-up, coverage, tests, the sampler's filter, blending, memory and commands "
        "belong to other units, which are not: threads wait for the sampler as if every texel were in its cache.",
        "`--projection eus` executes camera and light; no option counts the rest."),
    Caveat("PF601", "ATTILA: work of the host",
        "What the host does before the command processor reads takes no cycles, nor do the bytes of uploads count.",
        "No option counts it."),
    Caveat("PF602", "ATTILA: rates of two sources",
        "Rates are those of the paper's tables or, failing that, of the early preset of its authors' simulator.",
        "`--gpu KEY=VALUE` (run: -D) sets one."),
)
# fmt: on

CAVEATS = {each.code: each for each in _ALL}
"""Every caveat by code."""


def caveat(code: str) -> Caveat:
    """Return a caveat; raises InputError for a code that there is not."""
    found = CAVEATS.get(code.upper())
    if found is None:
        hint = suggestion(code.upper(), CAVEATS, "pixelflow about --caveats lists them")
        raise InputError(Fault(f"there is no caveat {code}", hint=hint))
    return found


def coded(text: str, code: str) -> str:
    """Return the line of a report with the code of its caveat; the code must exist."""
    return f"{text} ({CAVEATS[code].code})" if text else ""


def resting_on(count: int, machine: str = "") -> str:
    """Return the line about the assumptions that took part in a result, ``machine`` being another than PixelFlow."""
    whose = f" --machine {machine}" if machine else ""
    return (
        coded(f"rests on {count} assumption{'s' * (count != 1)}", "PF101") + f": pixelflow about --assumptions{whose}"
    )
