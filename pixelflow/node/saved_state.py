"""Saved states: checkpoints as files, the values in them, and their stable names."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from enum import Enum
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import NodeConfig
from pixelflow.isa import Program
from pixelflow.isa.tas import Addressing
from pixelflow.node.pe_array import with_loaded
from pixelflow.node.run.semaphores import STREAMS
from pixelflow.node.run.sequencer_box import IgcState, PortState
from pixelflow.node.run.stream import BLOCKED, SIGNALLED, UNLATCH, Issue, IssueKind
from pixelflow.node.run.tasic_box import Collect, Fetch, Grant, LoadPart, LoadRequest, Parcel
from pixelflow.node.texture_unit import AddressGenerator, Moving, TextureState
from pixelflow.node.transfer import WAYS, Destination, Direction, Load, Return, Transfer, TransferCommand
from pixelflow.simd.arrays import parse_arrays
from pixelflow.simd.boxes import Sent
from pixelflow.simd.configuration import shorten
from pixelflow.simd.errors import Fault, InputError, InternalError, Place
from pixelflow.simd.files import ARRAYS, OBJECT, read_bytes, replacing
from pixelflow.simd.units import Snapshot

# Names of the classes in saved files, independent of Python files.


CLASS_OF: Mapping[str, type] = {
    "stream.Issue": Issue,
    "stream.IssueKind": IssueKind,
    "texture.Addressing": Addressing,
    "texture.AddressGenerator": AddressGenerator,
    "texture.Moving": Moving,
    "texture.State": TextureState,
    "transfer.Command": TransferCommand,
    "transfer.Destination": Destination,
    "transfer.Direction": Direction,
    "transfer.Load": Load,
    "transfer.Return": Return,
    "transfer.Transfer": Transfer,
    "ports.Collect": Collect,
    "ports.Fetch": Fetch,
    "gni.Grant": Grant,
    "gni.LoadPart": LoadPart,
    "gni.LoadRequest": LoadRequest,
    "gni.Parcel": Parcel,
    "wire.Sent": Sent,
}
"""Every class (a record or an enumeration) whose values a saved file may hold; a name is never reused."""

ADDED: Mapping[str, Mapping[str, int]] = {
    "transfer.Command": {"used": 0, "given": 0, "taken": 0},
    "transfer.Transfer": {"over": 0},
    "ports.Fetch": {"rounds": 1},
}
"""Fields missing in older files, with their values."""

NAME_OF: Mapping[type, str] = {kind: name for name, kind in CLASS_OF.items()}


# Validation of saved values, by the declared types of fields and by the form of a node's state.


def has_fields(kind: type, values: Mapping[str, object]) -> bool:
    """Return whether values are those of all fields of a class, each of its declared type."""
    hints = _hints(kind)
    return hints.keys() == values.keys() and all(_is(values[name], hint) for name, hint in hints.items())


@cache
def _hints(kind: type) -> Mapping[str, object]:
    """Return the types of the fields of a class whose values are saved."""
    return get_type_hints(kind)


def _members(record: object, kind: type) -> list[tuple[str, object]]:
    return [(name, getattr(record, name)) for name in _hints(kind)]


def _is(value: object, hint: object) -> bool:
    """Return whether a value is of a declared type; a bool is not a number."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_is(value, each) for each in inside)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and value.dtype == get_args(inside[1])[0]
    if origin is list:
        return isinstance(value, list) and all(_is(each, inside[0]) for each in value)
    if origin is dict:
        return isinstance(value, dict) and all(_is(k, inside[0]) and _is(v, inside[1]) for k, v in value.items())
    if origin is tuple:
        if not isinstance(value, tuple):
            return False
        if inside[-1] is Ellipsis:
            return all(_is(each, inside[0]) for each in value)
        return len(value) == len(inside) and all(map(_is, value, inside))
    if getattr(hint, "__supertype__", None) is int:
        hint = int
    if isinstance(hint, type) and issubclass(hint, int) and hint is not bool:
        known = not issubclass(hint, Enum) or value in {each.value for each in hint}
        return known and isinstance(value, int) and not isinstance(value, bool)
    return not isinstance(hint, type) or hint.__module__ == "typing" or isinstance(value, hint)


def is_like(found: object, like: object) -> bool:
    """Return whether a value has the form of another: types, members, lengths, and the elements of arrays.

    An array may be longer or shorter along its first axis where the other one is empty there.
    """
    if isinstance(like, np.ndarray):
        if not isinstance(found, np.ndarray) or found.dtype != like.dtype or found.ndim != like.ndim:
            return False
        return found.shape == like.shape or (not len(like) and found.shape[1:] == like.shape[1:])
    if isinstance(like, dict):
        if not isinstance(found, dict) or found.keys() != like.keys():
            return False
        return all(is_like(found[key], value) for key, value in like.items())
    if type(like) in NAME_OF and not isinstance(like, Enum):
        # Types of fields are checked on construction; here the sizes.
        return type(found) is type(like) and all(
            is_like(getattr(found, name), value)
            for name, value in _members(like, type(like))
            if isinstance(value, list | np.ndarray)
        )
    if isinstance(like, list | tuple):
        return type(found) is type(like) and len(found) == len(like) and all(map(is_like, found, like))
    return True


