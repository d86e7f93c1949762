"""Bench: what measures are made on, which keeps what was measured for as long as it lives."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeVar, cast

from pixelflow.simd.report import Json

__all__ = ["Bench", "NotMeasured", "Remark"]

_Kept = TypeVar("_Kept")


class NotMeasured(Exception):
    """A measure that cannot be made on this bench; its text says why."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What a report says of everything that was executed on a bench."""

    key: str
    """In JSON."""
    text: str = ""
    data: Json = None


class Bench:
    """Whatever measures share, each measured once; nothing outlives the bench."""

    def __init__(self) -> None:
        self.progress: Callable[[str], None] = lambda text: None
        """Told of what takes a while before it begins."""
        self.timing_only = False
        """Whether measures leave out the results that they would compute besides."""
        self.executed: dict[Hashable, object] = {}
        """What `remarks` are about, by what tells one execution from all others; that of other benches can be added."""
        self._kept: dict[Hashable, object] = {}

    def remarks(self) -> tuple[Remark, ...]:
        """Return what is to be said of all that was executed so far (`executed`), each once."""
        return ()

    def once(self, key: Hashable, compute: Callable[[], _Kept], text: str = "") -> _Kept:
        """Return what ``compute`` gives, computed once on this bench; ``text`` tells the progress of it."""
        if key not in self._kept:
            if text:
                self.progress(text)
            self._kept[key] = compute()
        return cast("_Kept", self._kept[key])
