"""An account of instruction words for reports: cycles by stage, bytes, marks, and how far the light is off."""

from __future__ import annotations

from pixelflow.simd.report import Json, counted
from tessellation.rendering.words.generate import InstructionWords

__all__ = ["word_data", "word_facts"]


def word_facts(words: InstructionWords) -> tuple[tuple[str, str], ...]:
    """Return name and text of each fact; without a name it goes on from the one before."""
    stages = ", ".join(f"{name} {cycles:,}" for name, cycles in words.cycles_by_stage.items())
    light = words.light
    return (
        ("words", f"{words.cycles:,} cycles on the EMCs before"),
        ("", stages),
        ("", f"{counted(words.bytes_sent, 'byte')} to {counted(words.gps, 'GP')} in {counted(words.rounds, 'round')}"),
        ("cut by", ", ".join(words.clipping.planes)),
        ("marks", f"{_accepted(words)} accepted, in {counted(len(words.words), 'region')}"),
        ("light", f"{light.moved:,} of {counted(light.samples, 'sample')} another colour than in 64 bits, "
         f"by {light.steps} of 255 at most"),
        ("", f"{light.unlit:,} have no normal to be lit by" if light.unlit else ""),
    )  # fmt: skip


def _accepted(words: InstructionWords) -> str:
    if not words.clipping.planes:
        return f"{words.accepted:,} of {counted(words.cells, 'triangle')}"
    places = counted(words.places, "place")
    return f"{counted(words.accepted, 'piece')} of {counted(words.cells, 'triangle')}, which have {places} for them,"


def word_data(words: InstructionWords) -> dict[str, Json]:
    """Return everything about the words but themselves."""
    return {
        "cycles": words.cycles,
        "stages": words.cycles_by_stage,
        "bytes": words.bytes_sent,
        "gps": words.gps,
        "rounds": words.rounds,
        "cut_by": [plane.value for plane in words.clipping.planes],
        "triangles": {
            "made": words.cells,
            "places": words.places,
            "accepted": words.accepted,
            "times_regions": len(words.words),
        },
        "light": {
            "largest_difference": words.light.steps,
            "samples_of_another_colour": words.light.moved,
            "samples_without_normal": words.light.unlit,
        },
    }