# State as JSON and arrays.


_BITS = 64
"""Of the longest whole number that a state holds."""


def pack(value: object, arrays: list[NDArray[np.generic]]) -> object:
    """Return a value for JSON; arrays are appended to ``arrays`` and referred to by position.

    Tuples, lists, dicts, enums and records of the node and of its boxes keep their types.
    """
    match value:
        case None | bool() | str():
            return value
        case Enum():
            return {"enum": _name_of(type(value)), "name": value.name}
        case int() | np.integer():
            return int(value)
        case np.ndarray():
            arrays.append(value)
            return {"array": len(arrays) - 1}
        case list():
            return {"list": [pack(each, arrays) for each in value]}
        case tuple() if type(value) is tuple:
            return {"tuple": [pack(each, arrays) for each in value]}
        case Counter():
            return {"counter": [[pack(key, arrays), count] for key, count in value.items()]}
        case dict():
            return {"dict": [[pack(key, arrays), pack(each, arrays)] for key, each in value.items()]}
    kind = _name_of(type(value))
    return {"class": kind, "fields": {name: pack(each, arrays) for name, each in _members(value, type(value))}}


def unpack(packed: object, arrays: Sequence[NDArray[np.generic]], names: Mapping[str, type] = CLASS_OF) -> Any:
    """Return the value that :func:`pack` was given; raises KeyError, TypeError or ValueError for anything else.

    ``names`` are the class names allowed.
    """
    if not isinstance(packed, dict):
        if isinstance(packed, list | float) or (isinstance(packed, int) and abs(packed) >> _BITS):
            raise ValueError("a state has no such numbers")
        return packed
    match packed:
        case {"array": int(position)}:
            return arrays[position]
        case {"list": list(items)}:
            return [unpack(each, arrays, names) for each in items]
        case {"tuple": list(items)}:
            return tuple(unpack(each, arrays, names) for each in items)
        case {"dict": list(items)}:
            return {unpack(key, arrays, names): unpack(each, arrays, names) for key, each in items}
        case {"counter": list(items)}:
            return Counter({unpack(key, arrays, names): int(count) for key, count in items})
        case {"enum": str(name), "name": str(member)}:
            kind = names[name]
            if not issubclass(kind, Enum):
                raise TypeError(f"{name} has no members")
            return kind[member]
        case {"class": str(name), "fields": dict(values)}:
            found = {**ADDED.get(name, {}), **{key: unpack(each, arrays, names) for key, each in values.items()}}
            if names is CLASS_OF and not has_fields(names[name], found):
                raise ValueError(f"no {name}")
            return names[name](**found)
    raise ValueError(f"no saved value: {sorted(packed)}")


def _name_of(kind: type) -> str:
    name = NAME_OF.get(kind)
    if name is None:
        raise InternalError(f"a {kind.__module__}.{kind.__name__} cannot be saved")
    return name


# Saved files of the first form, with names of Python files and of private attributes, which are still read.


_FIRST_NAMES = {
    "isa.tas:Addressing": "texture.Addressing",
    "node.address_generator:AddressGenerator": "texture.AddressGenerator",
    "node.texture_unit:_Moving": "texture.Moving",
    "node.transfer:Command": "transfer.Command",
    "node.transfer:Destination": "transfer.Destination",
    "node.transfer:Direction": "transfer.Direction",
    "node.transfer:Load": "transfer.Load",
    "node.transfer:Return": "transfer.Return",
    "node.transfer:Transfer": "transfer.Transfer",
    "node.emc_ports_box:Collect": "ports.Collect",
    "node.emc_ports_box:Fetch": "ports.Fetch",
    "node.gni_items:Grant": "gni.Grant",
    "node.gni_items:LoadPart": "gni.LoadPart",
    "node.gni_items:LoadRequest": "gni.LoadRequest",
    "node.gni_items:Parcel": "gni.Parcel",
    "sim.wire:Transfer": "wire.Sent",
}
"""The names of classes in files of the first form, without the package, and the stable names."""

CLASS_OF_FIRST = {f"pixelflow.{first}": CLASS_OF[name] for first, name in _FIRST_NAMES.items()}
"""The classes by their names in files of the first form."""

_SPECIAL = {-1: UNLATCH, -2: BLOCKED, -3: SIGNALLED}


