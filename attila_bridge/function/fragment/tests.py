"""Depth and stencil tests on words of the depth buffer: stencil in the 8 bits above 24 bits of depth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attila_bridge.scene.model import Compare, DrawState, StencilOperation

__all__ = ["Tested", "has_tests", "run_tests"]

Words = NDArray[np.uint32]
Bits = NDArray[np.bool_]
_DEPTH = np.uint32(0xFFFFFF)
_EIGHT = np.uint32(24)

_COMPARES: dict[Compare, Callable[[Words, Words], Bits]] = {
    Compare.NEVER: lambda new, old: np.zeros(new.shape, np.bool_),
    Compare.LESS: np.less,
    Compare.EQUAL: np.equal,
    Compare.LEQUAL: np.less_equal,
    Compare.GREATER: np.greater,
    Compare.NOTEQUAL: np.not_equal,
    Compare.GEQUAL: np.greater_equal,
    Compare.ALWAYS: lambda new, old: np.ones(new.shape, np.bool_),
}
_OPERATIONS: dict[StencilOperation, Callable[[Words, int], Words]] = {
    StencilOperation.KEEP: lambda old, ref: old,
    StencilOperation.ZERO: lambda old, ref: np.zeros_like(old),
    StencilOperation.REPLACE: lambda old, ref: np.full_like(old, ref),
    StencilOperation.INCR: lambda old, ref: np.minimum(old + np.uint32(1), np.uint32(255)),
    StencilOperation.DECR: lambda old, ref: np.where(old > 0, old - np.uint32(1), np.uint32(0)),
    StencilOperation.INVERT: lambda old, ref: ~old & np.uint32(255),
    StencilOperation.INCR_WRAP: lambda old, ref: old + np.uint32(1) & np.uint32(255),
    StencilOperation.DECR_WRAP: lambda old, ref: old - np.uint32(1) & np.uint32(255),
}


@dataclass(frozen=True, slots=True, eq=False)
class Tested:
    """Result of the tests."""

    passed: Bits
    written: Bits
    """Fragments that the tests write a word for, whether it changes or not."""
    words: Words
    """The buffer after."""


def has_tests(state: DrawState) -> bool:
    """Return whether a draw tests depth or stencil."""
    return state.depth is not None or state.stencil is not None


def run_tests(state: DrawState, live: Bits, depth: Words, words: Words) -> Tested:
    """Test fragments that are ``live`` against the words of the buffer; stencil first, depth then, as in GL."""
    old_depth, old_stencil = words & _DEPTH, words >> _EIGHT
    nearer = np.ones(live.shape, np.bool_)
    if state.depth is not None:
        nearer = _COMPARES[state.depth.func](depth, old_depth)
    allowed = np.ones(live.shape, np.bool_)
    stencil, written = old_stencil, np.zeros(live.shape, np.bool_)
    if state.stencil is not None:
        rule = state.stencil
        allowed = _COMPARES[rule.func](np.full_like(old_stencil, rule.ref), old_stencil)
        failed, hidden, both = (
            _OPERATIONS[each](old_stencil, rule.ref) for each in (rule.fail, rule.zfail, rule.zpass)
        )
        stencil = np.where(live, np.where(allowed, np.where(nearer, both, hidden), failed), old_stencil)
        written = live.copy()
    passed = live & allowed & nearer
    new_depth = old_depth
    if state.depth is not None and state.depth.write:
        new_depth = np.where(passed, depth, old_depth)
        written |= passed
    return Tested(passed, written, stencil << _EIGHT | new_depth)
