"""States of a machine of boxes and wires, made up: nothing has begun, midway, and at the end."""

from pixelflow.simd.dashboard import (
    BoxState,
    BusyTrack,
    ByteTraffic,
    CacheHits,
    PhaseCycles,
    PipelineState,
    QueueFill,
    Utilisation,
    WireTraffic,
)

_NAMES = (
    "fetch",
    "loader",
    "assembly",
    "clipper",
    "set-up",
    "traversal",
    "FIFO",
    "shader 0",
    "shader 1",
    "depth",
    "colour",
)


def _boxes(fill: int) -> tuple[BoxState, ...]:
    """Return boxes, each with a queue more than the one before and up to four, each filled a little more."""
    return (
        BoxState("command", None, doing="draw (Draw)"),
        *(
            BoxState(
                name,
                min(1.0, 0.1 * place * bool(fill)),
                tuple(
                    QueueFill(f"q{each}", min(8 << each, place * fill * each), 8 << each)
                    for each in range(1 + place % 4)
                ),
            )
            for place, name in enumerate(_NAMES)
        ),
    )


_WIRES = tuple(
    WireTraffic(f"Wire{number:02}", 9_000 - 100 * number, "fragments", 0.9 - 0.02 * number) for number in range(30)
)
MIDWAY = PipelineState(
    machine="BOXES", subject="two_squares 64x64", config="own", config_hash="012abc", status="stopped here",
    cycle=12_345, clock_mhz=600, progress=("step 5 of 7", "fragments of draw 1 of 2"),
    phases=(PhaseCycles("Ready", 84, False), PhaseCycles("Draw", 11_000, True), PhaseCycles("Swap", 0, False)),
    boxes=_boxes(3), busy_of="% of what they could do in 11,000 cycles of drawing",
    wires=_WIRES,
    caches=(CacheHits("texels 0", 9_990, 10), CacheHits("colour 0", 0, 0), CacheHits("depth 0", 75, 25)),
    memory=(ByteTraffic("colour", 1_234_560, 64), ByteTraffic("display", 0, 0), ByteTraffic("texels", 2_048, 0)),
    channels=(0.41, 0.4, 0.0, 1.0),
    utilisation=Utilisation(64, (BusyTrack("set-up", tuple((each % 9) / 8 for each in range(193))),
        BusyTrack("shader", tuple(1.0 if 20 < each < 150 else 0.0 for each in range(193))),
        BusyTrack("colour", tuple(each / 192 for each in range(193))))),
)  # fmt: skip
NOTHING = PipelineState(
    machine="BOXES", subject="empty", config="paper", config_hash="ffffff", status="running", cycle=0, clock_mhz=100,
    progress=(), phases=(), boxes=_boxes(0), busy_of="of 0 cycles", wires=(), caches=(), memory=(), channels=(),
    utilisation=None, rate=1_234_567.8, notes=("nothing has begun",),
)  # fmt: skip
PIPELINES = {"boxes": MIDWAY, "no_boxes_yet": NOTHING}
SIZES = ((80, 24), (160, 50), (60, 40))