def first_form(schema: str) -> str:
    """Return the schema of files of the first form."""
    return f"{schema.partition('/')[0]}/1"


def renewed(state: Snapshot, entry: str | None) -> Snapshot:
    """Return the state of a file of the first form in the current form; raises KeyError for anything else."""
    first = state["texture"]
    texture = TextureState(
        destinations=first["destinations"],
        act=first["_held_addresses"],
        dct=first["_held_data"],
        generator=first["generator"],
        panel_minor=first["panel_minor"],
        alternate=first["alternate"],
        transfer=first["transfer"],
        moving=first["_moving"],
        moved=first["moved"],
    )
    if "run" not in state:
        return state | {"texture": texture}
    run = state["run"]
    run = _with_one_box(run["stream"], entry or STREAMS[0], texture.moved) if "stream" in run else _with_issues(run)
    before = dict.fromkeys(WAYS, 0) | run["moved_before"]
    return state | {"texture": texture, "run": run | {"moved_before": before}}


def _with_one_box(stream: Snapshot, name: str, moved: dict[str, int]) -> Snapshot:
    """Return the state of a run of one stream, which had no boxes; an open wait is repeated."""
    box = asdict(IgcState(resume_at=None if stream["halted"] else stream["cycle"]))
    return {
        "streams": {name: stream},
        "clock": {"cycle": -1, "boxes": {name: box}, "wires": {}},
        "ports": asdict(PortState()),
        "counts": {"totals": {}, "signals": {}},
        "moved_before": moved,
    }


def _with_issues(run: Snapshot) -> Snapshot:
    """Return the state of a run of both streams, in which issues were numbers."""
    boxes = dict(run["clock"]["boxes"])
    for name in STREAMS:
        pending = boxes[name]["pending"]
        if pending is not None:
            issue = _SPECIAL.get(pending) or Issue(IssueKind.EXECUTE, pending)
            boxes[name] = boxes[name] | {"pending": issue}
    return run | {"clock": run["clock"] | {"boxes": boxes}}


# A file of saved state: a numpy `.npz` archive of plain arrays, without pickle, with a checksum.
#
# The archive holds `header` (JSON text: schema, description, and the state with its arrays referred to by position) and
# the arrays. Its zip comment is a hash of every byte before it.


DAMAGED = "is damaged: a part of it is missing or of the wrong kind"

_UNREADABLE = (*(KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError),)
"""Errors caused by contents that no run has written."""

