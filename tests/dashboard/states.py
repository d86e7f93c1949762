"""States to draw: a few made by hand, and random ones for the properties."""

from dataclasses import replace

from hypothesis import strategies as st

from pixelflow.observe.dashboard_frame import (
    DashboardState,
    MapState,
    ModuleState,
    SemaphoreState,
    SourceRow,
    StageState,
    StreamState,
)
from pixelflow.simd.dashboard import BusyTrack, Utilisation

TRIANGLE = bytes(x * 2 > 20 - y and x + 2 * y < 150 and 3 * y + 40 > x for y in range(64) for x in range(128))
GRADIENT = bytes((x + y) % 256 for y in range(64) for x in range(128))
ENABLES = MapState("enabled PEs", 128, 64, TRIANGLE, True)
DEPTH = MapState("depth", 128, 64, GRADIENT, False)


def source(*texts: str, here: int, first: int = 30) -> tuple[SourceRow, ...]:
    """Lines of a program, one of them the current one."""
    return tuple(SourceRow(str(first + index), text, index == here) for index, text in enumerate(texts))


EIGC = StreamState(
    name="EIGC",
    busy=36_916,
    waits=(("sem 1", 2_281),),
    idle=0,
    open=0,
    halted=False,
    instruction="EMC_PixCopy value, 12, 4",
    place="tessellation/points.mc:33",
    routine="distribute",
    source=source(
        "routine distribute(value)",
        "    WAIT 1",
        "    LOOP 4",
        "        EMC_PixCopy value, 12, 4   ; (N + 1) B + 2 = 54 cycles",
        "    ENDL",
        "    CALL mul32, product, value, weight",
        "end",
        here=3,
    ),
    ahead=0,
    remaining=17,
    waiting_for=None,
    since=None,
    loops=(3,),
)
TIGC = StreamState(
    name="TIGC",
    busy=14,
    waits=(("sem 0", 6_216), ("transfer", 32_967)),
    idle=0,
    open=0,
    halted=False,
    instruction="TAS_MemRdRepeat4 4, 0",
    place="tessellation/points.mc:81",
    routine="",
    source=source("TAS_SetCounter 9", "WAIT 0", "TAS_MemRdRepeat4 4, 0", "SIGNAL 1", "HALT", here=2, first=79),
    ahead=0,
    remaining=None,
    waiting_for="transfer",
    since=38_549,
)
MIDWAY = DashboardState(
    program="points",
    program_hash="50109f",
    config="thesis",
    config_hash="1a2a86",
    engine="rows",
    status="running",
    cycle=39_197,
    clock_mhz=100,
    rate=123_456.4,
    pes=8192,
    streams=(EIGC, TIGC),
    modules=tuple(
        ModuleState(module, enabled, 32_256 + module, 1_152, 4_608, 147_456)
        for module, enabled in enumerate((335, 1_253, 751, 177))
    ),
    texture_missing=None,
    banks_missing="not scheduled: equal slots",
    gni=(("store0", 1_920),),
    semaphores=(
        SemaphoreState(0, 0, ("EIGC",), ("TIGC",), None),
        SemaphoreState(1, 2, ("TIGC",), ("EIGC",), None),
    ),
    array=ENABLES,
    utilisation=Utilisation(
        256,
        (
            BusyTrack("EIGC", tuple(0.0 if 10 <= index < 19 else 1.0 for index in range(154))),
            BusyTrack("TIGC", tuple(0.002 if index % 14 == 0 else 0.0 for index in range(154))),
            BusyTrack("TASIC", tuple((index % 15) / 14 for index in range(154))),
            BusyTrack("PEs", tuple(abs(77 - index) / 77 for index in range(154))),
        ),
    ),
    stages=(
        StageState("EIGC", "base addresses", 384, False),
        StageState("EIGC", "Bernstein values", 1_312, False),
        StageState("EIGC", "wait for the first transfer", 2_281, False),
        StageState("TIGC", "read 11", 3_591, True),
        StageState("EIGC", "points", 35_220, True),
    ),
    part=(2, 5),
)
ALONE = replace(
    MIDWAY,
    program="triangle",
    status="halt",
    cycle=15,
    rate=None,
    part=None,
    streams=(
        replace(
            EIGC, busy=15, waits=(), halted=True, remaining=None, routine="", loops=(), place="triangle.mc:23",
            source=source("EMC_SetEnab", "STI colour[0], #200", "HALT", here=2, first=21),
        ),
    ),
    modules=tuple(ModuleState(module, 2048, None, None, None, None) for module in range(4)),
    texture_missing="one stream runs alone",
    banks_missing="one stream runs alone",
    gni=(),
    semaphores=(),
    array=DEPTH,
    utilisation=Utilisation(1, (BusyTrack("EIGC", (1.0,) * 15), BusyTrack("PEs", (1.0,) * 6 + (0.5,) * 9))),
    stages=(),
)  # fmt: skip
AHEAD = replace(
    MIDWAY,
    status="running",
    streams=(
        replace(EIGC, remaining=None, ahead=313),
        replace(TIGC, waits=(("sem 0", 6_216), ("transfer", 32_319)), open=648, waiting_for=None, since=None),
    ),
    modules=tuple(ModuleState(module, None, 32_256, 1_152, 4_608, 147_456, (17, None)) for module in range(4)),
    banks_missing=None,
    array=None,
)
STATES = {"midway": MIDWAY, "alone": ALONE, "ahead": AHEAD}
SIZES = ((60, 20), (80, 24), (100, 30), (200, 60))

