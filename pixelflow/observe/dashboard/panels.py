"""The blocks of a frame. Each is drawn into a width and a number of lines, and never takes more."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from pixelflow.observe.dashboard.pe_plane import draw
from pixelflow.observe.dashboard.state import DashboardState, MapState, ModuleState, StageState, StreamState
from pixelflow.simd.dashboard.cells import MORE, CellField, clean, count, cut, flow, line, share, title
from pixelflow.simd.dashboard.head import head

__all__ = ["STYLES", "array", "header", "part_text", "semaphores", "stages", "stream", "texture"]

STYLES = {
    "EIGC": "green",
    "TIGC": "magenta",
    "TASIC": "cyan",
    "GNI": "blue",
    "PEs": "green",
    "TASICs": "cyan",
    "SDRAM": "cyan",
}
"""The colour of everything that belongs to a part of the machine; the EIGC drives the PEs, so they share one."""

_NAME = "bold"
_HERE = "▶"


def part_text(number: int, total: int | None) -> str:
    """Return which pass of how many, or which run, it is."""
    return f"run {count(number)}" if total is None else f"pass {count(number)} of {count(total)}"


def header(state: DashboardState, width: int, missing: Sequence[str]) -> list[Text]:
    """Return the two lines of every frame: what runs on what, and how far it has come.

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
    """Return a stream: where it is, the source around that, what it is doing."""
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
    """Return the map of the array, with what one character stands for: in the title, or below where that is full."""
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
    """Return the semaphores that the program uses: count, who signals, who takes, whether that one waits now."""
    name = CellField("semaphores", _NAME)
    if not state.semaphores:
        return [title([name, CellField("the program uses none", "dim")], width)]
    fields = []
    for each in state.semaphores:
        names = "→".join("+".join(names) or "nobody" for names in (each.signalled_by, each.taken_by))
        waits = " waits" if each.waiting else ""
        fields.append(CellField(f"{each.number}: {count(each.count)} {names}{waits}", "bold yellow" if waits else ""))
    return [title([name, CellField("number: count", "dim")], width), *flow(fields, width, lines - 1, "   ")][:lines]


def texture(state: DashboardState, width: int, lines: int) -> list[Text]:
    """Return what went between the EMCs and texture memory, by module."""
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