_BROKEN = (InternalError, ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""Errors of a run that continues from an impossible state."""

HEADER_BYTES = OBJECT.limit
"""The longest header: the program of a saved run is a part of it."""

_OWN_HEADER = 1 << 10
"""Most bytes of an archive for an array in addition to its contents."""

_MARK = b"pixelflow sha256 "
_HASH = 64


def write_archive(schema: str, about: Mapping[str, object], state: object) -> bytes:
    """Return a file's contents: ``about`` is plain JSON, ``state`` a value for `pack`. The bytes are deterministic."""
    arrays: list[NDArray[np.generic]] = []
    header = {"schema": schema, **about, "state": pack(state, arrays)}
    text = np.frombuffer(json.dumps(header, separators=(",", ":")).encode(), np.uint8)
    if text.nbytes > HEADER_BYTES or sum(each.nbytes + _OWN_HEADER for each in (text, *arrays)) > ARRAYS.limit:
        raise InputError(f"the state is too large to be saved: a file holds up to {ARRAYS.shown_limit}")
    buffer = io.BytesIO()
    held: Snapshot = {"header": text, **{f"array{at}": array for at, array in enumerate(arrays)}}
    np.savez_compressed(buffer, **held)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = _MARK + bytes(_HASH)
    before = buffer.getvalue()[:-_HASH]
    return before + hashlib.sha256(before).hexdigest().encode()


def read_archive(data: bytes, schema: str, what: str, refuse: Callable[[str], InputError]) -> tuple[Snapshot, Snapshot]:
    """Return (header, state) of a file's contents; ``what`` names the kind of file.

    Raises the error that ``refuse`` returns for a reason where the file is damaged, of another kind or version.
    """
    before, stated = data[:-_HASH], data[-_HASH:]
    if not before.endswith(_MARK):
        raise refuse(f"is not a {what}, or its end is missing")
    if hashlib.sha256(before).hexdigest().encode() != stated:
        raise refuse("is damaged: its contents do not match its checksum")
    try:
        held = parse_arrays(data, refuse)
        if held["header"].nbytes > HEADER_BYTES:
            raise refuse(DAMAGED)
        header = json.loads(held["header"].tobytes())
        found = header["schema"]
        if found not in (schema, first_form(schema)):
            raise refuse(f"is of another version: schema {found!r}, expected {schema!r}")
        arrays = [held[f"array{at}"] for at in range(len(held) - 1)]
        if found == schema:
            return header, unpack(header["state"], arrays)
        return header, renewed(unpack(header["state"], arrays, CLASS_OF_FIRST), header["entry"])
    except _UNREADABLE:
        raise refuse(DAMAGED) from None


@contextmanager
def trusted(file: str) -> Iterator[None]:
    """Report errors caused by an impossible state as an InputError of the file.

    A forged state with a valid checksum may break the run at any later time.
    """
    try:
        yield
    except _BROKEN as error:
        hint = (
            f"continuing from it ends in {type(error).__name__}; if a file that was saved again does the same, "
            "it is a defect of the simulator"
        )
        raise InputError(Fault("holds a state that no run reaches", Place(file), hint)) from error


def has_kinds(found: object, kinds: Mapping[str, type | UnionType]) -> bool:
    """Return whether a JSON object has these members, each of its kind; a bool is not a number."""
    return isinstance(found, dict) and all(
        key in found and isinstance(found[key], kind) and not isinstance(found[key], bool)
        for key, kind in kinds.items()
    )


SCHEMA = "pixelflow.checkpoint/2"


def _refusal(message: str, file: str) -> InputError:
    return InputError(Fault(message, Place(file), "save it again: pixelflow run PROG --save-at CYCLE FILE"))


@dataclass(frozen=True)
class Checkpoint:
    """A run in which everything that begins before ``cycle`` is done, and nothing else."""

    program_sha256: str
    config_sha256: str
    cycle: int
    entry: str | None
    """The stream that runs alone, None where both run."""
    state: Snapshot
    file: str = field(default="the checkpoint", compare=False)
    """The file it was read from, for messages."""
    config: Mapping[str, object] = field(default_factory=dict, compare=False)
    """The values of the configuration by key, for messages; empty in older files."""

    def check(self, program: Program, config: NodeConfig) -> None:
        """Raise InputError unless this is a state of a run of ``program`` on ``config``."""
        faults = []
        for what, found, wanted in (
            ("program", self.program_sha256, program.sha256),
            ("configuration", self.config_sha256, config.sha256),
        ):
            if found != wanted:
                hint = self._difference(config) if what == "configuration" else None
                message = f"was saved with another {what}: {found[:12]}, this one is {wanted[:12]}"
                faults.append(Fault(message, Place(self.file), hint))
        if faults:
            raise InputError(faults)

    def _difference(self, config: NodeConfig) -> str | None:
        """Return a text on the first key whose value differs in ``config``, None where there is none."""
        here = config.values
        other = [key for key, value in self.config.items() if key in here and here[key] != value]
        if not other:
            return None
        first = other[0]
        more = f", and {len(other) - 1} more" if len(other) > 1 else ""
        return f"{first} is {shorten(self.config[first])} there, {shorten(here[first])} here{more}"

    def check_state(self, node: Snapshot, run: Snapshot) -> None:
        """Raise InputError unless the state has the form of a node's and a run's."""
        found = self.state.get("run")
        held = {key: value for key, value in self.state.items() if key != "run"}
        if not is_like(held, node) or not isinstance(found, dict) or found.keys() != run.keys():
            raise _refusal(DAMAGED, self.file)

    def to_bytes(self) -> bytes:
        """Return the file's contents; the same state gives the same bytes."""
        about = {
            "program_sha256": self.program_sha256,
            "config_sha256": self.config_sha256,
            "cycle": self.cycle,
            "entry": self.entry,
            "config": dict(self.config),
        }
        return write_archive(SCHEMA, about, self.state)

    @classmethod
    def from_bytes(cls, data: bytes, file: str = "the checkpoint") -> Checkpoint:
        """Return the checkpoint of a file's contents; raises InputError for a damaged one or one of another version."""

        def refuse(message: str) -> InputError:
            return _refusal(message, file)

        header, state = read_archive(data, SCHEMA, "checkpoint", refuse)
        kinds = {"program_sha256": str, "config_sha256": str, "cycle": int, "entry": str | None}
        if not isinstance(state, dict) or not has_kinds(header, kinds) or header["entry"] not in (None, *STREAMS):
            raise refuse(DAMAGED)
        config = header.get("config")
        known = config if isinstance(config, dict) else {}
        of = header["program_sha256"], header["config_sha256"]
        return cls(*of, header["cycle"], header["entry"], with_loaded(state, ()), file, known)

    def save(self, path: str | Path) -> None:
        """Write the file atomically."""
        data = self.to_bytes()
        with replacing(path) as stream:
            stream.write(data)

    @classmethod
    def load(cls, path: str | Path) -> Checkpoint:
        """Read a file; raises InputError where it cannot be read or is not a checkpoint of this version."""
        return cls.from_bytes(read_bytes(path, ARRAYS), str(path))
