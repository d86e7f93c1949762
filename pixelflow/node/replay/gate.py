"""Gate between what a run emits again and again and those who are to hear it once."""

from __future__ import annotations

from collections.abc import Callable

from pixelflow.observe import Bus, Event

__all__ = ["Gate"]


class Gate(Bus):
    """Hands on what a run emits to another bus while it is open; its own subscribers get everything."""

    def __init__(self, beyond: Bus) -> None:
        super().__init__()
        self._beyond = beyond
        self.open = True
        self.muted = False

    def wants(self, kind: type[Event]) -> bool:
        return super().wants(kind) or self._beyond.wants(kind)

    def publish(self, event: Event) -> None:
        if self.muted:
            return
        super().publish(event)
        if self.open:
            self._beyond.publish(event)

    def emit(self, kind: type[Event], *values: object) -> None:
        if super().wants(kind) or (self.open and self._beyond.wants(kind)):
            made: Callable[..., Event] = kind
            self.publish(made(*values))
