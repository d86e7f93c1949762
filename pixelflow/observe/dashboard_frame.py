"""One frame of the dashboard of a node: overview, panes and the array; it knows only a width and a height."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len
from rich.console import Group
from rich.text import Span, Text

from pixelflow.simd.dashboard import (
    BETWEEN,
    MORE,
    CellField,
    FrameState,
    Pane,
    beside,
    clean,
    count,
    cut,
    flow,
    head,
    line,
    share,
    stacked,
    title,
    utilisation,
)

# The contents of a frame, as plain values, independent of a running machine.


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A line of a program near the instruction where a stream is."""

    label: str
    """The number of the source line, or the word address where no source is known."""
    text: str
    here: bool


@dataclass(frozen=True, slots=True)
class StreamState:
    """One instruction stream at the cycle of the frame.

    ``busy + sum of waits + idle + open`` is the cycle of the frame; ``open`` are cycles that other streams have
    simulated already and this one has not.
    """

    name: str
    busy: int
    waits: tuple[tuple[str, int], ...]
    """(reason, cycles); a wait that continues is counted up to the cycle of the frame."""
    idle: int
    open: int
    halted: bool
    instruction: str
    place: str
    """File and line, or the word address."""
    routine: str
    """Empty in the main program."""
    source: tuple[SourceRow, ...]
    ahead: int
    """Cycles beyond that of the frame that this stream has executed already."""
    remaining: int | None
    """Remaining cycles of the instruction; None where that is not known."""
    waiting_for: str | None
    since: int | None
    """The cycle in which it began to wait."""
    loops: tuple[int, ...] = ()
    """Rounds that are left of the open loops of the running routine, innermost last."""

    @property
    def wait(self) -> int:
        """Cycles spent waiting, whatever for."""
        return sum(cycles for _, cycles in self.waits)


@dataclass(frozen=True, slots=True)
class ModuleState:
    """One module; None for a quantity that the run does not model or does not know."""

    module: int
    enabled: int | None
    busy: int | None
    """Cycles in which its TASICs were busy."""
    accesses: int | None
    """Accesses to each of its SDRAMs."""
    from_emcs: int | None
    """Bytes of slots from its EMCs to its TASICs, including EMCs without a PE left."""
    to_emcs: int | None
    open_rows: tuple[int | None, ...] | None = None
    """For each bank the row that is open, None in it for a closed bank."""
    over: int = 0
    """Bytes of slots from the EMCs of other modules."""


@dataclass(frozen=True, slots=True)
class SemaphoreState:
    """One semaphore that the program uses."""

    number: int
    count: int
    signalled_by: tuple[str, ...]
    taken_by: tuple[str, ...]
    waiting: str | None
    """The stream that waits for it now."""


@dataclass(frozen=True, slots=True)
class MapState:
    """One flag or byte of every PE at its place in the plane: ``cells[y * width + x]``; a flag is 0 or 1."""

    title: str
    width: int
    height: int
    cells: bytes
    flag: bool


@dataclass(frozen=True, slots=True)
class StageState:
    """A stage that a stream has begun: its MARK, and the cycles from there to the next MARK or to now."""

    stream: str
    name: str
    cycles: int
    running: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DashboardState(FrameState):
    """Everything that a frame shows."""

    program: str
    program_hash: str
    engine: str
    pes: int
    streams: tuple[StreamState, ...]
    modules: tuple[ModuleState, ...]
    texture_missing: str | None
    """Why TASICs, SDRAMs and GNI took no part in the run, None where they did."""
    banks_missing: str | None
    """Why there are no SDRAM banks to show, None where ``open_rows`` are known."""
    gni: tuple[tuple[str, int], ...]
    """(path, busy cycles) of the paths out of the GNI that were used."""
    semaphores: tuple[SemaphoreState, ...]
    array: MapState | None
    stages: tuple[StageState, ...] = ()
    part: tuple[int, int | None] | None = None
    """Number and total of the pass where a command makes several; None for an unknown total."""
    total: int | None = None
    """Cycles of the whole run, where they are known."""

    @property
    def title(self) -> str:
        """The program."""
        return self.program

    def frame(self, width: int, height: int) -> Group:
        """Return the account above, then the streams, and below them the map next to all that is smaller.

        Narrow frames have one column.
        """
        top = overview(self, width, 12 if width >= _TWO_COLUMNS else 9)
        left = max(0, height - _HEADER - len(top))
        body, missing = (_wide if width >= _TWO_COLUMNS else _narrow)(self, width, left)
        return Group(*[*header(self, width, missing), *top, *body][:height])


