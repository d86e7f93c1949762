"""Is a record, to those who use it, the frozen dataclass with slots that it stands for?"""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from typing import get_type_hints

import pytest

from pixelflow.simd.records import record


def _classes(decorate):
    """Return the same classes made by one decorator or the other."""

    @decorate()
    class Point:
        """A place."""

        x: int
        y: int = 2
        names: list = field(default_factory=list, compare=False)
        seen: int = field(default=7, repr=False)
        sum: int = field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "sum", self.x + self.y)

    @decorate(kw_only=True)
    class Named:
        first: int
        second: int = 1

    @decorate(eq=False)
    class Single:
        only: tuple

    @decorate()
    class Empty:
        pass

    @decorate()
    class Own:
        number: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, type(self)) and abs(self.number) == abs(other.number)

        def __repr__(self) -> str:
            return "own"

    @decorate()
    class Hashed:
        number: int

        def __hash__(self) -> int:
            return 5

    return Point, Named, Single, Empty, Own, Hashed


def _standard(**how):
    return dataclass(frozen=True, slots=True, **how)


RECORDS, STANDARD = _classes(record), _classes(_standard)
ARGUMENTS = (((1,), {}), ((), {"first": 3}), (((1, 2),), {}), ((), {}), ((-4,), {}), ((6,), {}))
PAIRS = list(zip(RECORDS, STANDARD, ARGUMENTS, strict=True))
NAMES = [made.__name__ for made in RECORDS]


@record
class Kept:
    """One that can be found by its name, as pickle wants it."""

    a: int
    b: str = "b"


@record
class Deeper(Kept):
    """One that derives from another."""

    c: int = 3


@record
class Typed:
    """One with annotations that must be looked up."""

    place: Kept
    names: list[str] = field(default_factory=list)


@pytest.mark.parametrize(("made", "standard", "arguments"), PAIRS, ids=NAMES)
def test_it_looks_like_the_standard_one(made, standard, arguments) -> None:
    values, named = arguments
    ours, theirs = made(*values, **named), standard(*values, **named)
    assert repr(ours) == repr(theirs)
    assert [each.name for each in fields(ours)] == [each.name for each in fields(theirs)]
    assert asdict(ours) == asdict(theirs)
    assert made.__match_args__ == standard.__match_args__
    assert made.__slots__ == standard.__slots__
    taken = [list(inspect.signature(each).parameters.items()) for each in (made, standard)]
    assert [name for name, _ in taken[0]] == [name for name, _ in taken[1]]
    assert [each.kind for _, each in taken[0]] == [each.kind for _, each in taken[1]]
    assert [repr(each.default) for _, each in taken[0]] == [repr(each.default) for _, each in taken[1]]
    assert not hasattr(ours, "__dict__")


@pytest.mark.parametrize(("made", "standard", "arguments"), PAIRS, ids=NAMES)
def test_it_compares_and_hashes_like_the_standard_one(made, standard, arguments) -> None:
    values, named = arguments
    (a, b), (c, d) = ((each(*values, **named), each(*values, **named)) for each in (made, standard))
    assert (a == b) == (c == d)
    assert (hash(a) == hash(b)) == (hash(c) == hash(d))
    assert (a != c) and (c != a)
    assert a in {a} and len({a, b}) == len({c, d})


def test_fields_that_are_not_compared_make_no_difference() -> None:
    for point in (RECORDS[0], STANDARD[0]):
        assert point(1, names=[1]) == point(1, names=[2]) and hash(point(1)) == hash(point(1, names=[3]))
        assert point(1) != point(1, 3) and point(1) != (1, 2)


def test_annotations_are_found_where_the_class_is() -> None:
    """What reads types at run time asks the constructor for them, in the names of the module."""
    assert get_type_hints(Typed.__init__) == {"place": Kept, "names": list[str], "return": type(None)}
    assert get_type_hints(Typed) == {"place": Kept, "names": list[str]}


def test_type_checkers_know_what_field_means() -> None:
    assert field in record.__dataclass_transform__["field_specifiers"]


def test_nothing_can_be_assigned_or_deleted() -> None:
    for made in (RECORDS[0], STANDARD[0]):
        point = made(1)
        for name in ("x", "sum"):
            with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
                setattr(point, name, 1)
        with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
            del point.x
    with pytest.raises(FrozenInstanceError):  # of the standard one it is a TypeError that names super()
        RECORDS[0](1).other = 1


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        RECORDS[0]()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        RECORDS[0](1, z=2)
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        RECORDS[1](1)


def test_a_default_that_is_made_anew_is_not_shared() -> None:
    assert RECORDS[0](1).names is not RECORDS[0](1).names


def test_replace_copy_and_pickle() -> None:
    one = Deeper(1, "x", 5)
    assert replace(one, b="y") == Deeper(1, "y", 5)
    assert copy.copy(one) == copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
    match one:
        case Deeper(a, b, c):
            assert (a, b, c) == (1, "x", 5)


def test_one_that_derives_from_another_has_the_fields_of_both() -> None:
    assert Deeper(1) != Kept(1) and isinstance(Deeper(1), Kept)
    assert repr(Deeper(1)) == "Deeper(a=1, b='b', c=3)"
    with pytest.raises(FrozenInstanceError):
        Deeper(1).a = 2


@pytest.mark.parametrize("decorate", [record, dataclass(frozen=True), dataclass(frozen=True, slots=True)])
def test_frozen_classes_of_the_standard_library_derive_from_it(decorate) -> None:
    @decorate
    class Event(Kept):
        d: int = 4

    one = Event(1, d=6)
    assert one == Event(1, "b", 6) != Event(1) and hash(one) == hash(Event(1, d=6))
    assert replace(one, a=2) == Event(2, d=6) and copy.deepcopy(one) == one
    for name in ("a", "d"):
        with pytest.raises(FrozenInstanceError):
            setattr(one, name, 1)


def test_it_says_of_itself_what_the_standard_one_says() -> None:
    with pytest.raises(TypeError, match="cannot inherit non-frozen dataclass from a frozen one"):
        dataclass(type("Loose", (Kept,), {"__annotations__": {"d": int}}))
    names = ("init", "repr", "eq", "frozen")
    for made, standard in zip(RECORDS, STANDARD, strict=True):
        said = [[getattr(each.__dataclass_params__, name) for name in names] for each in (made, standard)]
        assert said[0] == said[1]


def test_an_object_that_holds_itself_can_be_shown() -> None:
    inside: list = []
    one = Kept(inside)
    inside.append(one)
    assert repr(one) == "Kept(a=[...], b='b')"
