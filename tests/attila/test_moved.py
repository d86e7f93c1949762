"""Values without a row in `test_rules_of_time`: each, moved by itself, changes a cycle or a count of a small scene."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from attila_bridge.time.config import PAPER
from pixelflow.simd.configuration import Value, leaves
from pixelflow.simd.errors import DeadlockError, InputError
from tests.attila.moved import BATCHES, outcome
from tests.attila.random_values import ending
from tests.attila.test_rules_of_time import RULES

SMALL_DEPTH = {"depth.lines": 2, "depth.ways": 2}
SMALL_COLOR = {"color.lines": 2, "color.ways": 2}
TWO_UNITS = {"texture.units": 2}

MOVED: Mapping[str, tuple[str, Value, Mapping[str, Value]]] = {
    "gpu.shaders": ("texture", 1, {}),
    "gpu.rops": ("texture", 1, {}),
    "gpu.vertex_ports": ("texture", 2, {}),
    "gpu.pipelined_draws": ("depths", False, {}),
    "traversal.testers": ("corners", 1, {}),
    "traversal.recursive": ("texture", False, {}),
    "traversal.square": ("upright", True, {}),
    "hz.cache_lines": ("depths", 2, {}),
    "hz.cache_line": ("again and again", 8, {}),
    "texture.units": ("texture", 3, {}),
    "texture.request_rate": ("texture", 3, TWO_UNITS),
    "texture.request_group": ("texture", 32, TWO_UNITS),
    "texture.misses": ("texture twice", 3, {}),
    "depth.read_queue": ("depths", 8, {}),
    "depth.op_queue": ("again and again", 2, {}),
    "depth.extra_read_port": ("again and again", False, SMALL_DEPTH),
    "color.read_queue": ("sliver", 8, {}),
    "color.op_queue": ("texture", 2, {}),
    "color.extra_read_port": ("again and again", False, SMALL_COLOR),
}
"""The scene, the value that a key is moved to, and other values that its part needs to be under load."""

UNMOVED = {
    "texture.result_queue": "a result leaves in the cycle after it came, and one comes a cycle: it holds one at most",
    "color.write_queue": "a quad leaves in the cycle after it was written, and one is written a cycle: one at most",
}
"""Keys that change nothing as this machine is built, and why that follows."""


def test_every_value_has_a_row_is_moved_or_has_one_value() -> None:
    """One value alone is built of some; the buffer of hierarchical Z only says which frames fit."""
    several = {key for key, what, _, _ in leaves(PAPER) if len(what.allowed or (0, 1)) > 1}
    assert several == {*MOVED, *UNMOVED, *(rule.key for rule in RULES), "hz.blocks"}


@pytest.mark.parametrize(
    "key", [pytest.param(key, marks=[pytest.mark.slow] * (at % 3 > 0)) for at, key in enumerate(MOVED)]
)
def test_a_moved_value_changes_something(key: str) -> None:
    scene, value, given = MOVED[key]
    before = PAPER.with_values(given)
    assert before.values[key] != value
    assert outcome(scene, before.with_values({key: value})) != outcome(scene, before)


@pytest.mark.parametrize("key", UNMOVED)
@pytest.mark.parametrize("scene", ["texture twice", "blended"])
def test_a_queue_that_never_holds_two_may_have_one_place(key: str, scene: str) -> None:
    assert outcome(scene, PAPER.with_values({key: 1})) == outcome(scene)


def test_a_frame_with_more_blocks_than_the_buffer_is_refused() -> None:
    """320x256 pixels are 5x4 over-tiles of 64 blocks each."""
    with pytest.raises(InputError, match=r"hz\.blocks is 1024; the frame was drawn for 1280"):
        outcome("high", PAPER.with_values({"hz.blocks": 1024}))


def test_memory_that_would_accept_nothing_is_refused() -> None:
    """Ten clients, five of which write: 70 requests of 64, and 35 buffers of 32, would have to stay free."""
    with pytest.raises(InputError, match=r"memory\.request_queue is 64; memory\.reserve keeps 70 free"):
        outcome("texture", PAPER.with_values({"memory.reserve": 7}))
    with pytest.raises(InputError, match=r"memory\.write_buffers is 32; memory\.reserve keeps 35 free"):
        outcome("texture", PAPER.with_values({"memory.reserve": 7, "memory.request_queue": 128}))


@pytest.mark.parametrize(
    ("values", "said", "enough"),
    [
        (
            {"color.alu_latency": 5},
            r"color\.op_queue is 4; .* color\.alu_latency is 5\n.*at least 5",
            {"color.op_queue": 5},
        ),
        (
            {"depth.alu_latency": 16},
            r"depth\.op_queue is 4; .* depth\.alu_latency is 16\n.*at least 16",
            {"depth.op_queue": 16},
        ),
        (
            {"gpu.vertex_ports": 5, "fifo.vertex_inputs": 8},
            r"fifo\.vertex_inputs is 8; .* gpu\.vertex_ports is 5\n.*at least 10",
            {"fifo.vertex_inputs": 10},
        ),
        (
            {"command.setup_latency": 16},
            r"traversal\.queue is 16; .* command\.setup_latency is 16\n.*at least 17",
            {"traversal.queue": 17},
        ),
        (
            {"command.start_latency": 15},
            r"setup\.fifo is 12; .* command\.start_latency is 15\n.*at least 13",
            {"setup.fifo": 13},
        ),
        ({"traversal.steps": 4}, r"hz\.queue is 128; .* traversal\.steps is 4\n.*at least 129", {"hz.queue": 129}),
        (
            {"traversal.steps": 8, "hz.queue": 257},
            r"fifo\.generated is 128; .* traversal\.steps is 8\n.*at least 256",
            {"fifo.generated": 256},
        ),
        (
            {"shader.registers": 20},
            r"shader\.registers is 20; .* take 3 a thread\n.*at least 24",
            {"shader.registers": 24},
        ),
        (
            {"shader.threads": 4, "shader.buffers": 3},
            r"shader\.threads \+ shader\.buffers is 7; .*\n.*at least 8",
            {"shader.buffers": 4},
        ),
    ],
)
def test_values_that_would_stop_the_machine_are_refused_and_the_next_ones_run(
    values: Mapping[str, Value], said: str, enough: Mapping[str, Value]
) -> None:
    with pytest.raises(InputError, match=said):
        outcome("again and again", PAPER.with_values(values))
    phases, _ = outcome("again and again", PAPER.with_values({**values, **enough}))
    assert phases["Draw"]


@pytest.mark.slow
@pytest.mark.parametrize("key", ["fifo.vertex_wait", "shader.batch_wait"])
def test_the_longest_waits_end(key: str) -> None:
    """Three vertices are no group, so they wait until the time is over where a queue of one holds up the fourth."""
    found, _ = outcome("wide", PAPER.with_values({**BATCHES, "streamer.output_queue": 1, key: 50_000}))
    assert found["Draw"] + found["EndGeometry"] > 50_000


def test_values_by_chance_end() -> None:
    assert set(map(ending, range(8))) == {"done", "refused"}


@pytest.mark.slow
def test_800_configurations_by_chance_end() -> None:
    """From the whole of the declared ranges, a few keys or all of them."""
    assert Counter(map(ending, range(800)))["done"] >= 300


@pytest.mark.parametrize(
    ("scene", "values"),
    [("texture", {"texture.request_queue": 1}), ("texture twice", {"texture.access_queue": 1})],
)
def test_groups_in_order_that_fall_out_of_step_come_to_their_end(scene: str, values: Mapping[str, Value]) -> None:
    """A texture read that finds no place is fetched again, while others of its batch have gone on."""
    counts = outcome(scene, PAPER.with_values({"shader.window": False, **values}))[1]
    whole = outcome(scene)[1]
    for name in ("Outputs_ShF-FS0", "ExecutedInstructions_ShDX-FS0", "InputFragments_CW-SU0"):
        assert counts[name] == whole[name]
    assert counts["ReFetchedInstr_ShF-FS0"] > 0


def test_one_access_is_enough_to_read_textures() -> None:
    """Samples that have all of their lines go on when there is room, although no other line comes."""
    phases, counts = outcome("texture twice", PAPER.with_values({"texture.access_queue": 1}))
    assert counts["TextureResults_TU-FS0TU0"] == outcome("texture twice")[1]["TextureResults_TU-FS0TU0"]
    assert phases["EndGeometry"] > outcome("texture twice")[0]["EndGeometry"]


def test_blocks_that_take_long_to_display_are_no_standstill() -> None:
    """320x256 pixels are 1280 blocks, each 64 cycles on its way to the display although none was drawn."""
    found, _ = outcome("high", PAPER.with_values({"display.decompression": 64}))
    assert found["Swap"] > 1280 * 64


@pytest.mark.parametrize(("ways", "lines"), [(1, 1), (1, 16), (4, 1)])
def test_a_texture_cache_too_small_for_a_sample_is_a_deadlock_that_says_so(ways: int, lines: int) -> None:
    """A sample keeps its lines until it is read, and is read whole: what its set has no way for can never come."""
    with pytest.raises(DeadlockError, match=rf"texture\.ways = {ways} and texture\.lines = {lines} are too few"):
        outcome("texture twice", PAPER.with_values({"texture.ways": ways, "texture.lines": lines}))