# --- random states -------------------------------------------------------------------------------------------------

counts = st.one_of(st.integers(0, 99), st.integers(0, 10**6), st.integers(0, 10**13))
maybe = st.none() | counts
HOSTILE = (
    "mem[p]", "[red]", "[/x]", "[/]", "sem[0]", "\t[bold]tab\t", "EMC_全角 x", "a\x1b[31mb", "\\[x]", "x" * 90,
    "LD R, [P0+3]", ":smile:", "e\u0301", "",
)  # fmt: skip
texts = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
names = st.text("abcdefghijklmnopqrstuvwxyz_[] ", min_size=1, max_size=24)
words = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12)


SHARES = ((0.0,), (None, 0.5), tuple(index / 255 for index in range(256)), (1.0,) * 130, (None,) * 37)


@st.composite
def sources(draw: st.DrawFn) -> tuple[SourceRow, ...]:
    lines = draw(st.lists(texts, min_size=1, max_size=9))
    here = draw(st.integers(0, len(lines) - 1))
    return source(*lines, here=here, first=draw(st.integers(1, 10**6)))


@st.composite
def streams(draw: st.DrawFn, name: str) -> StreamState:
    waits = draw(st.dictionaries(st.sampled_from(("sem 0", "sem 7", "transfer")), counts))
    waiting = draw(st.none() | st.sampled_from(("sem 3", "transfer")))
    return StreamState(
        name,
        draw(counts),
        tuple(waits.items()),
        draw(counts),
        draw(st.just(0) | counts),
        draw(st.booleans()),
        draw(texts),
        f"{draw(names)}:{draw(st.integers(1, 9999))}",
        draw(st.just("") | names),
        draw(sources()),
        draw(counts),
        draw(maybe),
        waiting,
        None if waiting is None else draw(counts),
        tuple(draw(st.lists(counts, max_size=3))),
    )


@st.composite
def states(draw: st.DrawFn) -> DashboardState:
    """A state whose parts can be parts of its cycles, in no other way a state of any run."""
    modules = draw(st.integers(1, 4))
    alone = draw(st.booleans())
    running = tuple(draw(streams(name)) for name in ("EIGC", "TIGC")[: 2 - alone])
    most = max(each.busy + each.wait + each.idle + each.open for each in running)
    rows = st.none() | st.tuples(maybe, maybe)
    shares = st.sampled_from(SHARES)
    tracks = st.lists(
        st.builds(BusyTrack, st.sampled_from(("EIGC", "TIGC", "TASIC", "GNI", "PEs")), shares), min_size=1
    )
    return DashboardState(
        program=draw(texts),
        program_hash="3fa9c1",
        config=draw(words),
        config_hash="a41c9e",
        engine=draw(words),
        status=draw(words),
        cycle=max(most, draw(counts)),
        clock_mhz=draw(st.integers(1, 10_000)),
        rate=draw(st.none() | st.floats(0, 1e9)),
        pes=draw(st.integers(1, 10**6)),
        streams=running,
        modules=tuple(
            ModuleState(index, *(draw(maybe) for _ in range(5)), draw(rows)) for index in range(modules)
        ),
        texture_missing="one stream runs alone" if alone else None,
        banks_missing=draw(st.none() | words),
        gni=() if alone else tuple(draw(st.dictionaries(words, counts, max_size=3)).items()),
        semaphores=tuple(
            SemaphoreState(number, draw(counts), ("EIGC",), ("TIGC",), draw(st.sampled_from((None, "TIGC"))))
            for number in draw(st.sets(st.integers(0, 63), max_size=6))
        ),
        array=draw(st.sampled_from((None, ENABLES, DEPTH))),
        utilisation=draw(st.none() | st.builds(Utilisation, st.integers(1, 10**9), tracks.map(tuple))),
        stages=tuple(
            draw(st.lists(st.builds(StageState, st.sampled_from(("EIGC", "TIGC")), words, counts, st.booleans())))
        ),
        part=draw(st.none() | st.tuples(counts, maybe)),
        total=draw(maybe),
        notes=tuple(draw(st.lists(words, max_size=2))),
    )  # fmt: skip


sizes = st.tuples(st.integers(20, 220), st.integers(6, 70))
