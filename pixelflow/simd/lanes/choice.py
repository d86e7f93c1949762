"""Tables of engines: which one runs, the one that was asked for or the fastest that works here.

The core has a table of its own engines; a machine that has more makes its own from it (`Engines.adding`). Whatever
keeps native code from working leads to a fallback, the rows engine, and to one line that says why; except that nobody
is told about an optional package that is not installed unless they asked for what needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from pixelflow.simd.errors import InputError
from pixelflow.simd.lanes.shape import Shape

if TYPE_CHECKING:
    from pixelflow.simd.lanes.engine import Engine

__all__ = ["AUTO", "ENGINES", "TABLE", "Choice", "Engines", "Offer", "available", "choose", "make_engine"]

AUTO = "auto"
"""Asks for the fastest engine that works here: the default of library and command."""

_FASTEST, _FALLBACK = "compiled", "rows"


@dataclass(frozen=True, slots=True)
class Choice:
    """The name of an engine that works here; ``note`` says why it is not the one that was asked for.

    ``why`` is the reason alone, where one was asked for by name.
    """

    engine: str
    note: str | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """An engine that can be asked for by its name.

    ``is_native`` says that it needs native code. ``irreplaceable`` is empty where the fallback may take its place, else
    it says what is refused where there is no native code.
    """

    name: str
    make: Callable[[Shape], Engine]
    is_native: bool = False
    irreplaceable: str = ""


class Engines:
    """A table of engines."""

    def __init__(self, *offers: Offer) -> None:
        self._offers = {offer.name: offer for offer in offers}
        self.names = tuple(self._offers)

    def adding(self, *offers: Offer) -> Engines:
        """Return a table with more engines."""
        return Engines(*self._offers.values(), *offers)

    def choose(self, wanted: str = AUTO) -> Choice:
        """Return the engine to take for one of `names`, or for `AUTO`.

        Raises InputError for any other name, and where nothing may take the place of what does not work here.
        """
        if wanted != AUTO and wanted not in self._offers:
            raise InputError(f"no engine {wanted!r}; there are {', '.join(self.names)}")
        offer = self._offers[_FASTEST if wanted == AUTO else wanted]
        if not offer.is_native:
            return Choice(wanted)
        if find_spec("llvmlite") is None:
            why = "the compiled engine needs llvmlite, which the extra `fast` installs"
            if wanted == AUTO:
                return Choice(_FALLBACK)
        elif (trouble := _trouble()) is not None:
            why = f"the compiled engine does not work here ({trouble})"
        else:
            return Choice(offer.name)
        if offer.irreplaceable:
            raise InputError(f"{offer.irreplaceable}: {why}")
        asked = "" if offer.name == _FASTEST else f"engine {offer.name}: "
        reason = None if wanted == AUTO else asked + why
        return Choice(_FALLBACK, f"{asked}{why}; the {_FALLBACK} engine runs instead", reason)

    def available(self) -> tuple[str, ...]:
        """Return the names of the engines that work here."""
        native = self.choose(AUTO).engine == _FASTEST
        return tuple(name for name, offer in self._offers.items() if native or not offer.is_native)

    def make(self, name: str, shape: Shape) -> Engine:
        """Return a new engine by name, or the one that `choose` takes; raises what `choose` raises."""
        return self._offers[self.choose(name).engine].make(shape)


def _bit_serial(shape: Shape) -> Engine:
    from pixelflow.simd.lanes.bitserial import BitSerialEngine

    return BitSerialEngine(shape)


def _rows(shape: Shape) -> Engine:
    from pixelflow.simd.lanes.rows import RowsEngine

    return RowsEngine(shape)


def _compiled(shape: Shape) -> Engine:
    from pixelflow.simd.lanes.compiled import CompiledEngine

    return CompiledEngine(shape)


TABLE = Engines(
    Offer("bit-serial", _bit_serial),
    Offer(_FALLBACK, _rows),
    Offer(_FASTEST, _compiled, is_native=True),
)
"""The reference, the one that always works, and native code (needs the extra ``fast``)."""

ENGINES = TABLE.names
choose, available, make_engine = TABLE.choose, TABLE.available, TABLE.make


@cache
def _trouble() -> str | None:
    """Return what is wrong with native code on this host, in one line, or None where a trial gives the right bits."""
    try:
        from pixelflow.simd.lanes.compiled.trial import trial

        right = trial()
    except Exception as error:  # whatever LLVM, the loader or the processor find wrong
        return " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return None if right else "a trial gave wrong bits"
