"""Dashboard: a frame of boxes and queues, for live and still pictures, and the parts common to all machines' frames."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, Protocol

from rich.cells import cell_len, set_cell_size
from rich.console import Group
from rich.text import Text

from pixelflow.simd.errors import InternalError
from pixelflow.simd.report import Report

# Lines of text that fit a width without ever showing a part of a number.
#
# A line is made of fields. A field that does not fit is left out as a whole, and an ellipsis says so. All text is made
# into `rich.text.Text`, never into markup, which would swallow ``mem[p]``.


MORE = "…"
"""Stands for what did not fit."""

BETWEEN = " │ "
"""Between two columns of a frame."""

_GAP = "  "
_RULE = "─"


class CellField(NamedTuple):
    """Text that is shown as a whole or not at all, and its rich style."""

    text: str
    style: str = ""


def count(number: int | None) -> str:
    """Return a count with thousands separators, a dash for what is not known."""
    return "–" if number is None else f"{number:,}"


def share(part: int | None, whole: int) -> str:
    """Return a part in per cent, a dash for what is not known."""
    return "–" if part is None or not whole else f"{100 * part / whole:.1f} %"


def clean(text: str) -> str:
    """Return text on one line without characters that could move the cursor."""
    text = text.expandtabs(4)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def cut(text: str, width: int) -> str:
    """Return text that fits; what is cut off is marked, and a word with a digit in it is never cut."""
    text = clean(text)
    if cell_len(text) <= width:
        return text
    if width < 1:
        return ""
    kept = set_cell_size(text, width - 1).rstrip()
    while kept and not text.startswith(kept):  # half of a wide character became a space
        kept = kept[:-1]
    return kept[: _whole_words(text, len(kept))].rstrip() + MORE


def _whole_words(text: str, end: int) -> int:
    """Return the greatest length up to ``end`` that does not cut a word with a digit."""

    def inside(character: str) -> bool:
        return character.isalnum() or character in "_.,"

    first = last = end
    while first and inside(text[first - 1]):
        first -= 1
    while last < len(text) and inside(text[last]):
        last += 1
    split = first < end < last
    return first if split and any(c.isdigit() for c in text[first:last]) else end


def line(fields: Iterable[CellField], width: int, gap: str = _GAP) -> Text:
    """Return one line of as many fields as fit, in order, and an ellipsis where some did not."""
    return flow(fields, width, 1, gap)[0]


def flow(fields: Iterable[CellField], width: int, lines: int, gap: str = _GAP, indent: str = "") -> list[Text]:
    """Return fields on up to ``lines`` lines; an ellipsis ends the last one where some did not fit.

    Lines after the first start with ``indent``.
    """
    rows: list[list[CellField]] = [[]]
    used = 0
    for text, style in fields:
        field = CellField(clean(text), style)
        size = cell_len(field.text)
        if rows[-1] and used + len(gap) + size > width and len(rows) < lines:
            rows.append([])
            used = len(indent)
        used += size + len(gap) * bool(rows[-1])
        if used > width:
            room = width - len(indent) * (len(rows) > 1)
            while rows[-1] and sum(cell_len(each.text) + len(gap) for each in rows[-1]) + 1 > room:
                rows[-1].pop()
            rows[-1].append(CellField(MORE, "dim"))
            break
        rows[-1].append(field)
    joined = [Text(gap).join(Text(*field) for field in row) for row in rows]
    return [Text.assemble(indent * bool(index), row, no_wrap=True) for index, row in enumerate(joined)]


def beside(left: Sequence[Text], right: Sequence[Text], left_width: int, height: int) -> list[Text]:
    """Return two blocks of lines side by side, both ``height`` lines high."""
    rows = itertools.islice(itertools.zip_longest(left, right, [None] * height, fillvalue=Text()), height)
    return [
        Text.assemble(one, " " * max(0, left_width - one.cell_len), (BETWEEN, "dim"), other, no_wrap=True)
        for one, other, _ in rows
    ]


def time_text(seconds: float) -> str:
    """Return a machine time with a unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:,.4g} {unit}"
    return f"{seconds * 1e9:,.4g} ns"


