"""One frame of the dashboard of a node: overview, panels and the array; it knows only a width and a height."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, pairwise
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Group
from rich.text import Span, Text

from pixelflow.simd.dashboard import (
    MORE,
    CellField,
    FrameDrawing,
    Utilisation,
    beside,
    clean,
    count,
    cut,
    flow,
    head,
    line,
    share,
    time_text,
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


@dataclass(frozen=True, slots=True)
class DashboardState:
    """Everything that a frame shows."""

    program: str
    program_hash: str
    config: str
    config_hash: str
    engine: str
    status: str
    """``running``, ``playing``, ``paused``, ``stopped here``, or why the run ended."""
    cycle: int
    seconds: float
    """Machine time at the clock."""
    clock_mhz: int
    rate: float | None
    """Simulated cycles in a second of wall time; None in a still frame."""
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
    utilisation: Utilisation | None
    stages: tuple[StageState, ...] = ()
    part: tuple[int, int | None] | None = None
    """Number and total of the pass where a command makes several; None for an unknown total."""
    total: int | None = None
    """Cycles of the whole run, where they are known."""
    notes: tuple[str, ...] = ()


# The array as characters: 128 x 64 PEs in as much detail as fits.
#
# A flag is drawn in half blocks (one PE each), or in Braille dots of one PE or of k x k PEs, lit where any of them is
# set. A byte is drawn in ten shades of its mean, from the least value of the array to the greatest.


SHADES = " .:-=+*#%@"
"""From the least value of a byte's map to its greatest."""

_HALVES = " ▀▄█"
_BRAILLE = 0x2800
# Bit of a Braille character for each dot: [row][column].
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_FLAG_STYLE = "green"
_SOME_STYLE = "dim green"
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
    for scale, (wide, high) in zip(_scales(array.flag), sizes(array), strict=True):
        if wide <= columns and high <= lines:
            if not array.flag:
                return _shades(array, scale)
            return _braille(array, scale) if scale.dot else _halves(array)
    return None


def _rows(array: MapState, step: int) -> list[bytes]:
    """Return the rows of the plane, padded with rows of zeros to a multiple of ``step``."""
    rows = [array.cells[y * array.width : (y + 1) * array.width] for y in range(array.height)]
    return rows + [bytes(array.width)] * (-array.height % step)


def _halves(array: MapState) -> Drawing:
    rows = _rows(array, 2)
    lines = []
    for upper, lower in zip(rows[::2], rows[1::2], strict=True):
        text = "".join([_HALVES[bool(a) + 2 * bool(b)] for a, b in zip(upper, lower, strict=True)])
        lines.append(Text(text, _FLAG_STYLE, no_wrap=True))
    return Drawing(lines, "half a character: 1 PE")


