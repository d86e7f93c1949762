"""A run while it goes on, for those who watch it from outside, or want to stop it: signals, threads, notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from pixelflow.node.run.streams.stream import Stream
from pixelflow.simd.units import Cycle

__all__ = ["Running"]


@dataclass(frozen=True, slots=True)
class Running:
    """The streams of a run, which may be read at any moment; what they say is then a moment old."""

    streams: tuple[Stream, ...]

    @classmethod
    def of(cls, streams: Iterable[Stream]) -> Running:
        """Return what goes on in these streams."""
        return cls(tuple(streams))

    @property
    def cycle(self) -> Cycle:
        """The last cycle that a stream has come to."""
        return max(stream.cycle for stream in self.streams)

    @property
    def places(self) -> str:
        """Where the streams stand: ``prog.mc:12``, or ``prog.mc:12 (EIGC), prog.mc:40 (TIGC)``."""
        if len(self.streams) == 1:
            return self.streams[0].place
        return ", ".join(f"{stream.place} ({stream.name.upper()})" for stream in self.streams)

    counted: ClassVar[str] = "cycle"

    @property
    def interrupted(self) -> bool:
        """Whether somebody has asked the run to end."""
        return any(stream.interrupted for stream in self.streams)

    def __str__(self) -> str:
        return f"cycle {self.cycle:,}, {self.places}"

    def interrupt(self) -> None:
        """Have the run end with KeyboardInterrupt before its next instruction, so that what it leaves is whole."""
        for stream in self.streams:
            stream.interrupted = True
