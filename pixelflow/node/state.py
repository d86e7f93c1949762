"""State of a node as users see it: PE array, texture memory, GP memory and TASICs, read, written and saved."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from typing import TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pixelflow.config import THESIS, NodeConfig
from pixelflow.isa import Program
from pixelflow.isa.declarations import CARRIES, MASKS, WORDS
from pixelflow.node.lee import LinearExpressionEvaluator
from pixelflow.node.named_ranges import Numbers, bytes_of, find_range, numbers_of
from pixelflow.node.pe_array import PeArray, hashes_of, loaded_rows
from pixelflow.node.pe_map import MapView, PeMap
from pixelflow.node.texture_memory import GpMemory, TextureMemory
from pixelflow.node.texture_unit import TextureUnit
from pixelflow.observe import Bus, MemoryGiven
from pixelflow.simd.errors import Fault, InputError, must_be
from pixelflow.simd.lanes import AUTO
from pixelflow.simd.lanes.engine import Engine
from pixelflow.simd.report import Report, Shown
from pixelflow.simd.units import Snapshot

_Method = TypeVar("_Method", bound=Callable[..., object])
_Kind = TypeVar("_Kind", bound=np.generic)

_TAKING = threading.Lock()
"""Held for the moment in which a thread takes a node."""

_COLUMNS, _LINES = 64, 16
"""128 x 64 PEs with a Braille dot each."""


def _known(name: str, names: tuple[str, ...], what: str) -> str:
    """Return a name; raises InputError for an unknown one."""
    if name not in names:
        raise InputError(f"there is no {what} {name!r}: it is one of {', '.join(names)}")
    return name


def program_of(program: Program) -> Program:
    """Return a program; raises InputError for anything else."""
    must_be(program, Program, "a Program", "assemble(text) makes one")
    return program


def _text(name: str) -> str:
    if not isinstance(name, str):
        raise InputError(f'a range is called by its name, not by {type(name).__name__}: node["count"]')
    return name


def _of_every_pe(values: ArrayLike, lanes: int, kind: type[_Kind], what: str) -> NDArray[_Kind]:
    """Return one value for each PE, from one for each or one for all; raises InputError for another shape."""
    try:
        return np.ascontiguousarray(np.broadcast_to(np.asarray(values, kind), (lanes,)))
    except (ValueError, TypeError, OverflowError):
        shape = np.shape(values) if isinstance(values, np.ndarray) else type(values).__name__
        raise InputError(f"{what} takes {kind.__name__}[{lanes}], or one value for all PEs; found {shape}") from None


def _whole(values: ArrayLike, bits: int) -> ArrayLike:
    """Return values unchanged; raises InputError where one is not a whole number of ``bits`` bits."""
    try:
        given = np.asarray(values)
    except ValueError:  # ragged: refused by its shape
        return values
    if given.dtype.kind == "O":
        fits = all(isinstance(each, int) and 0 <= each < 1 << bits for each in given.flat)
    else:
        whole = given.dtype.kind in "bui"
        fits = whole and (given.size == 0 or (int(given.min()) >= 0 and int(given.max()) < 1 << bits))
    if not fits:
        shown = f", found {values!r}" if given.ndim == 0 else ""
        raise InputError(f"expected whole numbers from 0 to {(1 << bits) - 1}{shown[:60]}")
    return values


def _small(values: ArrayLike) -> ArrayLike:
    """Return values unchanged; raises InputError where a finite one is past the largest binary32 number."""
    try:
        given = np.asarray(values, np.float64)
    except (ValueError, TypeError, OverflowError):  # refused by its type or shape
        return values
    with np.errstate(over="ignore"):
        lost = np.isfinite(given) & ~np.isfinite(given.astype(np.float32))
    if lost.any():
        raise InputError(f"{given[lost].flat[0]:g} is past the largest float of 4 bytes, {np.finfo(np.float32).max:g}")
    return values


def by_one_thread(method: _Method) -> _Method:
    """Decorate a method of a node that reserves the node for its thread during the call."""

    @wraps(method)
    def kept(self: NodeState, *args: object, **kwargs: object) -> object:
        with self.alone():
            return method(self, *args, **kwargs)

    return cast("_Method", kept)


class NodeState(Shown):
    """The parts of a node that hold data; memory is indexed ``[byte, lane]``. One thread at a time may use them."""

    _thread: threading.Thread | None = None
    """The thread that is using the node."""

    def __init__(self, config: NodeConfig = THESIS, engine: str = AUTO) -> None:
        must_be(config, NodeConfig, "a NodeConfig", "THESIS is one, TINY a small one; load_config() reads files")
        self.config = config
        try:
            self.array = PeArray(config, engine)
        except ValueError as error:  # a name that no engine has
            raise InputError(str(error)) from None
        self.texture_memory = [TextureMemory(config.sdram) for _ in range(config.array.modules)]
        self.gp_memory = [GpMemory() for _ in range(config.gni.gp_count)]
        self.texture = TextureUnit(config, self.array.engine, self.texture_memory, self.gp_memory)
        self.program: Program | None = None
        """The last program that was loaded or run, which has the names of ranges."""
        self._with_data: set[str] = set()
        """The hashes of the programs whose data were loaded."""
        self.bus = Bus()
        """The bus for the events of runs; subscribe before a run."""

    def __repr__(self) -> str:
        return f"Node({self.config!r}, engine {self.engine})"

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Reserve the node for this thread during the block; raises InputError where another thread is using it."""
        here = threading.current_thread()
        with _TAKING:
            before = self._thread
            if before is not None and before is not here and before.is_alive():
                hint = "take a node for each thread, or let one thread wait until the other's run has ended"
                raise InputError(Fault(f"thread {before.name} is using this node, one thread at a time may", hint=hint))
            self._thread = here
        try:
            yield
        finally:
            self._thread = before

    def report(self) -> Report:
        """Return the state of the array, with the machine in the title."""
        title = f"node of {self.lanes:,} PEs at {self.config.clock_mhz} MHz, config {self.config.sha256[:12]}"
        shown = self.array.report()
        drawing = _map(self.array.engine, self.array.lee)
        return replace(shown, title=title, parts=[*shown.parts, *(["", "\n".join(drawing)] if drawing else [])])

    @property
    def engine(self) -> str:
        """The name of the lane engine."""
        return self.array.engine.name

    @property
    def lanes(self) -> int:
        """PEs of the node."""
        return self.config.lanes

    # --- as a whole ----------------------------------------------------------------------------------------

    @by_one_thread
    def snapshot(self) -> Snapshot:
        """Return a copy of the state: PEs, LEE, texture and GP memory, TASICs, and the programs loaded."""
        return {
            "loaded": loaded_rows(self._with_data),
            "array": self.array.snapshot(),
            "texture_memory": [memory.snapshot() for memory in self.texture_memory],
            "gp_memory": [memory.snapshot() for memory in self.gp_memory],
            "texture": self.texture.snapshot(),
        }

    @by_one_thread
    def restore(self, state: Snapshot) -> None:
        """Put the node into the state of a snapshot of this or another node of the same configuration."""
        self.array.restore(state["array"])
        for memory, pages in zip(self.texture_memory, state["texture_memory"], strict=True):
            memory.restore(pages)
        for gp_memory, used in zip(self.gp_memory, state["gp_memory"], strict=True):
            gp_memory.restore(used)
        self.texture.restore(state["texture"])
        self._with_data = hashes_of(state["loaded"])

    @by_one_thread
    def load(self, program: Program) -> None:
        """Write the program's data into PE memory, without running it; raises InputError where they leave the PE.

        A run does this first unless it was done before (`load_once`); call it to change the data before the run, or to
        reload them after it.
        """
        self.program = program_of(program)
        for block in program.data:
            size = block.lanes or len(block.values)
            if not self.config.array.holds(block.start, size):
                known = self.config.array.memory_text
                raise InputError(f"data at {block.start}: {size} bytes are outside the PE ({known})")
            if block.lanes:
                lane = np.arange(self.lanes, dtype="<u8").view(np.uint8).reshape(self.lanes, 8)
                values = lane[:, : block.lanes].T
            else:
                values = np.repeat(np.array(block.values, np.uint8)[:, None], self.lanes, axis=1)
            self.write_memory(block.start, values)
        self.note_loaded(program)

    def load_once(self, program: Program) -> None:
        """Load a program unless that was done since the node was made or reset, as every run with PE data does.

        Later changes by users, runs and other programs stay. Equal programs count as one.
        """
        self.program = program_of(program)
        if program.data and program.sha256 not in self._with_data:
            self.load(program)

    def note_loaded(self, program: Program) -> None:
        """Mark a program's data as loaded, as they are where a run of it is resumed."""
        if program.data:
            self._with_data.add(program.sha256)

    # --- by name --------------------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Numbers:
        """Return a range of the last program in every PE, in its form (`named_ranges.py` has the types).

        ``name`` is that of the range, or ``NAME:bytes``, ``NAME:word``, ``NAME:float``. The result is a read-only copy;
        ``node["count"] = values`` writes. Raises InputError for a name that the program does not have.
        """
        named, form = find_range(_text(name), self.program)
        values = numbers_of(self.read_memory(named.start, named.size), form)
        values.flags.writeable = False
        return values

    def __setitem__(self, name: str, values: ArrayLike) -> None:
        """Write a range of the last program: one value for each PE, or one for all.

        Raises InputError for another shape, and for numbers that the range cannot hold.
        """
        named, form = find_range(_text(name), self.program)
        self.write_memory(named.start, bytes_of(values, named, form, self.lanes))

    def __contains__(self, name: object) -> bool:
        """Return whether the last program has a range of this name."""
        return name in list(self)

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the last program's ranges."""
        yield from () if self.program is None else (each.name for each in self.program.ranges)

    def map(self, name: str) -> PeMap:
        """Return a picture of the array: a range by name, a byte of it (``NAME[2]``), R, S, M, enable or carry.

        Raises InputError for an unknown name, and where several PEs share a place.
        """
        return MapView.named(_text(name), self.program).drawn(self)

    # --- PEs ----------------------------------------------------------------------------------------------------

    @by_one_thread
    def reset(self) -> None:
        """Clear all PE state and enable all PEs; the LEE keeps its registers. The next run loads its data anew."""
        self.array.reset()
        self._with_data.clear()

    @property
    @by_one_thread
    def memory(self) -> NDArray[np.uint8]:
        """A copy of all PE memory: uint8[bytes, lanes]."""
        return self.array.engine.get_rows(0, self.config.array.memory_bytes)

    @by_one_thread
    def read_memory(self, start: int, size: int = 1) -> NDArray[np.uint8]:
        """Return bytes ``start`` to ``start + size - 1`` of every PE: uint8[size, lanes]."""
        self._in_pe(start, size)
        return self.array.engine.get_rows(start, size)

    @by_one_thread
    def write_memory(self, start: int, values: NDArray[np.uint8]) -> None:
        """Write bytes starting at ``start``: uint8[n, lanes]; raises InputError for another shape or range."""
        values = np.asarray(values)
        if values.ndim != 2 or values.shape[1] != self.lanes or values.dtype != np.uint8:
            raise InputError(f"PE memory must be uint8[bytes, {self.lanes}], found {values.dtype}{list(values.shape)}")
        self._in_pe(start, len(values))
        self.array.engine.set_rows(start, values)
        self.bus.emit(MemoryGiven, 0, start, len(values))

    def _in_pe(self, start: int, size: int) -> None:
        limit = self.config.array.memory_bytes
        if not isinstance(start, int | np.integer) or not isinstance(size, int | np.integer):
            raise InputError(f"addresses and sizes are whole numbers, not {start!r} and {size!r}")
        if start < 0 or size < 0 or start + size > limit:
            known = self.config.array.memory_text
            raise InputError(f"bytes {start}..{start + size - 1} are outside the PE ({known})")

    def read_word(self, address: int, size: int) -> NDArray[np.uint64]:
        """Return ``size`` bytes (1 to 8) of every PE as one number, low byte first: uint64[lanes]."""
        self._word_size(size)
        wide = np.zeros((self.lanes, 8), np.uint8)
        wide[:, :size] = self.read_memory(address, size).T
        return wide.view("<u8")[:, 0].astype(np.uint64, copy=False)

    def write_word(self, address: int, size: int, values: NDArray[np.uint64]) -> None:
        """Write one number per PE into ``size`` bytes (1 to 8), low byte first; InputError where one does not fit."""
        self._word_size(size)
        numbers = _of_every_pe(_whole(values, 8 * size), self.lanes, np.uint64, f"a word of {size} bytes")
        rows = [(numbers >> np.uint64(8 * index)).astype(np.uint8) for index in range(size)]
        self.write_memory(address, np.array(rows))

    def _word_size(self, size: int) -> None:
        if not isinstance(size, int) or not 1 <= size <= 8:
            raise InputError(f"a word has 1 to 8 bytes, not {size!r}")

    def read_float(self, address: int) -> NDArray[np.float32]:
        """Return the binary32 number at ``address`` of every PE: float32[lanes]."""
        return self.read_word(address, 4).astype(np.uint32).view(np.float32)

    def write_float(self, address: int, values: NDArray[np.float32]) -> None:
        """Write one binary32 number per PE, infinities and NaN among them; InputError for one that is too large."""
        self.write_word(address, 4, _of_every_pe(_small(values), self.lanes, np.float32, "a float").view(np.uint32))

    @by_one_thread
    def register(self, name: str) -> NDArray[np.uint8]:
        """Return register R, S or M of every PE: uint8[lanes]."""
        return self.array.engine.get_word(_known(name, WORDS, "register"))

    @by_one_thread
    def flag(self, name: str) -> NDArray[np.bool_]:
        """Return a flag of every PE (C, E, L, MR, MW, or a stack position): bool[lanes]."""
        return self.array.engine.get_bit(_known(name, (*CARRIES, *MASKS), "flag"))

    @by_one_thread
    def set_register(self, name: str, values: NDArray[np.uint8]) -> None:
        """Write register R, S or M of every PE: whole numbers from 0 to 255."""
        found = _of_every_pe(_whole(values, 8), self.lanes, np.uint8, "a register")
        self.array.engine.set_word(_known(name, WORDS, "register"), found)

    @by_one_thread
    def set_flag(self, name: str, values: NDArray[np.bool_]) -> None:
        """Write a flag of every PE."""
        found = _of_every_pe(values, self.lanes, np.bool_, "a flag")
        self.array.engine.set_bit(_known(name, (*CARRIES, *MASKS), "flag"), found)

    def coordinates(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return x and y of every PE as the LEE sees them: int64[lanes] each."""
        return self.array.lee.coordinates()

    @by_one_thread
    def digest(self) -> str:
        """Return a hash of all PE state, equal on every engine that holds the same bits."""
        return self.array.engine.digest()


def _map(engine: Engine, lee: LinearExpressionEvaluator) -> tuple[str, ...]:
    """Return a map of the enabled PEs; nothing where PEs share a place, or are too far apart."""
    from pixelflow.observe.dashboard_frame import MapState, draw

    x, y = lee.coordinates()
    width, height = int(x.max()) + 1, int(y.max()) + 1
    places = y * width + x
    if width * height > 4 * len(x) or len(np.unique(places)) < len(x):
        return ()
    plane = np.zeros(width * height, np.uint8)
    plane[places] = engine.get_bit("E")
    drawing = draw(MapState("enabled PEs", width, height, plane.tobytes(), True), _COLUMNS, _LINES)
    return () if drawing is None else tuple(line.plain for line in drawing.lines)