def _braille(array: MapState, scale: _Scale) -> Drawing:
    dots = [_any(rows) for rows in _grouped(_rows(array, scale.high), scale.dot)]
    dots = [_any([row[first :: scale.dot] for first in range(scale.dot)]) for row in _padded(dots, 2 * scale.dot)]
    lines = []
    for four in _grouped(dots, 4):
        codes = [_BRAILLE] * (len(four[0]) // 2)
        for row, (left, right) in zip(four, _DOTS, strict=True):
            codes = [
                code + left * bool(a) + right * bool(b) for code, a, b in zip(codes, row[::2], row[1::2], strict=True)
            ]
        lines.append(Text("".join(map(chr, codes)), _FLAG_STYLE, no_wrap=True))
    return Drawing(lines, f"dot: any of {scale.dot} x {scale.dot}" if scale.dot > 1 else "dot: 1 PE")


def _grouped(rows: list[bytes], size: int) -> list[list[bytes]]:
    return [rows[at : at + size] for at in range(0, len(rows), size)]


def _padded(rows: list[bytes], step: int) -> list[bytes]:
    return [row + bytes(-len(row) % step) for row in rows]


def _any(rows: list[bytes]) -> bytes:
    """Return which bytes are not 0 in any of some rows of equal length."""
    found = 0
    for row in rows:
        found |= int.from_bytes(row, "little")
    return found.to_bytes(len(rows[0]), "little")


def _shades(array: MapState, scale: _Scale) -> Drawing:
    least, greatest = min(array.cells), max(array.cells)
    span = max(1, greatest - least)
    lines = []
    rows = [array.cells[y * array.width : (y + 1) * array.width] for y in range(array.height)]
    for group in _grouped(rows, scale.high):
        columns = [sum(column) for column in zip(*group, strict=True)]
        shades = []
        for x in range(0, array.width, scale.wide):
            part = columns[x : x + scale.wide]
            mean = sum(part) / (len(part) * len(group))
            shades.append(round((mean - least) / span * (len(SHADES) - 1)))
        spans, end = [], 0
        for shade, run in groupby(shades):
            begin, end = end, end + len(list(run))
            spans.append(Span(begin, end, _SHADE_STYLES[shade]))
        lines.append(Text("".join([SHADES[shade] for shade in shades]), spans=spans, no_wrap=True))
    mean = "1 PE" if scale.wide * scale.high == 1 else f"mean of {_pes(scale.wide, scale.high)}"
    return Drawing(lines, f"'{SHADES[0]}' to '{SHADES[-1]}', {mean}", f"{count(least)} to {count(greatest)}")


def _pes(wide: int, high: int) -> str:
    return "1 PE" if wide == high == 1 else f"{wide} x {high} PEs"


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


def part_text(number: int, total: int | None) -> str:
    """Return the number of the pass and the total, or the number of the run."""
    return f"run {count(number)}" if total is None else f"pass {count(number)} of {count(total)}"


def header(state: DashboardState, width: int, missing: Sequence[str]) -> list[Text]:
    """Return the first two lines of a frame: program, machine and progress.

    ``missing`` are the blocks for which the frame has no room.
    """
    what = [
        CellField("PixelFlow", "bold"),
        CellField(f"{state.program or '(no name)'} ({state.program_hash})", "bold"),
        CellField(f"config {state.config} ({state.config_hash})"),
        CellField(f"engine {state.engine}"),
    ]
    of = "" if state.total in (None, state.cycle) else f" of {count(state.total)}"
    progress = [] if state.part is None else [part_text(*state.part)]
    return head(what, state, width, missing, of=of, progress=progress)


# --- streams -------------------------------------------------------------------------------------------------------


def stream(state: StreamState, width: int, lines: int, stage: str = "") -> list[Text]:
    """Return the position of a stream, the source around it, and its activity."""
    fields = [CellField(state.name, f"bold {STYLES.get(state.name, 'white')}")]
    fields += [CellField(stage, "bold")] if stage else []
    fields.append(CellField(_place(state.place, width - 20 - len(stage))))
    if state.routine:
        fields.append(CellField(state.routine))
    done = [title(fields, width)]
    doing = flow(_doing(state), width, 2 if lines >= 5 else 1)[: max(0, lines - 1)]
    done += _source(state, width, lines - 1 - len(doing))
    return done + doing


def _place(place: str, width: int) -> str:
    """Return a place, without its folders where it is too long."""
    return place if cell_len(clean(place)) <= width else place.rpartition("/")[2]


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
    if state.texture_missing is not None or lines < 2:
        return []
    if equal:
        return [title(top, width), *flow([CellField(field) for field in rows[0][1]], width, lines - 1)]
    if len(rows) < lines:
        return [
            title(top, width),
            *(line([CellField(name, "bold"), *map(CellField, fields)], width) for name, fields in rows),
        ]
    together = [CellField(f"{name} {', '.join(fields)}") for name, fields in rows]
    return [title(top, width), *flow(together, width, lines - 1)]


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
        rows = [("TASICs", _tasics(state)), ("SDRAM", [*_banks(state), gni, *_gni(state)]), *rows]
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
    """Return a table of the streams: with bars and shares where they fit, else with the counts alone."""
    kinds = 4 if any(stream.open for stream in state.streams) else 3
    counts = [[count(part) for part in _parts(stream, kinds)] for stream in state.streams]
    names = [f"{character} {name}".strip() for name, character, _ in _KINDS[:kinds]]
    columns = [max([len(name), *(len(row[index]) for row in counts)]) for index, name in enumerate(names)]
    used = _LABEL + sum(columns) + 2 * kinds
    shares = [_SHARE, _SHARE, _SHARE, 0][:kinds] if used + 3 * _SHARE <= width else [0] * kinds
    used += sum(shares)
    if used > width:
        return _records(state, width, kinds)
    head = Text(" " * _LABEL, no_wrap=True)
    for name, size, after in zip(names, columns, shares, strict=True):
        head.append(f"{name:>{size}}{' ' * (after + 2)}", "dim")
    head.rstrip()
    bar = width - used if shares[0] and width - used >= _LEAST_BAR else 0
    rows = [head]
    for stream, cells in zip(state.streams, counts, strict=True):
        row = Text(no_wrap=True)
        row.append(f"{stream.name:<{_LABEL}}", f"bold {STYLES.get(stream.name, '')}")
        columns_of = zip(cells, columns, shares, _parts(stream, kinds), _KINDS, strict=False)
        for cell, size, after, part, (_, _, style) in columns_of:
            row.append(f"{cell:>{size}}", style)
            row.append(f" {share(part, state.cycle):>{after - 1}}" if after else "", "dim")
            row.append("  ")
        row.append_text(_bar(stream, state.cycle, bar))
        rows.append(row)
    return rows


def _records(state: DashboardState, width: int, kinds: int) -> list[Text]:
    """Return a line for each stream, with as many of its counts as fit."""
    rows = []
    for stream in state.streams:
        fields = [CellField(stream.name, f"bold {STYLES.get(stream.name, '')}")]
        parts = zip(_KINDS, _parts(stream, kinds), strict=False)
        fields += [CellField(f"{name} {count(part)}", style) for (name, _, style), part in parts]
        rows += flow(fields, width, 2, indent="  ")
    return rows


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


def _tasics(state: DashboardState) -> list[CellField]:
    busy = [f"{count(each.busy)} {share(each.busy, state.cycle)}" for each in state.modules]
    return [CellField("busy", "dim"), *_by_module(state.modules, busy)]


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


# One frame of the dashboard, for live and still pictures.


LEAST_WIDTH = 40
"""Below this width a frame is plain lines of text."""

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
_BETWEEN = " │ "


def drawing_of(state: DashboardState) -> FrameDrawing:
    """Return the drawing of a state for displays and pictures."""
    return FrameDrawing(state.program, partial(frame, state), partial(text_frame, state))


def frame(state: DashboardState, width: int, height: int) -> Group:
    """Return a frame of at most ``height`` lines, none of them wider than ``width`` cells.

    What does not fit is left out as a whole, and an ellipsis says so: no number is ever shown in part.
    """
    if width < LEAST_WIDTH:
        return Group(*_text_lines(state, width, height))
    lines = _wide(state, width, height) if width >= _TWO_COLUMNS else _narrow(state, width, height)
    return Group(*lines[:height])


def text_frame(state: DashboardState, width: int) -> str:
    """Return everything as plain lines, for terminals that know nothing but lines."""
    return "\n".join(text.plain.rstrip() for text in _text_lines(state, width, 10_000))


# --- two columns ---------------------------------------------------------------------------------------------------


def _wide(state: DashboardState, width: int, height: int) -> list[Text]:
    top = overview(state, width, 12)
    left = max(0, height - _HEADER - len(top))
    bottom = _bottom_lines(state, width, left)
    middle = _streams_beside(state, width, left - bottom)
    below, missing = _bottom(state, width, left - len(middle))
    return [*header(state, width, missing), *top, *middle, *below]


def _bottom_lines(state: DashboardState, width: int, lines: int) -> int:
    """Return the lines of the lower half: those of its map, as far as the streams keep theirs."""
    room = max(0, lines - _STREAM_LINES)
    fits = [min(high + 2, room) for _, high in _map_sizes(state, width) if high + 1 <= room]
    return min(room, max(fits[0] if fits else _LEAST_BOTTOM, lines * 3 // 5))


def _map_sizes(state: DashboardState, width: int) -> list[tuple[int, int]]:
    """Return the sizes of the map, the largest first, that leave room for the column on its right."""
    found = sizes(state.array) if state.array else []
    beside = [_LEAST_BESIDE_ALL] + [_LEAST_RIGHT] * len(found)
    return [size for size, least in zip(found, beside, strict=False) if size[0] + len(_BETWEEN) + least <= width]


def _streams_beside(state: DashboardState, width: int, lines: int) -> list[Text]:
    stages_now = {each.stream: each.name for each in state.stages if each.running}
    if len(state.streams) == 1:
        return [text for each in state.streams for text in stream(each, width, lines, stages_now.get(each.name, ""))]
    half = (width - len(_BETWEEN)) // 2
    left, right = (stream(each, half, lines, stages_now.get(each.name, "")) for each in state.streams[:2])
    return beside(left, right, half, max(len(left), len(right)), _BETWEEN)


def _bottom(state: DashboardState, width: int, lines: int) -> tuple[list[Text], list[str]]:
    """Return the map on the left and everything else on the right, and the names of blocks without room."""
    fits = [wide for wide, high in _map_sizes(state, width) if high + 1 <= lines]
    if not fits:
        done, missing = _stack(_blocks(state), width, lines)
        return done, [*(["map"] if state.array else []), *missing]
    map_width = max(fits[0], min(_LEAST_MAP, width - len(_BETWEEN) - _LEAST_RIGHT))
    plane = array(state.array, map_width, lines)
    blocks = _blocks(state)
    if state.stages and lines - len(plane) >= _LEAST_STAGES:
        plane += stages(state, map_width, lines - len(plane))
        blocks = [block for block in blocks if block.name != "stages"]
    done, missing = _stack(blocks, width - map_width - len(_BETWEEN), lines)
    return beside(plane, done, map_width, lines, _BETWEEN), missing


# --- one column ----------------------------------------------------------------------------------------------------


def _narrow(state: DashboardState, width: int, height: int) -> list[Text]:
    done = overview(state, width, 9)
    each = 3 if height < 28 else _STREAM_LINES
    for one in state.streams:
        done += stream(one, width, max(0, min(each, height - _HEADER - len(done))))
    blocks: list[_Block] = _blocks(state)
    if state.array is not None:
        least = 1 + max([high for _, high in sizes(state.array) if high <= _SMALL_MAP], default=_SMALL_MAP)
        blocks = [_Block("map", least, lambda w, n: array(state.array, w, n)), *blocks]
    below, missing = _stack(blocks, width, height - _HEADER - len(done))
    return [*header(state, width, missing), *done, *below]


class _Block(NamedTuple):
    """A smaller block: its name, its least lines, and the function that draws it into a width and lines."""

    name: str
    least: int
    draw: Callable[[int, int], list[Text]]
    grows: bool = False
    """True if it can use the remaining lines."""


def _blocks(state: DashboardState) -> list[_Block]:
    """Return the smaller blocks in order, without empty ones."""
    found = []
    if state.utilisation is not None:
        least = len(state.utilisation.tracks) + 1
        found.append(_Block("utilisation", least, lambda w, n: utilisation(state.utilisation, w, n, STYLES), True))
    found.append(_Block("semaphores", 2 if state.semaphores else 1, lambda w, n: semaphores(state, w, n)))
    if state.texture_missing is None:
        found.append(_Block("texture", 2, lambda w, n: texture(state, w, n)))
    if state.stages:
        found.append(_Block("stages", _LEAST_STAGES, lambda w, n: stages(state, w, n)))
    return found


def _stack(blocks: list[_Block], width: int, lines: int) -> tuple[list[Text], list[str]]:
    """Return blocks one below the other, and the names of those for which there is no room.

    Each gets its least lines; the rest goes to those that can use it in order, and last to those that grow.
    """
    kept, missing, left = [], [], lines
    for block in blocks:
        if block.least <= left:
            kept.append(block)
            left -= block.least
        else:
            missing.append(block.name)
    drawn: dict[str, list[Text]] = {}
    for block in sorted(kept, key=lambda each: each.grows):
        drawn[block.name] = made = block.draw(width, block.least + left)
        left -= max(0, len(made) - block.least)
    return [text for block in kept for text in drawn[block.name]], missing


# --- lines of text -------------------------------------------------------------------------------------------------


def _text_lines(state: DashboardState, width: int, lines: int) -> list[Text]:
    done = [
        text
        for name, fields in _text_fields(state)
        for text in flow(
            [CellField(f"{name}:"), *(CellField(cut(field, 10_000)) for field in fields)], width, 20, indent="  "
        )
    ]
    if len(done) <= lines:
        return done
    rest = len(done) - lines + 1
    return [*done[: max(0, lines - 1)], *flow([CellField(f"{MORE} {count(rest)} more lines")], width, 1)]


def _text_fields(state: DashboardState) -> list[tuple[str, list[str]]]:
    """Return the lines of a plain frame, each a name and its values."""
    found = [
        ("program", [state.program or "(no name)", state.program_hash]),
        ("config", [state.config, state.config_hash]),
        ("cycle", [count(state.cycle), f"{time_text(state.seconds)} at {count(state.clock_mhz)} MHz", state.status]),
    ]
    if state.part is not None:
        found.append(("part", [part_text(*state.part)]))
    for each in state.streams:
        parts = [f"busy {count(each.busy)}", f"wait {count(each.wait)}"]
        parts += [f"{reason}: {count(cycles)}" for reason, cycles in each.waits]
        parts += [f"idle {count(each.idle)}"] + [f"unknown {count(each.open)}"] * bool(each.open)
        found += [(each.name, parts), (f"{each.name} at", [each.place, clean(each.instruction)])]
    for module in state.modules:
        parts = [f"{count(module.enabled)} PEs enabled"]
        if state.texture_missing is None:
            parts += [f"TASICs busy {count(module.busy)}", f"{count(module.accesses)} accesses"]
            slots = f"slots for {count(module.from_emcs)} bytes from EMCs"
            parts += [slots, f"slots for {count(module.to_emcs)} bytes to EMCs"]
            parts += [f"slots for {count(module.over)} bytes from other modules"] if module.over else []
        found.append((f"module {module.module}", parts))
    found += [("GNI", [f"{path} {count(cycles)}" for path, cycles in state.gni])] if state.gni else []
    found += [(f"sem {each.number}", [f"count {count(each.count)}"]) for each in state.semaphores]
    found += [(f"stage {each.name}", [f"{count(each.cycles)} cycles"]) for each in state.stages]
    return found
