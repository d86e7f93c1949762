"""The TASICs' address generator: a counter, and a crossbar that picks a counter bit for each address bit (2.2.7)."""

from __future__ import annotations

from dataclasses import dataclass, field

from pixelflow.isa.tas import ADDRESS_BITS, COUNTER_BITS

__all__ = ["AddressGenerator"]


@dataclass
class AddressGenerator:
    """The registers of the generator, the same in all modules. All bits start as 0."""

    counter: int = 0
    step: int = 0
    """What the counter grows by after each round of a transfer."""
    crossbar: list[int | None] = field(default_factory=lambda: [None] * ADDRESS_BITS)
    """For each address bit, the counter bit that it takes; None is 0."""

    def connect(self, bit: int, source: int | None) -> None:
        """Let address bit ``bit`` take counter bit ``source``, or 0."""
        self.crossbar[bit] = source

    def advance(self, delta: int) -> None:
        """Add to the counter, modulo 2^16."""
        self.counter = (self.counter + delta) % (1 << COUNTER_BITS)

    def address(self, rounds_ahead: int = 0) -> int:
        """Return the address for the counter as it will be after ``rounds_ahead`` more rounds."""
        counter = self.counter + rounds_ahead * self.step
        return sum(1 << bit for bit, source in enumerate(self.crossbar) if source is not None and counter >> source & 1)
