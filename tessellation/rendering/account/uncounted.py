"""What of a picture by nodes nobody counts, in words: the same wherever its cycles stand."""

from __future__ import annotations

__all__ = ["PIXELS", "uncounted_pixels", "uncounted_work"]

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