def title(fields: Sequence[CellField], width: int) -> Text:
    """Return the line that begins a block: fields, and a rule to the end of the width."""
    text = Text(no_wrap=True)
    text.append(f"{_RULE} ", "dim")
    text.append_text(line(fields, max(0, width - 4), " · "))
    rest = width - cell_len(text.plain) - 1
    if rest > 0:
        text.append(" ")
        text.append(_RULE * rest, "dim")
    return text if cell_len(text.plain) <= width else Text(cut(text.plain, width), no_wrap=True)


# Bars over time: what share of each interval parts of a machine were busy.


LEVELS = " ▁▂▃▄▅▆▇█"
"""Bars of one character, from none to full."""


_WIDE = 40
"""Columns from which on the title has a sentence."""


@dataclass(frozen=True, slots=True)
class BusyTrack:
    """How much of each interval something was busy: 0 to 1, or None for what was not simulated."""

    name: str
    shares: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Utilisation:
    """Tracks over time, in intervals of equal length."""

    cycles: int
    """Length of an interval."""
    tracks: tuple[BusyTrack, ...]


def utilisation(
    over_time: Utilisation | None, width: int, lines: int, styles: Mapping[str, str] = MappingProxyType({})
) -> list[Text]:
    """Return bars over time, one track under the other, from the beginning of the run to the cycle of the frame.

    Bars are as high as the lines allow. ``styles`` are the colours of tracks that are not cyan.
    """
    if over_time is None or lines < 2:
        return []
    tracks = over_time.tracks[: lines - 1]
    label = max(len(track.name) for track in tracks) + 1
    size = max(1, width - label)
    step = max(1, -(-max(len(track.shares) for track in tracks) // size))
    length = step * over_time.cycles
    bar = f"{count(length)} cycle{'s' * (length != 1)}"
    said = f"a bar: {bar}" if width >= _WIDE else bar
    head = [CellField("utilisation", "bold"), CellField(said, "dim")]
    if len(tracks) < len(over_time.tracks):
        head.append(CellField(f"… {', '.join(track.name for track in over_time.tracks[len(tracks) :])}"))
    done = [title(head, width)]
    high = max(1, (lines - 1) // len(tracks))
    for track in tracks:
        rows = _bars(track, size, step, high)
        for index, row in enumerate(rows):
            text = Text(no_wrap=True)
            text.append(f"{track.name if index == high - 1 else '':<{label}}", f"bold {styles.get(track.name, '')}")
            text.append(row, styles.get(track.name, "cyan"))
            done.append(text)
    return done


def _bars(track: BusyTrack, width: int, step: int, high: int) -> list[str]:
    """Return the bars of a track as ``high`` lines of characters, the upper first."""
    levels = [_level(track.shares[at : at + step], high) for at in range(0, len(track.shares), step)]
    # Few intervals are drawn wider, so that the whole width is used.
    spread = [levels[column * len(levels) // width] for column in range(width)] if len(levels) < width else levels
    return ["".join(LEVELS[max(0, min(8, level - 8 * row))] for level in spread) for row in range(high - 1, -1, -1)]


def _level(shares: Sequence[float | None], high: int) -> int:
    known = [share for share in shares if share is not None]
    if not known:
        return 0
    mean = sum(known) / len(known)
    return max(1, round(mean * 8 * high)) if mean else 0


# Frames: what every one of them shows, and blocks that are stacked as far as there is room.


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameState(ABC):
    """The contents of a frame of any machine, as plain values: nothing in here belongs to a running machine."""

    config: str
    config_hash: str
    status: str
    """``running``, ``playing``, ``paused``, ``stopped here``, or why the run ended."""
    cycle: int
    clock_mhz: int
    utilisation: Utilisation | None
    rate: float | None = None
    """Cycles a second of the simulation; None in a still frame."""
    notes: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """Time of the machine up to here."""
        return self.cycle / (self.clock_mhz * 1e6)

    @property
    @abstractmethod
    def title(self) -> str:
        """Its subject."""

    @abstractmethod
    def frame(self, width: int, height: int) -> Group:
        """Return a frame of at most ``height`` lines, none of them wider than ``width`` cells.

        What does not fit is left out as a whole, and an ellipsis says so: no number is ever shown in part.
        """


_STYLE = "white on color(24)"


def head(
    what: Sequence[CellField],
    state: FrameState,
    width: int,
    missing: Sequence[str],
    *,
    of: str = "",
    progress: Sequence[str] = (),
) -> list[Text]:
    """Return the two lines of every frame: ``what`` runs, then cycle, status, ``progress``, time and notes.

    ``what`` begins with the machine and its program or scene, after which comes its configuration. ``of`` follows the
    cycle; ``missing`` are the blocks for which the frame has no room.
    """
    what = [*what[:2], CellField(f"config {state.config} ({state.config_hash})"), *what[2:]]
    far = [
        CellField(f"cycle {count(state.cycle)}{of}", "bold"),
        CellField(state.status, "bold green" if state.status in ("running", "playing") else "bold yellow"),
        *(CellField(text, "bold") for text in progress),
        CellField(f"{time_text(state.seconds)} at {count(state.clock_mhz)} MHz"),
    ]
    if state.rate is not None:
        far.append(CellField(f"{count(round(state.rate))} cycles/s"))
    far += [CellField(note, "dim") for note in state.notes]
    if missing:
        far.append(CellField(f"{MORE} no room: {', '.join(missing)}", "dim"))
    first = line(what, width, " · ")
    first.append(" " * (width - cell_len(first.plain)))
    first.stylize(_STYLE)
    return [first, line(far, width, " · ")]


class Pane(NamedTuple):
    """A block of a frame: its name, the function that draws it into columns and lines, and its least lines."""

    name: str
    draw: Callable[[int, int], list[Text]]
    least: int = 1
    grows: bool = False
    """True if it can use whatever lines remain."""


def stacked(panes: Sequence[Pane], width: int, lines: int) -> tuple[list[Text], list[str]]:
    """Return panes one below the other, and the names of those for which there is no room.

    Each gets its least lines; the rest goes to those that can use it in order, and last to those that grow.
    """
    kept, missing, left = [], [], lines
    for pane in panes:
        if pane.least <= left:
            kept.append(pane)
            left -= pane.least
        else:
            missing.append(pane.name)
    drawn: dict[str, list[Text]] = {}
    for pane in sorted(kept, key=lambda each: each.grows):
        drawn[pane.name] = made = pane.draw(width, pane.least + left)
        left -= max(0, len(made) - pane.least)
    return [text for pane in kept for text in drawn[pane.name]], missing


# What a frame of a machine of boxes and wires shows.


@dataclass(frozen=True, slots=True)
class QueueFill:
    """How much is stored in a queue."""

    name: str
    fill: int
    capacity: int

    @property
    def share(self) -> float:
        """From 0, empty, to 1, full."""
        return self.fill / self.capacity if self.capacity else 0.0


@dataclass(frozen=True, slots=True)
class BoxState:
    """A box: how busy it was, what is in its queues, what it waits for."""

    name: str
    busy: float | None
    """Traffic as a share of the best possible, 0 to 1; None if nothing is counted."""
    queues: tuple[QueueFill, ...] = ()
    doing: str = ""
    """Its current activity, in words; empty if idle."""


@dataclass(frozen=True, slots=True)
class WireTraffic:
    """Traffic of a wire."""

    name: str
    carried: int
    unit: str
    share: float
    """Of its bandwidth."""


@dataclass(frozen=True, slots=True)
class CacheHits:
    """Tries of a cache that found their line, and lines that had to be brought."""

    name: str
    hits: int
    fills: int

    @property
    def share(self) -> float | None:
        """Hit rate, hits of hits and fills; None if there were no requests."""
        return self.hits / (self.hits + self.fills) if self.hits or self.fills else None


@dataclass(frozen=True, slots=True)
class ByteTraffic:
    """Bytes that a client of memory has read and written."""

    client: str
    read: int
    written: int


@dataclass(frozen=True, slots=True)
class PhaseCycles:
    """Cycles that a phase of the run has taken."""

    name: str
    cycles: int
    running: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineState(FrameState):
    """Everything that a frame shows."""

    machine: str
    subject: str
    """The running program or scene."""
    progress: tuple[str, ...]
    """How far the run has come, in words: `draw 2 of 3`."""
    phases: tuple[PhaseCycles, ...]
    boxes: tuple[BoxState, ...]
    busy_of: str
    """Of which cycles the shares of boxes are."""
    wires: tuple[WireTraffic, ...]
    """The busiest first."""
    caches: tuple[CacheHits, ...]
    memory: tuple[ByteTraffic, ...]
    channels: tuple[float, ...]
    """Share of the cycles in which each channel of memory moved data."""

    @property
    def title(self) -> str:
        """The running program or scene."""
        return self.subject

    def frame(self, width: int, height: int) -> Group:
        """Return phases, boxes, what they did over time, memory, caches and wires, in one column or two."""
        over_time = partial(utilisation, self.utilisation)
        busy = Pane("utilisation", over_time, _LEAST_TRACKS, grows=True)
        asked, moved = Pane("hits", partial(caches, self)), Pane("memory", partial(memory, self))
        if width >= _TWO_COLUMNS:
            each, room = (width - len(BETWEEN)) // 2, max(0, height - _HEADER - 1)
            rows = Pane("boxes", partial(boxes, self, 1), 2)
            left, missing = stacked([rows, Pane("wires", partial(wires, self))], each, room)
            right, more = stacked([moved, asked, busy], each, room)
            body, missing = [*phases(self, width, 1), *beside(left, right, each, room)], missing + more
        else:
            columns, room = 2 if width >= _TWO_BOXES else 1, max(0, height - _HEADER)
            most = min(room - 1, 1 - (-len(self.boxes) // columns))
            rows = Pane("boxes", partial(boxes, self, columns), most, grows=True)
            carried = Pane("wires", lambda width, lines: wires(self, width, min(2, lines)))
            hits = Pane("hits", lambda width, lines: caches(self, width, min(1, lines)))
            panes = [Pane("phases", partial(phases, self)), rows, moved, hits, carried]
            body, missing = stacked(panes, width, room)
            if len(body) + _LEAST_TRACKS <= room:
                body, missing = stacked([*panes[:2], busy, *panes[2:]], width, room)
        what = [CellField(self.machine, "bold"), CellField(self.subject, "bold")]
        return Group(*[*head(what, self, width, missing, progress=self.progress), *body][:height])


# Blocks of a frame of boxes and wires. Each is drawn into a width and a number of lines, and never takes more.


_FULL, _EMPTY = "█", "·"
_BAR = 6
_TWO_BOXES = 76
_TWO_COLUMNS = 120
_HEADER = 2
_LEAST_TRACKS = 6
_NARROW = 60
"""Columns below which a row of a box has no bar."""
_NAME = 10
"""Columns of the label of a block of one line."""
_FULLNESS = ((0.95, "bold red"), (0.6, "yellow"))
"""From which fill on a queue has which colour."""


def phases(state: PipelineState, width: int, lines: int) -> list[Text]:
    """Return the cycles of the phases so far; the current one is highlighted."""
    shown = [each for each in state.phases if each.cycles or each.running]
    fields = [CellField(f"{each.name} {count(each.cycles)}", "bold reverse" if each.running else "") for each in shown]
    return _labelled("cycles", fields or [CellField("none yet", "dim")], width, lines)


# --- boxes ---------------------------------------------------------------------------------------------------------


def boxes(state: PipelineState, columns: int, width: int, lines: int) -> list[Text]:
    """Return a row for each box: busy share, queues; rows get further lines as far as there is room."""
    if lines < 2 or not state.boxes:
        return []
    top = title(
        [CellField("boxes", "bold"), CellField(state.busy_of, "dim"), CellField("queues: fill/room", "dim")], width
    )
    size = (width - len(BETWEEN) * (columns - 1)) // columns
    high = -(-len(state.boxes) // columns)
    room = lines - 1
    parts = [state.boxes[at : at + high] for at in range(0, len(state.boxes), high)]
    drawn = [_column(part, size, room) for part in parts]
    done = drawn[0]
    for number, part in enumerate(drawn[1:], 1):
        wide = size * number + len(BETWEEN) * (number - 1)
        done = beside(done, part, wide, max(len(done), len(part)))
    return [top, *done[:room]]


def _column(part: Sequence[BoxState], width: int, room: int) -> list[Text]:
    """Return the rows of boxes; lines that are left go to queues that hold something, then to the others."""
    names = max(cell_len(each.name) for each in part)
    lead = names + 1 + ((_BAR + 6) if width >= _NARROW else 5)
    high = [1] * len(part)
    spare = room - len(part)
    for every in (False, True):
        for number, each in enumerate(part):
            wanted = len(flow(_fields(each, every=every), width - lead, room, " "))
            more = min(max(0, wanted - high[number]), max(0, spare))
            high[number] += more
            spare -= more
    rows = [row for each, lines in zip(part, high, strict=True) for row in _row(each, width, names, lead, lines)]
    return rows[:room]


def _fields(box: BoxState, *, every: bool) -> list[CellField]:
    """Return the queues of a box, ``every`` one or those that hold something, and what it does."""
    fields = [_queue(each) for each in box.queues if every or each.fill]
    return [*fields, CellField(box.doing, "italic")] if box.doing else fields


def _row(box: BoxState, width: int, names: int, lead: int, lines: int) -> list[Text]:
    """Return a box: name, how busy it was, then its queues, on at most ``lines`` lines."""
    text = Text(no_wrap=True)
    text.append(f"{cut(box.name, names):<{names}} ", "bold")
    bar = _BAR if width >= _NARROW else 0
    if box.busy is None:
        text.append(" " * bar + "   –", "dim")
    else:
        full = round(min(1.0, box.busy) * bar)
        text.append(_FULL * full, "cyan")
        text.append(_EMPTY * (bar - full), "dim")
        text.append(f"{100 * box.busy:>4.0f}%"[bar == 0 :], "" if box.busy else "dim")
    text.append(" " * (lead - cell_len(text.plain)))
    rows = flow(_fields(box, every=True), width - lead, lines, " ")
    if rows[-1].plain.endswith(MORE):
        # What does not all fit begins with the queues that hold something.
        empty = [_queue(each) for each in box.queues if not each.fill]
        rows = flow([*_fields(box, every=False), *empty], width - lead, lines, " ")
    text.append_text(rows[0])
    return [text, *(Text(" " * lead, no_wrap=True).append_text(row) for row in rows[1:])]


def _queue(queue: QueueFill) -> CellField:
    """Return a queue in a colour: the fuller, the louder."""
    style = next((style for least, style in _FULLNESS if queue.share >= least), "green") if queue.fill else "dim"
    level = LEVELS[max(1, round(min(1.0, queue.share) * 8))] if queue.fill else _EMPTY
    return CellField(f"{queue.name}{level}{count(queue.fill)}/{count(queue.capacity)}", style)


# --- what is between them ----------------------------------------------------------------------------------------


def caches(state: PipelineState, width: int, lines: int) -> list[Text]:
    """Return the hit rates of the caches."""
    fields = [
        CellField(f"{each.name} {100 * each.share:.1f}% of {count(each.hits + each.fills)}")
        for each in state.caches
        if each.share is not None
    ]
    return _labelled("hits", fields or [CellField("no cache was asked yet", "dim")], width, lines)


def memory(state: PipelineState, width: int, lines: int) -> list[Text]:
    """Return how busy the channels were, and the bytes of each client, read and written."""
    fields = [CellField(f"ch{number} {100 * share:.0f}%", "cyan") for number, share in enumerate(state.channels)]
    moved = [each for each in state.memory if each.read or each.written]
    for each in moved:
        written = f" w{count(each.written)}" if each.written else ""
        read = f" r{count(each.read)}" if each.read else ""
        fields.append(CellField(f"{each.client}{read}{written}"))
    if not moved:
        fields.append(CellField("no bytes moved yet", "dim"))
    return _labelled("memory", fields, width, lines)


def wires(state: PipelineState, width: int, lines: int) -> list[Text]:
    """Return what the busiest wires have carried, and of how much."""
    moved = [each for each in state.wires if each.carried]
    if lines <= 3:
        fields = [CellField(f"{each.name} {count(each.carried)} {100 * each.share:.0f}%") for each in moved]
        return _labelled("wires", fields or [CellField("nothing carried yet", "dim")], width, lines)
    shown = moved[: lines - 1]
    top = [CellField("wires", "bold"), CellField("carried, share of what they could have", "dim")]
    if len(shown) < len(moved):
        top.append(CellField(f"{MORE} {count(len(moved) - len(shown))} more", "dim"))
    done = [title(top, width)]
    for each in shown:
        bar = round(min(1.0, each.share) * _BAR * 2)
        row = Text(_FULL * bar, "cyan", no_wrap=True)
        row.append(_EMPTY * (2 * _BAR - bar), "dim")
        row.append_text(line([CellField(f" {100 * each.share:>5.1f}%"), CellField(each.name, "bold"),
            CellField(f"{count(each.carried)} {each.unit}")], width - 2 * _BAR, " "))  # fmt: skip
        done.append(row)
    return done


def _labelled(label: str, fields: Sequence[CellField], width: int, lines: int) -> list[Text]:
    """Return fields after a label, on at most ``lines`` lines."""
    if lines < 1:
        return []
    name = CellField(f"{label:<{_NAME - 2}}", "bold")
    return flow([name, *fields], width, lines, indent=" " * _NAME)


# What was busy over time, kept in a fixed number of intervals that grow with the run.


_INTERVALS = 256
"""Limit of kept entries; beyond that, two are merged into one of double length."""


class History:
    """Sums of amounts over time, by track; every amount is so much in each cycle from ``begin`` up to ``end``.

    Only the place within an interval is lost as time passes.
    """

    def __init__(self, begin: int = 0) -> None:
        self.begin = begin
        """The first cycle that there is."""
        self.cycles = 1
        """Length of an interval; a power of two."""
        self._sums: dict[str, list[int]] = {}
        self._totals: dict[str, int] = {}
        self._coming: dict[str, list[tuple[int, int, int]]] = {}

    def add(self, track: str, begin: int, end: int, amount: int = 1) -> None:
        """Note that a track had an amount in each cycle from ``begin`` up to ``end``, which may be in the future.

        What was before the first cycle does not count.
        """
        if end < begin:
            raise InternalError(f"{track}: busy from cycle {begin} to cycle {end}")
        self._coming.setdefault(track, []).append((max(begin, self.begin), end, amount))

    def total(self, track: str, at: int) -> int:
        """Return the sum of a track's amounts up to a cycle, which may not go back."""
        self._settle(track, at)
        coming = sum((min(end, at) - begin) * amount for begin, end, amount in self._coming[track] if begin < at)
        return self._totals[track] + coming

    def sums(self, track: str, at: int) -> list[int]:
        """Return the sum of a track's amounts in each interval up to a cycle, which may not go back."""
        self._settle(track, at)
        sums = list(self._sums[track])
        sums += [0] * (self.intervals(at) - len(sums))
        for begin, end, amount in self._coming[track]:
            if begin < at:
                self._spread(sums, begin, min(end, at), amount)
        return sums

    def intervals(self, at: int) -> int:
        """Return how many intervals there are up to a cycle, the last of them perhaps not full."""
        return -(-(at - self.begin) // self.cycles)

    def _settle(self, track: str, at: int) -> None:
        """Take what has ended before a cycle into the intervals."""
        sums, coming = self._sums.setdefault(track, []), self._coming.setdefault(track, [])
        self._totals.setdefault(track, 0)
        while self.intervals(at) > _INTERVALS:
            self._double()
        sums = self._sums[track]
        sums += [0] * (self.intervals(at) - len(sums))
        for begin, end, amount in coming:
            if end <= at:
                self._spread(sums, begin, end, amount)
                self._totals[track] += (end - begin) * amount
        coming[:] = [each for each in coming if each[1] > at]

    def _double(self) -> None:
        self.cycles *= 2
        for track, sums in self._sums.items():
            sums += [0] * (len(sums) % 2)
            self._sums[track] = [a + b for a, b in zip(sums[::2], sums[1::2], strict=True)]

    def _spread(self, sums: list[int], begin: int, end: int, amount: int) -> None:
        while begin < end:
            index, inside = divmod(begin - self.begin, self.cycles)
            step = min(end - begin, self.cycles - inside)
            sums[index] += step * amount
            begin += step


# Watched runs: what a machine hands over so that commands can show its runs at any cycle.


class WatchedRun(Protocol):
    """A run that is at a cycle and can continue."""

    @property
    def ended(self) -> bool:
        """True if nothing is left to happen."""

    def advance(self, cycle: int) -> None:
        """Do everything that begins before ``cycle``, which may not go back."""

    def state(self, *, status: str | None = None, rate: float | None = None) -> PipelineState:
        """Return a frame of the run at its current cycle; ``rate`` is that of the simulation, cycles/s."""

    def finish(self) -> Report:
        """Run to the end and return the account of the run."""
