"""Is a dataclass whose methods are written late the standard one to everybody who uses it?"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from pixelflow.simd import dataclass as late

DECORATORS = {"standard": dataclasses.dataclass, "late": late.dataclass}


def _classes(dataclass: Any) -> dict[str, type]:
    """Return one class of each kind, decorated."""

    @dataclass(frozen=True, slots=True)
    class Point:
        """Two numbers, the second with a default; what is made of them is not compared."""

        unit: ClassVar[str] = "px"
        x: int
        y: int = 2
        more: list[int] = dataclasses.field(default_factory=list, compare=False)
        name: str = dataclasses.field(default="p", repr=False, kw_only=True)

    @dataclass(frozen=True)
    class Checked:
        """A number that a check changes."""

        x: int
        twice: int = dataclasses.field(init=False, hash=False)
        kept: list[int] = dataclasses.field(init=False, default_factory=list, hash=False)
        three: int = dataclasses.field(init=False, default=3)

        def __post_init__(self) -> None:
            object.__setattr__(self, "twice", 2 * self.x)

    @dataclass(frozen=True)
    class Derived(Checked):
        """A frozen class of a frozen one, with a text of its own."""

        z: int = dataclasses.field(default=0, kw_only=True)

        def __repr__(self) -> str:
            return "derived"

    @dataclass(slots=True)
    class Open:
        """A class with fields to set, and so without a hash."""

        x: Any = 0

    @dataclass(slots=True, eq=False)
    class Itself:
        """A class that is equal to itself alone."""

        x: int = 0

    @dataclass(frozen=True, kw_only=True)
    class Own:
        """A class with a comparison of its own, and the hash of its fields."""

        x: int = 0

        def __eq__(self, other: object) -> bool:
            return True

    @dataclass(frozen=True)
    class Hashed:
        """A class with a hash of its own."""

        x: int = 0

        def __hash__(self) -> int:
            return 7

    @dataclass
    class Empty:
        """No fields."""

    return {each.__name__: each for each in (Point, Checked, Derived, Open, Itself, Own, Hashed, Empty)}


CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Point", (1,), {}), ("Point", (1, 3, [4]), {"name": "q"}), ("Point", (), {}), ("Point", (1, 2, [], "q"), {}),
    ("Checked", (5,), {}), ("Checked", (5, 6), {}), ("Derived", (5,), {"z": 6}), ("Derived", (5, 6), {}),
    ("Open", ([1],), {}), ("Itself", (), {}), ("Own", (), {"x": 3}), ("Own", (3,), {}), ("Hashed", (1,), {}),
    ("Empty", (), {}), ("Empty", (1,), {}),
]  # fmt: skip

ASKED: dict[str, Callable[[Any], object]] = {
    "repr": repr,
    "hash": lambda made: hash(made) if type(made).__hash__ is not object.__hash__ else "its place",
    "equal to a copy": lambda made: made == copy.copy(made),
    "equal to another": lambda made: made == dataclasses.replace(made, x=99),
    "equal to its fields": lambda made: made == dataclasses.astuple(made),
    "fields": lambda made: [(each.name, each.init, each.compare) for each in dataclasses.fields(made)],
    "as a dict": dataclasses.asdict,
    "signature": lambda made: [(each.name, each.kind) for each in inspect.signature(type(made)).parameters.values()],
    "set": lambda made: setattr(made, "x", 3),
    "deleted": lambda made: delattr(made, "x"),
    "matched": lambda made: type(made).__match_args__,
}


def _answer(classes: dict[str, type], call: tuple[str, tuple[Any, ...], dict[str, Any]], ask: str) -> object:
    name, given, named = call
    try:
        return ASKED[ask](classes[name](*given, **named))
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("ask", ASKED)
def test_a_late_class_answers_as_the_standard_one(ask: str) -> None:
    for call in CALLS:
        answers = {kind: _answer(_classes(decorator), call, ask) for kind, decorator in DECORATORS.items()}
        assert answers["late"] == answers["standard"], call


@late.dataclass(frozen=True, slots=True)
class Kept:
    """A class that a pickle finds by its name."""

    x: int
    inside: Any = None


def test_pickles_and_deep_copies_of_a_late_class() -> None:
    made = Kept(1, [Kept(2)])
    for other in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert other == made and other.inside is not made.inside
    made.inside.append(made)
    assert repr(made) == "Kept(x=1, inside=[Kept(x=2, inside=None), ...])"


def test_bases_are_frozen_together() -> None:
    for dataclass in DECORATORS.values():
        with pytest.raises(TypeError, match="cannot inherit"):
            dataclass(frozen=False)(type("Open", (_classes(late.dataclass)["Checked"],), {}))
        with pytest.raises(TypeError, match="cannot inherit"):
            dataclass(frozen=True)(type("Frozen", (_classes(late.dataclass)["Open"],), {}))
