"""The bus between a run and those who watch it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pixelflow.simd.observe.events import Event

__all__ = ["Bus", "Listener"]

Listener = Callable[[Event], None]
Heard = TypeVar("Heard", bound=Event)


class Bus:
    """Hands events to their listeners, in the order of subscription.

    Listeners subscribe before a run begins: what a run asks at its beginning (`wants`) holds to its end.
    """

    def __init__(self) -> None:
        self._listeners: dict[type[Event], list[Callable[..., None]]] = {}

    @property
    def watched(self) -> bool:
        """Whether anybody listens to any event."""
        return bool(self._listeners)

    def wants(self, kind: type[Event]) -> bool:
        """Whether somebody listens to this kind of event."""
        return kind in self._listeners

    def subscribe(self, listener: Callable[[Heard], None], *kinds: type[Heard]) -> None:
        """Call ``listener`` for every event of these kinds."""
        for kind in kinds:
            self._listeners.setdefault(kind, []).append(listener)

    def unsubscribe(self, listener: Callable[[Heard], None]) -> None:
        """Forget a listener."""
        for kind, listeners in list(self._listeners.items()):
            kept = [each for each in listeners if each != listener]
            if kept:
                self._listeners[kind] = kept
            else:
                del self._listeners[kind]

    def publish(self, event: Event) -> None:
        """Hand an event to its listeners."""
        for listener in self._listeners.get(type(event), ()):
            listener(event)

    def tell(self, kind: type[Event], *values: object) -> None:
        """Build an event of these field values and publish it, if anybody wants its kind."""
        if kind in self._listeners:
            made: Callable[..., Event] = kind
            self.publish(made(*values))
