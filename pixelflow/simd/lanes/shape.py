"""The shape of a group of lanes: how many, how much memory each has, which registers and flags."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Shape"]


@dataclass(frozen=True, slots=True)
class Shape:
    """What an engine must hold.

    ``lanes`` is a multiple of ``group``, the reach of `route`. ``carries`` are flags that mostly enter additions,
    ``masks`` flags that mostly gate writes; an engine may represent the two kinds differently.
    """

    lanes: int
    group: int
    rows: int
    words: tuple[str, ...]
    carries: tuple[str, ...]
    masks: tuple[str, ...]
    bits: int = 8
    """Size of a word: of each register, and of each row of lane memory."""

    def __post_init__(self) -> None:
        if self.lanes <= 0 or self.group <= 0 or self.lanes % self.group:
            raise ValueError(f"{self.lanes} lanes are not a whole number of groups of {self.group}")
        if self.bits not in (8, 32):
            raise ValueError(f"no engine serves words of {self.bits} bits: 8 or 32")
        names = (*self.words, *self.carries, *self.masks)
        if len(set(names)) != len(names):
            raise ValueError("two registers or flags have the same name")
