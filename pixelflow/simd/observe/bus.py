"""The bus between a run and those who watch it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pixelflow.simd.observe.events import Event

__all__ = ["Bus", "Subscriber"]

Subscriber = Callable[[Event], None]
Emitted = TypeVar("Emitted", bound=Event)


class Bus:
    """Hands events to their subscribers, in the order of subscription.

    Subscribers subscribe before a run begins: what a run asks at its beginning (`wants`) holds to its end.
    """

    def __init__(self) -> None:
        self._subscribers: dict[type[Event], list[Callable[..., None]]] = {}

    @property
    def watched(self) -> bool:
        """Whether anybody has subscribed to any event."""
        return bool(self._subscribers)

    def wants(self, kind: type[Event]) -> bool:
        """Whether somebody has subscribed to this kind of event."""
        return kind in self._subscribers

    def subscribe(self, subscriber: Callable[[Emitted], None], *kinds: type[Emitted]) -> None:
        """Call ``subscriber`` for every event of these kinds."""
        for kind in kinds:
            self._subscribers.setdefault(kind, []).append(subscriber)

    def unsubscribe(self, subscriber: Callable[[Emitted], None]) -> None:
        """Forget a subscriber."""
        for kind, subscribers in list(self._subscribers.items()):
            kept = [each for each in subscribers if each != subscriber]
            if kept:
                self._subscribers[kind] = kept
            else:
                del self._subscribers[kind]

    def publish(self, event: Event) -> None:
        """Hand an event to its subscribers."""
        for subscriber in self._subscribers.get(type(event), ()):
            subscriber(event)

    def emit(self, kind: type[Event], *values: object) -> None:
        """Build an event of these field values and publish it, if anybody wants its kind."""
        if kind in self._subscribers:
            made: Callable[..., Event] = kind
            self.publish(made(*values))
