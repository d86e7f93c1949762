"""Cuts of what threads carried out: where in the words of a note a block begins, each time that it was carried out."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from larrabee_bridge.vpu.unit.note import RunNote
from pixelflow.simd.native import works_natively
from pixelflow.simd.native.plain import Longs, Words, compiled

__all__ = ["begins_of_block"]

_NATIVE_AFTER = 20_000


def cut_words(m: Longs, words: Words, block: int, at: int, past: int, out: int) -> int:
    """Write from ``m[out]`` on where words of a block begin; return the place past the last; m begins with counts."""
    while at < past:
        found = words[at]
        if found == block:
            m[out] = at
            out += 1
        at += 1
        left = m[found]
        while left > 0:
            at += 1 + words[at]
            left -= 1
    return out


@cache
def _native():  # type: ignore[no-untyped-def]
    return compiled(cut_words)


def begins_of_block(note: RunNote, instruction: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the words of the block that begins at an instruction stand, and how many each thread has."""
    counts = np.array([len(each) for each in note.blocks.touching], np.int64)
    block = note.blocks.block_at[instruction]
    image = np.concatenate([counts, np.zeros(len(note.words), np.int64)])
    begin = len(counts)
    ends = [begin]
    native = len(note.words) > _NATIVE_AFTER and works_natively()
    words = np.ascontiguousarray(note.words, np.uint32)
    spans = zip(note.starts[:-1].tolist(), note.starts[1:].tolist(), strict=True)
    if native:
        cut = _native()
        for first, past in spans:
            ends.append(cut(image.ctypes.data, words.ctypes.data, block, first, past, ends[-1]))
    else:
        numbers, listed = image.tolist(), words.tolist()
        for first, past in spans:
            ends.append(cut_words(numbers, listed, block, first, past, ends[-1]))
        image = np.array(numbers, np.int64)
    return image[begin : ends[-1]], np.diff(ends)
