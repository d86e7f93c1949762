"""Where mesh files end: before their time, where something was cut off.

Readers of such files leave out what is missing, or complain of something else. What a form of file says of its own
length is compared with what there is: counts of elements and of bytes, words that end something, and the last line,
where it has no end. A number of the last line that has lost its last digits is not noticed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pixelflow.simd.errors import Fault, Place
from pixelflow.simd.report import counted

__all__ = ["ends_early"]

_STL_HEAD = 84
_STL_TRIANGLE = 50
_GLB_HEAD = 12
_SIZES = {
    "char": "b", "int8": "b", "uchar": "B", "uint8": "B", "short": "h", "int16": "h", "ushort": "H", "uint16": "H",
    "int": "i", "int32": "i", "uint": "I", "uint32": "I", "float": "f", "float32": "f", "double": "d", "float64": "d",
}  # fmt: skip
"""Types of a PLY file, as `struct` calls them."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """What is missing, and in which line the file ends; None of one that has no lines."""

    what: str
    line: int | None = None


def ends_early(content: bytes, suffix: str, path: str) -> Fault | None:
    """Return the fault of a mesh file that has been cut off; None where it is whole, or where nothing tells.

    ``suffix`` says which form it has: ``.obj``, ``.ply``, ``.stl``, ``.off`` or ``.glb``.
    """
    found = _LOOKED[suffix](content) if content else _Cut("it is empty")
    if found is None:
        return None
    hint = "copy it again, or save it again in the program that has made it"
    return Fault(f"the file ends early: {found.what}", Place(path, found.line), hint)


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").split("\n")


def _shown(line: str) -> str:
    return repr(line.strip()[:40])


def _numbers(words: list[str]) -> bool:
    try:
        return bool([float(each) for each in words])
    except ValueError:
        return False


def _obj(content: bytes) -> _Cut | None:
    lines = _lines(content)
    words, least = lines[-1].split(), {"v": 3, "vn": 3, "vt": 1, "f": 3}
    if not words or words[0].startswith("#") or words[0] not in least:
        return None
    given = words[1:]
    whole = all(each[-1].isdigit() for each in given) if words[0] == "f" else _numbers(given)
    if len(given) >= least[words[0]] and whole:
        return None
    kind = "face" if words[0] == "f" else "vertex"
    return _Cut(f"its last line is no whole {kind}, {_shown(lines[-1])}", len(lines))


def _off(content: bytes) -> _Cut | None:
    lines = [(at, text.partition("#")[0].split()) for at, text in enumerate(_lines(content), 1)]
    lines = [(at, words) for at, words in lines if words]
    if lines and lines[0][1][0].upper().endswith("OFF"):  # alone, or before the counts
        lines[0][1].pop(0)
        lines = lines if lines[0][1] else lines[1:]
    last = len(_lines(content))
    if not lines:
        return _Cut("it has no counts of vertices and faces", last)
    counts = lines[0][1]
    if len(counts) < 2 or not all(each.isdigit() for each in counts):
        return (
            _Cut(f"{_shown(' '.join(counts))} has no counts of vertices and faces", last) if len(lines) == 1 else None
        )
    return _of_lines(lines[1:], last, {"vertices": (int(counts[0]), 3), "faces": (int(counts[1]), 0)})


def _of_lines(lines: list[tuple[int, list[str]]], last: int, wanted: Mapping[str, tuple[int, int]]) -> _Cut | None:
    """Compare lines with what they are to be: how many of each, with so many words; 0: their first one says it."""
    at = 0
    for what, (count, least) in wanted.items():
        here = lines[at : at + count]
        if len(here) < count:
            there = len(here) - (1 if here and _short(here[-1][1], least) else 0)
            return _Cut(f"{there:,} of {count:,} {what} are there", last)
        at += count
    if not lines or at < len(lines):
        return None
    what, (_, least) = [each for each in wanted.items() if each[1][0]][-1]
    line, words = lines[-1]
    if not _short(words, least):
        return None
    return _Cut(f"its last line is too short for one of the {what}, {_shown(' '.join(words))}", line)


def _short(words: list[str], least: int) -> bool:
    """Whether a line has fewer words than it is to have; where that is 0, its first one says how many follow."""
    return len(words) < (least or (1 + int(words[0]) if words[0].isdigit() else 0))


@dataclass(frozen=True, slots=True)
class _Element:
    name: str
    count: int
    properties: list[list[str]]

    @property
    def plural(self) -> str:
        return {"vertex": "vertices", "face": "faces"}.get(self.name, f"elements {self.name}")

    @property
    def listed(self) -> bool:
        """Whether its length is not the same for all."""
        return any(each[0] == "list" for each in self.properties)


def _ply(content: bytes) -> _Cut | None:
    head, mark, rest = content.partition(b"end_header")
    if not mark:
        return _Cut("the header has no end_header", len(_lines(content)))
    after = rest.find(b"\n") + 1
    if not after:
        return _Cut("nothing follows the header", len(_lines(content)))
    lines = [each.split() for each in _lines(head)]
    form = next((each[1] for each in lines if each[:1] == ["format"] and len(each) > 1), "")
    try:
        elements = list(_elements(lines))
    except (ValueError, IndexError):
        return None  # a header that is wrong, about which the reader complains
    if form == "ascii":
        ends = len(_lines(content))
        texts = [(at, text.split()) for at, text in enumerate(_lines(rest[after:]), len(_lines(head)) + 1)]
        wanted = {each.plural: (each.count, 0 if each.listed else len(each.properties)) for each in elements}
        return _of_lines([each for each in texts if each[1]], ends, wanted)
    order = {"binary_little_endian": "<", "binary_big_endian": ">"}.get(form)
    try:
        return None if order is None else _records(rest[after:], elements, order, len(content))
    except KeyError:
        return None  # a type that there is not


def _elements(lines: list[list[str]]) -> Iterator[_Element]:
    """Yield what a header declares; raises ValueError or IndexError for what is none."""
    found: list[_Element] = []
    for words in lines:
        if words[:1] == ["element"]:
            found.append(_Element(words[1], int(words[2]), []))
        elif words[:1] == ["property"]:
            found[-1].properties.append(words[1:])
    yield from found


def _records(data: bytes, elements: list[_Element], order: str, size: int) -> _Cut | None:
    """Walk over binary elements; raises KeyError for a type that there is not."""
    at = 0
    for element in elements:
        if not element.listed:
            each = sum(struct.calcsize(order + _SIZES[words[0]]) for words in element.properties)
            whole = (len(data) - at) // each if each else element.count
            if whole < element.count:
                return _binary(whole, element.count, element.plural, size)
            at += each * element.count
            continue
        steps = [
            (struct.Struct(order + _SIZES[words[1]]), struct.calcsize(order + _SIZES[words[2]]))
            if words[0] == "list"
            else (None, struct.calcsize(order + _SIZES[words[0]]))
            for words in element.properties
        ]
        for number in range(element.count):
            for length, one in steps:
                if length is None:
                    at += one
                elif at + length.size > len(data):
                    return _binary(number, element.count, element.plural, size)
                else:
                    at += length.size + one * int(length.unpack_from(data, at)[0])
            if at > len(data):
                return _binary(number, element.count, element.plural, size)
    return None


def _binary(there: int, count: int, what: str, size: int) -> _Cut:
    return _Cut(f"{there:,} of {count:,} {what} are there, in {counted(size, 'byte')}")


def _stl(content: bytes) -> _Cut | None:
    if content.lstrip()[:5].lower() == b"solid" and b"\0" not in content:
        return _stl_text(content)
    if len(content) < _STL_HEAD:
        return _Cut(f"{counted(len(content), 'byte')}, of {_STL_HEAD} before the first triangle")
    (count,) = struct.unpack_from("<I", content, _STL_HEAD - 4)
    there = (len(content) - _STL_HEAD) // _STL_TRIANGLE
    return _binary(there, count, "triangles", len(content)) if there < count else None


def _stl_text(content: bytes) -> _Cut | None:
    lines = _lines(content)
    if any(line.split()[:1] == ["endsolid"] for line in lines[-1:-6:-1]):
        return None
    if any(line.split()[:1] == ["endsolid"] for line in lines):
        return None  # what follows is not ours to judge
    last = max((at for at, line in enumerate(lines, 1) if line.strip()), default=1)
    return _Cut(f"there is no endsolid; its last line is {_shown(lines[last - 1])}", last)


def _glb(content: bytes) -> _Cut | None:
    if len(content) < _GLB_HEAD:
        return _Cut(f"{counted(len(content), 'byte')}, of {_GLB_HEAD} of the header")
    magic, _, length = struct.unpack_from("<4sII", content)
    if magic != b"glTF" or length <= len(content):
        return None
    return _Cut(f"{len(content):,} of {length:,} bytes are there")


_LOOKED: Mapping[str, Callable[[bytes], _Cut | None]] = {
    ".obj": _obj, ".ply": _ply, ".stl": _stl, ".off": _off, ".glb": _glb,
}  # fmt: skip