# The array as characters: 128 x 64 PEs in as much detail as fits.
#
# A flag is drawn in half blocks (one PE each), or in Braille dots of one PE or of k x k PEs, lit where any of them is
# set. A byte is drawn in ten shades of its mean, from the least value of the array to the greatest.


SHADES = " .:-=+*#%@"
"""From the least value of a byte's map to its greatest."""

_HALVES, _UPPER_LOWER = " ▀▄█", np.array([[1], [2]])
_BRAILLE = "".join(map(chr, range(0x2800, 0x2900)))
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
"""Bit of a Braille character for each dot: [row][column]."""
_FLAG_STYLE = "green"
_SHADE_STYLES = ("", *(f"color({color})" for color in (24, 31, 37, 43, 79, 114, 149, 184, 220)))


class Drawing(NamedTuple):
    """A drawn map: its lines, the meaning of a character, and the range of values."""

    lines: list[Text]
    legend: str
    values: str = ""


class _Scale(NamedTuple):
    """How a map is drawn: PEs along x and y in one character, PEs along each side of a Braille dot (0: no Braille)."""

    wide: int
    high: int
    dot: int


def _scales(flag: bool) -> tuple[_Scale, ...]:
    """Return the ways to draw a map, the finest first."""
    steps = (1, 2, 4, 8, 16, 32, 64)
    if flag:
        return (_Scale(1, 2, 0), *(_Scale(2 * k, 4 * k, k) for k in steps))
    return tuple(_Scale(k, 2 * k, 0) for k in steps)


