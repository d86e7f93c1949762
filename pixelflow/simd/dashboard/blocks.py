"""Blocks of a frame of boxes and wires. Each is drawn into a width and a number of lines, and never takes more."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from pixelflow.simd.dashboard.cells import MORE, CellField, beside, count, cut, flow, line, title
from pixelflow.simd.dashboard.head import head
from pixelflow.simd.dashboard.over_time import LEVELS
from pixelflow.simd.dashboard.state import BoxState, PipelineState, QueueFill

__all__ = ["boxes", "caches", "header", "memory", "phases", "queue_style", "wires"]

_FULL, _EMPTY = "█", "·"
_BAR = 6
_BETWEEN = " │ "
_NARROW = 60
"""Columns below which a row of a box has no bar."""
_NAME = 10
"""Columns of the label of a block of one line."""
_FULLNESS = ((0.95, "bold red"), (0.6, "yellow"))
"""From which fill on a queue has which colour."""


def queue_style(queue: QueueFill) -> str:
    """Return the colour of a queue: the fuller, the louder."""
    if not queue.fill:
        return "dim"
    return next((style for least, style in _FULLNESS if queue.share >= least), "green")


def header(state: PipelineState, width: int, missing: Sequence[str]) -> list[Text]:
    """Return the two lines of every frame; ``missing`` are the blocks for which it has no room."""
    what = [
        CellField(state.machine, "bold"),
        CellField(state.subject, "bold"),
        CellField(f"config {state.config} ({state.config_hash})"),
    ]
    return head(what, state, width, missing, progress=state.progress)


def phases(state: PipelineState, width: int, lines: int) -> list[Text]:
    """Return the cycles of the phases up to now; the present one stands out."""
    shown = [each for each in state.phases if each.cycles or each.running]
    fields = [CellField(f"{each.name} {count(each.cycles)}", "bold reverse" if each.running else "") for each in shown]
    return _labelled("cycles", fields or [CellField("none yet", "dim")], width, lines)


# --- boxes ---------------------------------------------------------------------------------------------------------


def boxes(state: PipelineState, width: int, lines: int, columns: int) -> list[Text]:
    """Return a row for each box: busy share, queues; rows get further lines as far as there is room."""
    if lines < 2 or not state.boxes:
        return []
    top = title(
        [CellField("boxes", "bold"), CellField(state.busy_of, "dim"), CellField("queues: fill/room", "dim")], width
    )
    size = (width - len(_BETWEEN) * (columns - 1)) // columns
    high = -(-len(state.boxes) // columns)
    room = lines - 1
    parts = [state.boxes[at : at + high] for at in range(0, len(state.boxes), high)]
    drawn = [_column(part, size, room) for part in parts]
    done = drawn[0]
    for number, part in enumerate(drawn[1:], 1):
        wide = size * number + len(_BETWEEN) * (number - 1)
        done = beside(done, part, wide, max(len(done), len(part)), _BETWEEN)
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
    level = LEVELS[max(1, round(min(1.0, queue.share) * 8))] if queue.fill else _EMPTY
    return CellField(f"{queue.name}{level}{count(queue.fill)}/{count(queue.capacity)}", queue_style(queue))


# --- what lies between them ----------------------------------------------------------------------------------------


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
