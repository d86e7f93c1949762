"""No digit is lost and no operand is eaten, whatever the state and the size of the screen."""

import re
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from pixelflow.observe.dashboard_frame import DashboardState, MapState, SourceRow, StreamState
from pixelflow.simd.dashboard import BusyTrack, clean, cut, time_text
from tests.dashboard.drawing import drawn
from tests.dashboard.states import HOSTILE, MIDWAY, SIZES, sizes, states

MORE = "…"
NUMBER = re.compile(r"\d[\d,.]*\d|\d")
SLOW = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], max_examples=60)


def leaves(value: object) -> list[object]:
    """Every plain value of a state but the map's cells, the tracks and the text of programs."""
    if isinstance(value, MapState | BusyTrack | SourceRow):
        return []
    if is_dataclass(value):
        return [leaf for field in fields(value) for leaf in leaves(getattr(value, field.name))]
    if isinstance(value, tuple):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def integers(state: DashboardState) -> set[int]:
    return {value for value in leaves(state) if isinstance(value, int) and not isinstance(value, bool)}


def allowed_words(state: DashboardState) -> set[str]:
    """Every number that a frame of a state may show: counts, sums, shares, and those in its texts."""
    numbers = {f"{value:,}" for value in integers(state)}
    numbers |= {str(value) for value in integers(state)}
    parts = [part for stream in state.streams for part in (stream.busy, stream.wait, stream.idle, stream.open)]
    parts += [each.busy or 0 for each in state.modules] + [cycles for _, cycles in state.gni]
    parts += [each.cycles for each in state.stages]
    if state.cycle:
        numbers |= {f"{100 * part / state.cycle:.1f}" for part in parts}
    numbers |= {f"{stream.wait:,}" for stream in state.streams}
    numbers |= {f"{sum(each.enabled or 0 for each in state.modules):,}"}
    numbers |= {f"{round(state.rate):,}"} if state.rate is not None else set()
    if state.utilisation is not None:  # a bar holds some whole number of intervals
        numbers |= {f"{step * state.utilisation.cycles:,}" for step in range(1, 257)}
    numbers |= {f"{count:,}" for count in range(400)}  # lines left out, PEs of a character
    numbers |= {f"{value:,}" for value in state.array.cells} if state.array else set()
    texts = [value for value in leaves(state) if isinstance(value, str)] + [time_text(state.seconds)]
    texts += [text for stream in state.streams for row in stream.source for text in (row.label, row.text)]
    return numbers | {number for text in texts for number in NUMBER.findall(clean(text))}


@SLOW
@given(states(), sizes)
def test_every_number_of_a_frame_is_one_of_the_state(state: DashboardState, size: tuple[int, int]) -> None:
    """A number that was cut would be another number; and the frame stays in its place."""
    shown = drawn(state, *size)
    assert set(NUMBER.findall(shown)) - allowed_words(state) == set()
    lines = shown.splitlines()
    assert len(lines) <= size[1]
    assert all(cell_len(line) <= size[0] for line in lines)


@pytest.mark.slow
@SLOW
@given(states(), sizes)
def test_a_number_that_is_missing_is_announced(state: DashboardState, size: tuple[int, int]) -> None:
    shown = drawn(state, *size)
    missing = [value for value in wanted(state) if not re.search(rf"(?<![\d,.]){value:,}(?!,?\d)", shown)]
    assert not missing or MORE in shown


def wanted(state: DashboardState) -> set[int]:
    """The counts that a frame shows where there is room."""
    found = {state.cycle, state.clock_mhz, *(state.part or ())} - {None}
    for stream in state.streams:
        found |= {stream.busy, stream.wait, stream.idle, *(cycles for _, cycles in stream.waits)}
    found |= {each.enabled for each in state.modules if all(one.enabled is not None for one in state.modules)}
    if state.texture_missing is None:
        for each in state.modules:
            found |= {each.busy, each.accesses, each.from_emcs, each.to_emcs} - {None}
        found |= {cycles for _, cycles in state.gni}
    found |= {each.count for each in state.semaphores}
    return found | {each.cycles for each in state.stages}


# --- text ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_program_text_is_shown_as_it_is(text: str, width: int, height: int) -> None:
    from dataclasses import replace

    row = SourceRow("7", text, True)
    streams = tuple(replace(stream, source=(row,)) for stream in MIDWAY.streams)
    shown = drawn(replace(MIDWAY, streams=streams), width, height)
    here = next(line for line in shown.splitlines() if "▶ 7" in line)
    assert cut(text.strip(), 20).rstrip(MORE).rstrip() in here
    assert "\x1b" not in shown


@given(st.text(max_size=60), st.integers(1, 40))
def test_cut_text_fits_and_keeps_words_with_digits_whole(text: str, width: int) -> None:
    short = cut(text, width)
    assert cell_len(short) <= width
    whole = clean(text)
    if short == whole:
        return
    kept = short.removesuffix(MORE)
    assert short.endswith(MORE) and whole.startswith(kept)
    assert set(NUMBER.findall(kept)) <= set(NUMBER.findall(whole))


def test_a_stream_says_how_much_of_its_time_is_what() -> None:
    """The parts of a stream's time in the sample states are all of it: what is drawn is consistent."""

    def total(stream: StreamState) -> int:
        return stream.busy + stream.wait + stream.idle + stream.open

    assert {total(stream) for stream in MIDWAY.streams} == {MIDWAY.cycle}