def sizes(array: MapState) -> list[tuple[int, int]]:
    """Return the sizes in which a map can be drawn, in columns and lines, the largest first."""
    return [(-(-array.width // scale.wide), -(-array.height // scale.high)) for scale in _scales(array.flag)]


def draw(array: MapState, columns: int, lines: int) -> Drawing | None:
    """Draw a map as large as it fits, or return None where it does not fit at all."""
    plane = np.frombuffer(array.cells, np.uint8).reshape(array.height, array.width).astype(np.int64)
    for scale, (wide, high) in zip(_scales(array.flag), sizes(array), strict=True):
        if wide <= columns and high <= lines:
            return _flags((plane != 0).astype(np.int64), scale) if array.flag else _shades(plane, scale)
    return None


def _pooled(plane: NDArray[np.int64], high: int, wide: int, pool: np.ufunc) -> NDArray[np.int64]:
    """Return what ``pool`` makes of each block of a plane; those at its ends may be smaller."""
    rows, columns = (np.arange(0, size, step) for size, step in zip(plane.shape, (high, wide), strict=True))
    found: NDArray[np.int64] = pool.reduceat(pool.reduceat(plane, rows, axis=0), columns, axis=1)
    return found


def _flags(plane: NDArray[np.int64], scale: _Scale) -> Drawing:
    if scale.dot:
        plane, weights, characters = _pooled(plane, scale.dot, scale.dot, np.maximum), _DOTS, _BRAILLE
        legend = f"dot: any of {scale.dot} x {scale.dot}" if scale.dot > 1 else "dot: 1 PE"
    else:
        weights, characters, legend = _UPPER_LOWER, _HALVES, "half a character: 1 PE"
    high, wide = weights.shape
    whole = np.pad(plane, [(0, -size % step) for size, step in zip(plane.shape, weights.shape, strict=True)])
    blocks = whole.reshape(len(whole) // high, high, -1, wide)
    codes = np.einsum("ahbw,hw->ab", blocks, weights)
    lines = ["".join(characters[code] for code in row) for row in codes.tolist()]
    return Drawing([Text(each, _FLAG_STYLE, no_wrap=True) for each in lines], legend)


def _shades(plane: NDArray[np.int64], scale: _Scale) -> Drawing:
    least, greatest = int(plane.min()), int(plane.max())
    sums, sizes = (_pooled(each, scale.high, scale.wide, np.add) for each in (plane, np.ones_like(plane)))
    steps = np.rint((sums / sizes - least) / max(1, greatest - least) * (len(SHADES) - 1)).astype(np.int64)
    lines = []
    for shades in steps.tolist():
        spans, end = [], 0
        for shade, run in groupby(shades):
            begin, end = end, end + len(list(run))
            spans.append(Span(begin, end, _SHADE_STYLES[shade]))
        lines.append(Text("".join([SHADES[shade] for shade in shades]), spans=spans, no_wrap=True))
    mean = "1 PE" if scale.wide * scale.high == 1 else f"mean of {scale.wide} x {scale.high} PEs"
    return Drawing(lines, f"'{SHADES[0]}' to '{SHADES[-1]}', {mean}", f"{count(least)} to {count(greatest)}")


# The blocks of a frame. Each is drawn into a width and a number of lines, and never takes more.


STYLES = {
    "EIGC": "green",
    "TIGC": "magenta",
    "TASIC": "cyan",
    "GNI": "blue",
    "PEs": "green",
    "TASICs": "cyan",
    "SDRAM": "cyan",
}
"""The colour of each part of the machine; the EIGC and the PEs that it drives share one."""

_NAME = "bold"
_HERE = "▶"


def header(state: DashboardState, width: int, missing: Sequence[str]) -> list[Text]:
    """Return the first two lines of a frame: program, machine and progress.

    ``missing`` are the blocks for which the frame has no room.
    """
    what = [
        CellField("PixelFlow", "bold"),
        CellField(f"{state.program or '(no name)'} ({state.program_hash})", "bold"),
        CellField(f"engine {state.engine}"),
    ]
    of = "" if state.total in (None, state.cycle) else f" of {count(state.total)}"
    progress = []
    if state.part is not None:
        number, total = state.part
        progress = [f"run {count(number)}" if total is None else f"pass {count(number)} of {count(total)}"]
    return head(what, state, width, missing, of=of, progress=progress)


# --- streams -------------------------------------------------------------------------------------------------------


def stream(state: StreamState, width: int, lines: int, stage: str = "") -> list[Text]:
    """Return the position of a stream, the source around it, and its activity."""
    fields = [CellField(state.name, f"bold {STYLES.get(state.name, 'white')}")]
    fields += [CellField(stage, "bold")] if stage else []
    short = cell_len(clean(state.place)) <= width - 20 - len(stage)  # else it is shown without its folders
    fields.append(CellField(state.place if short else state.place.rpartition("/")[2]))
    if state.routine:
        fields.append(CellField(state.routine))
    done = [title(fields, width)]
    doing = flow(_doing(state), width, 2 if lines >= 5 else 1)[: max(0, lines - 1)]
    done += _source(state, width, lines - 1 - len(doing))
    return done + doing


def _doing(state: StreamState) -> list[CellField]:
    fields = []
    if state.halted:
        fields.append(CellField("ended", "bold"))
    elif state.waiting_for is not None:
        since = "" if state.since is None else f" since {count(state.since)}"
        fields.append(CellField(f"waits for {state.waiting_for}{since}", "bold yellow"))
    elif state.remaining is not None:
        fields.append(CellField(f"{count(state.remaining)} cycle{'s' * (state.remaining != 1)} left", "bold"))
    elif state.ahead:
        fields.append(CellField(f"next, {count(state.ahead)} cycles ahead", "bold"))
    elif state.open:
        fields.append(CellField(f"{count(state.open)} cycles behind", "bold"))
    else:
        fields.append(CellField("next", "bold"))
    fields += [CellField(f"{reason}: {count(cycles)}", "yellow") for reason, cycles in state.waits]
    if state.loops:
        fields.append(CellField(f"rounds left {', '.join(map(count, state.loops))}"))
    return fields


def _source(state: StreamState, width: int, lines: int) -> list[Text]:
    rows = state.source
    if not rows or lines < 1:
        return []
    here = next((index for index, row in enumerate(rows) if row.here), 0)
    first = max(0, min(here - (lines - 1) // 2, len(rows) - lines))
    shown = rows[first : first + lines]
    indent = min((len(row.text) - len(row.text.lstrip()) for row in shown if row.text.strip()), default=0)
    labels = max(cell_len(clean(row.label)) for row in shown)
    done = []
    for row in shown:
        left = f"{_HERE if row.here else ' '} {clean(row.label):>{labels}} "
        if cell_len(left) + 1 > width:
            done.append(Text(MORE, no_wrap=True))
            continue
        text = Text(no_wrap=True)
        text.append(left, "bold" if row.here else "dim")
        text.append(cut(row.text[indent:].rstrip(), width - cell_len(left)), "bold" if row.here else "")
        done.append(text)
    return done


# --- the array -----------------------------------------------------------------------------------------------------


def array(plane: MapState | None, width: int, lines: int) -> list[Text]:
    """Return the map of the array, with the meaning of a character in the title, or below where that is full."""
    if plane is None:
        return []
    for below in (0, 1):
        drawing = draw(plane, width, lines - 1 - below)
        if drawing is None:
            return []
        name = [CellField(f"{plane.title} {drawing.values}".strip(), _NAME)]
        legend = CellField(drawing.legend, "dim")
        top = title([*name, legend], width)
        if legend.text in top.plain:
            return [top, *drawing.lines]
        if len(drawing.lines) + 2 <= lines:
            return [title(name, width), *drawing.lines, *flow([legend], width, 1)]
    return []


# --- what the streams share ----------------------------------------------------------------------------------------


def semaphores(state: DashboardState, width: int, lines: int) -> list[Text]:
    """Return the semaphores of the program: count, signalling and taking streams, current waits."""
    name = CellField("semaphores", _NAME)
    if not state.semaphores:
        return [title([name, CellField("the program uses none", "dim")], width)]
    fields = []
    for each in state.semaphores:
        names = "→".join("+".join(names) or "none" for names in (each.signalled_by, each.taken_by))
        waits = " waits" if each.waiting else ""
        fields.append(CellField(f"{each.number}: {count(each.count)} {names}{waits}", "bold yellow" if waits else ""))
    return [title([name, CellField("number: count", "dim")], width), *flow(fields, width, lines - 1, "   ")][:lines]


def texture(state: DashboardState, width: int, lines: int) -> list[Text]:
    """Return the traffic between the EMCs and texture memory, by module."""
    rows = [(f"[{each.module}]", _traffic(each)) for each in state.modules]
    equal = len({fields for _, fields in rows}) == 1 and len(rows) > 1
    top = [CellField("texture", _NAME), CellField(f"slot bytes{', each module' * equal}", "dim")]
    fields = rows[0][1] if equal else [f"{name} {', '.join(fields)}" for name, fields in rows]
    return [title(top, width), *flow(map(CellField, fields), width, lines - 1)]


def _traffic(each: ModuleState) -> tuple[str, ...]:
    return (
        f"from {count(each.from_emcs)}",
        f"to {count(each.to_emcs)}",
        f"accesses {count(each.accesses)}",
        *((f"over {count(each.over)}",) if each.over else ()),
    )


def stages(state: DashboardState, width: int, lines: int) -> list[Text]:
    """Return the stages that have begun; where there are too many, the last ones."""
    if not state.stages:
        return []
    shown: Sequence[StageState] = state.stages
    top = [CellField("stages", _NAME)]
    if len(shown) >= lines:
        shown = shown[len(shown) - lines + 1 :]
        top.append(CellField(f"{MORE} {count(len(state.stages) - len(shown))} before these"))
    counts = max(len(count(each.cycles)) for each in shown)
    several = len({each.stream for each in state.stages}) > 1
    rows = []
    for each in shown:
        name = f"{each.name} ({each.stream})" if several else each.name
        mark = _HERE if each.running else " "
        fields = [
            CellField(f"{mark} {count(each.cycles):>{counts}}"),
            CellField(f"{share(each.cycles, state.cycle):>7}", "dim"),
        ]
        row = line(fields, width)
        room = width - cell_len(row.plain) - 2
        if MORE not in row.plain and room > 0:
            row.append(f"  {cut(name, room)}", "bold" if each.running else "")
        rows.append(row)
    return [title(top, width), *rows][:lines]


# The first block of a frame: the use of time by every part of the machine.


_KINDS = (("busy", "█", ""), ("wait", "▒", "yellow"), ("idle", "·", "dim"), ("unknown", " ", "dim"))
"""The parts of a stream's time: heading, character of the bar, style (busy: that of the stream)."""

_SHARE = 8

_LABEL = 8
_LEAST_BAR = 10


def overview(state: DashboardState, width: int, lines: int) -> list[Text]:
    """Return the account of the streams, and the busy cycles of TASICs, SDRAM banks and GNI, and the enabled PEs."""
    rows = [("PEs", _enabled(state))]
    if state.texture_missing is None:
        gni = CellField("GNI", f"bold {STYLES['GNI']}")
        busy = [f"{count(each.busy)} {share(each.busy, state.cycle)}" for each in state.modules]
        tasics = [CellField("busy", "dim"), *_by_module(state.modules, busy)]
        rows = [("TASICs", tasics), ("SDRAM", [*_banks(state), gni, *_gni(state)]), *rows]
    else:
        rows.append(("TASICs, SDRAM banks, GNI", [CellField(f"– {state.texture_missing}", "dim")]))
    done = _streams(state, width)
    for index, (label, fields) in enumerate(rows):
        name = CellField(f"{label:<{_LABEL - 2}}", f"bold {STYLES.get(label, '')}")
        spare = lines - len(done) - len(rows) + index + 1
        done += flow([name, *fields], width, max(1, min(2, spare)), indent=" " * _LABEL)
    return done[:lines]


# --- streams -------------------------------------------------------------------------------------------------------


def _parts(stream: StreamState, kinds: int) -> tuple[int, ...]:
    return (stream.busy, stream.wait, stream.idle, stream.open)[:kinds]


def _streams(state: DashboardState, width: int) -> list[Text]:
    """Return a table of the streams, with bars where they fit; where it does not fit itself, its fields."""
    kinds = _KINDS[: 4 if any(stream.open for stream in state.streams) else 3]
    names = [f"{character} {name}".strip() for name, character, _ in kinds]
    rows = [[count(part) for part in _parts(stream, len(kinds))] for stream in state.streams]
    columns = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    shares = (_SHARE, _SHARE, _SHARE, 0)[: len(kinds)]
    used = _LABEL + sum(columns) + sum(shares) + 2 * len(kinds)
    labels = [CellField(f"{each.name:<{_LABEL - 2}}", f"bold {STYLES.get(each.name, '')}") for each in state.streams]
    if used > width:
        fields = [
            [CellField(f"{name} {cell}", style) for (name, _, style), cell in zip(kinds, row, strict=True)]
            for row in rows
        ]
        return [text for label, row in zip(labels, fields, strict=True) for text in flow([label, *row], width, 2)]
    top = "".join(
        f"{name:>{size}}{' ' * (after + 2)}" for name, size, after in zip(names, columns, shares, strict=True)
    )
    done = [Text.assemble(" " * _LABEL, (top.rstrip(), "dim"), no_wrap=True)]
    bar = width - used if width - used >= _LEAST_BAR else 0
    for stream, label, row in zip(state.streams, labels, rows, strict=True):
        text = Text.assemble(label, "  ", no_wrap=True)
        parts = zip(row, columns, shares, _parts(stream, len(kinds)), kinds, strict=True)
        for cell, size, after, part, (_, _, style) in parts:
            text.append(f"{cell:>{size}}", style)
            text.append(f"{share(part, state.cycle):>{after}}" * bool(after) + "  ", "dim")
        done.append(text.append_text(_bar(stream, state.cycle, bar)))
    return done


def _bar(stream: StreamState, cycles: int, width: int) -> Text:
    """Return the parts of a stream's time as a bar; rounding moves the borders, never the length."""
    bar = Text(no_wrap=True)
    edges, sum_ = [0], 0
    for part in _parts(stream, len(_KINDS)):
        sum_ += part
        edges.append(round(width * sum_ / cycles) if cycles else 0)
    for (begin, end), (_, character, style) in zip(pairwise(edges), _KINDS, strict=True):
        bar.append(character * (end - begin), style or STYLES.get(stream.name, ""))
    return bar


# --- one line each -------------------------------------------------------------------------------------------------


def _by_module(modules: Sequence[ModuleState], texts: Sequence[str]) -> list[CellField]:
    """Return a text for each module, or one where all are the same."""
    if len(set(texts)) == 1 and len(texts) > 1:
        return [CellField(f"{texts[0]} in each module")]
    return [CellField(f"[{each.module}] {text}") for each, text in zip(modules, texts, strict=True)]


def _banks(state: DashboardState) -> list[CellField]:
    known = [each.open_rows for each in state.modules if each.open_rows is not None]
    if state.banks_missing is not None or len(known) < len(state.modules):
        return [CellField(f"banks – {state.banks_missing or 'not recorded'}", "dim")]
    texts = [", ".join("closed" if row is None else f"row {count(row)}" for row in rows) for rows in known]
    return [CellField("open in its banks", "dim"), *_by_module(state.modules, texts)]


def _gni(state: DashboardState) -> list[CellField]:
    if not state.gni:
        return [CellField("not used", "dim")]
    return [
        CellField("busy", "dim"),
        *(CellField(f"{path} {count(cycles)} {share(cycles, state.cycle)}") for path, cycles in state.gni),
    ]


def _enabled(state: DashboardState) -> list[CellField]:
    enabled = [each.enabled for each in state.modules if each.enabled is not None]
    if len(enabled) < len(state.modules):
        return [CellField("– a run without PE data", "dim")]
    total = CellField(f"{count(sum(enabled))} of {count(state.pes)} enabled")
    return [total, *_by_module(state.modules, [count(each) for each in enabled])]


# Layout of a frame.


_TWO_COLUMNS = 80
_HEADER = 2
_STREAM_LINES = 6
_LEAST_BOTTOM = 10
_LEAST_MAP = 35
_SMALL_MAP = 4
_LEAST_STAGES = 4
_LEAST_RIGHT = 40
_LEAST_BESIDE_ALL = 28
"""Columns next to a map with one PE in each character, which is worth a narrow column."""


def _wide(state: DashboardState, width: int, lines: int) -> tuple[list[Text], list[str]]:
    """Return the streams side by side above, the map and stages next to the rest below; what has no room by name."""
    room = max(0, lines - _STREAM_LINES)
    maps = sizes(state.array) if state.array else []
    beside_it = [_LEAST_BESIDE_ALL] + [_LEAST_RIGHT] * len(maps)
    maps = [size for size, least in zip(maps, beside_it, strict=False) if size[0] + len(BETWEEN) + least <= width]
    most = next((high + 2 for _, high in maps if high + 1 <= room), _LEAST_BOTTOM)
    middle = _streams_beside(state, width, lines - min(room, max(most, lines * 3 // 5)))
    rest = lines - len(middle)
    panes = _panes(state)
    fits = next((wide for wide, high in maps if high + 1 <= rest), None)
    if fits is None:
        below, missing = stacked(panes, width, rest)
        return [*middle, *below], ["map"] * (state.array is not None) + missing
    across = max(fits, min(_LEAST_MAP, width - len(BETWEEN) - _LEAST_RIGHT))
    plane = array(state.array, across, rest)
    if state.stages and rest - len(plane) >= _LEAST_STAGES:
        plane += stages(state, across, rest - len(plane))
        panes = [pane for pane in panes if pane.name != "stages"]
    below, missing = stacked(panes, width - across - len(BETWEEN), rest)
    return [*middle, *beside(plane, below, across, rest)], missing


def _streams_beside(state: DashboardState, width: int, lines: int) -> list[Text]:
    now = {each.stream: each.name for each in state.stages if each.running}
    each = (width - len(BETWEEN)) // 2 if len(state.streams) > 1 else width
    left, *right = (stream(one, each, lines, now.get(one.name, "")) for one in state.streams[:2])
    return beside(left, right[0], each, max(len(left), len(right[0]))) if right else left


def _narrow(state: DashboardState, width: int, lines: int) -> tuple[list[Text], list[str]]:
    most = 3 if lines < 20 else _STREAM_LINES
    done: list[Text] = []
    for one in state.streams:
        done += stream(one, width, max(0, min(most, lines - len(done))))
    panes = _panes(state)
    if state.array is not None:
        least = 1 + max([high for _, high in sizes(state.array) if high <= _SMALL_MAP], default=_SMALL_MAP)
        panes = [Pane("map", partial(array, state.array), least), *panes]
    below, missing = stacked(panes, width, lines - len(done))
    return [*done, *below], missing


def _panes(state: DashboardState) -> list[Pane]:
    """Return the smaller blocks in order, without empty ones."""
    found = []
    if state.utilisation is not None:
        over_time = partial(utilisation, state.utilisation, styles=STYLES)
        found.append(Pane("utilisation", over_time, len(state.utilisation.tracks) + 1, grows=True))
    found.append(Pane("semaphores", partial(semaphores, state), 2 if state.semaphores else 1))
    if state.texture_missing is None:
        found.append(Pane("texture", partial(texture, state), 2))
    if state.stages:
        found.append(Pane("stages", partial(stages, state), _LEAST_STAGES))
    return found
