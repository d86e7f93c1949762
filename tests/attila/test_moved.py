"""Values of the whole configuration: each, moved by itself, changes a cycle or a count of a small scene."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from attila_bridge.time.config import PAPER
from pixelflow.simd.configuration import Value, leaves
from pixelflow.simd.errors import DeadlockError, InputError
from tests.attila.moved import BATCHES, outcome
from tests.attila.random_values import ending

SMALL_DEPTH = {"depth.lines": 2, "depth.ways": 2}
SMALL_COLOR = {"color.lines": 2, "color.ways": 2}
TWO_UNITS = {"texture.units": 2}

MOVED: Mapping[str, tuple[str, Value, Mapping[str, Value]]] = {
    "gpu.shaders": ("texture", 1, {}),
    "gpu.rops": ("texture", 1, {}),
    "gpu.vertex_ports": ("texture", 2, {}),
    "gpu.pipelined_draws": ("depths", False, {}),
    "command.ready_cycles": ("texture", 34, {}),
    "command.texture_cycles": ("texture", 8, {}),
    "command.index_cycles": ("mesh", 3, {}),
    "command.test_cycles": ("again and again", 2, {}),
    "command.blend_cycles": ("again and again", 2, {}),
    "command.padding": ("texture", 8, {}),
    "command.start_latency": ("texture", 3, {}),
    "command.end_latency": ("texture", 1, {}),
    "memory.channels": ("texture", 2, {}),
    "memory.bus_bits": ("texture", 32, {}),
    "memory.interleave": ("texture", 128, {}),
    "memory.read_latency": ("texture", 5, {}),
    "memory.write_latency": ("texture", 3, {}),
    "memory.write_to_read": ("texture", 3, {}),
    "memory.page_bytes": ("texture", 2048, {}),
    "memory.open_pages": ("sliver", 4, {}),
    "memory.page_open": ("texture twice", 10, {}),
    "memory.max_reads": ("depths", 8, {}),
    "memory.max_writes": ("texture", 8, {}),
    "memory.request_queue": ("texture", 32, {}),
    "memory.reserve": ("depths", 1, {}),
    "memory.service_queue": ("texture", 16, {}),
    "memory.read_buffers": ("texture", 16, {}),
    "memory.write_buffers": ("texture", 16, {}),
    "memory.command_bus": ("texture", 16, {}),
    "memory.fetch_bus": ("mesh", 32, {}),
    "memory.loader_bus": ("texture", 32, {}),
    "memory.depth_bus": ("again and again", 32, SMALL_DEPTH),
    "memory.color_bus": ("texture", 32, {}),
    "memory.display_bus": ("texture", 32, {}),
    "memory.texture_bus": ("texture", 32, {}),
    "streamer.index_buffer": ("mesh", 512, {}),
    "streamer.output_queue": ("mesh", 32, {}),
    "streamer.output_memory": ("mesh", 24, {}),
    "streamer.attributes_sent": ("texture", 2, {}),
    "streamer.request_queue": ("texture", 4, {}),
    "streamer.attributes": ("texture", 2, {}),
    "streamer.cache_lines": ("mesh", 8, {}),
    "streamer.cache_line": ("texture", 128, {}),
    "streamer.cache_port": ("texture", 8, {}),
    "streamer.cache_requests": ("texture", 2, {}),
    "streamer.cache_inputs": ("texture", 2, {}),
    "assembly.queue": ("texture", 4, {}),
    "assembly.bus_latency": ("texture", 5, {}),
    "clipper.start": ("again and again", 16, {}),
    "clipper.latency": ("texture", 3, {}),
    "clipper.buffer": ("small triangles", 2, {}),
    "setup.fifo": ("again and again", 6, {}),
    "setup.latency": ("texture", 5, {}),
    "setup.start": ("texture", 2, {}),
    "setup.input_latency": ("texture", 1, {}),
    "setup.output_latency": ("texture", 1, {}),
    "traversal.testers": ("corners", 1, {}),
    "traversal.recursive": ("texture", False, {}),
    "traversal.square": ("upright", True, {}),
    "traversal.queue": ("texture", 8, {}),
    "traversal.steps": ("texture", 1, {}),
    "traversal.scan_queue": ("depths", 1, {}),
    "hz.enabled": ("again and again", False, {}),
    "hz.cache_lines": ("depths", 2, {}),
    "hz.cache_line": ("again and again", 8, {}),
    "hz.queue": ("texture", 65, {}),
    "hz.access_latency": ("again and again", 2, {}),
    "hz.update_latency": ("depths", 2, SMALL_DEPTH),
    "hz.cleared": ("wide", 1, {}),
    "fifo.generated": ("texture", 64, {}),
    "fifo.tested": ("texture", 16, {}),
    "fifo.interpolated": ("texture", 8, {}),
    "fifo.shaded": ("texture", 32, {}),
    "fifo.shader_inputs": ("texture", 8, {}),
    "fifo.vertex_inputs": ("texture", 8, {}),
    "fifo.vertex_outputs": ("texture", 4, {}),
    "fifo.interpolators": ("texture twice", 1, {}),
    "fifo.interpolation_latency": ("texture", 2, {}),
    "fifo.vertex_wait": ("again and again", 500, {}),
    "shader.threads": ("texture", 56, {}),
    "shader.buffers": ("texture", 8, {}),
    "shader.registers": ("texture twice", 224, {}),
    "shader.thread_rate": ("texture", 8, {}),
    "shader.window": ("texture", False, {}),
    "shader.fetch_delay": ("texture", 1, BATCHES),
    "shader.output_delay": ("texture", 1, {}),
    "shader.output_latency": ("texture", 5, {}),
    "shader.results": ("texture twice", 1, {}),
    "shader.batch_wait": ("texture", 32, BATCHES),
    "texture.units": ("texture", 3, {}),
    "texture.request_rate": ("texture", 3, TWO_UNITS),
    "texture.request_group": ("texture", 32, TWO_UNITS),
    "texture.address_latency": ("texture", 3, {}),
    "texture.filter_latency": ("texture", 2, {}),
    "texture.request_queue": ("texture", 1, {}),
    "texture.access_queue": ("texture twice", 32, {}),
    "texture.wait_window": ("texture", 16, {}),
    "texture.line": ("texture", 128, {}),
    "texture.ways": ("texture twice", 2, {}),
    "texture.lines": ("texture twice", 8, {}),
    "texture.port": ("texture", 8, {}),
    "texture.cache_requests": ("texture twice", 2, {}),
    "texture.cache_inputs": ("texture twice", 2, {}),
    "texture.misses": ("texture twice", 3, {}),
    "texture.decompression": ("texture", 2, {}),
    "depth.input_queue": ("texture twice", 4, {}),
    "depth.fetch_queue": ("depths", 32, {}),
    "depth.read_queue": ("depths", 8, {}),
    "depth.op_queue": ("again and again", 2, {}),
    "depth.write_queue": ("texture", 4, {}),
    "depth.alu_rate": ("again and again", 3, {}),
    "depth.alu_latency": ("again and again", 1, {}),
    "depth.ways": ("depths", 2, {}),
    "depth.lines": ("depths", 8, {}),
    "depth.port": ("again and again", 16, {}),
    "depth.extra_read_port": ("again and again", False, SMALL_DEPTH),
    "depth.extra_write_port": ("again and again", False, {}),
    "depth.cache_requests": ("again and again", 1, SMALL_DEPTH),
    "depth.cache_inputs": ("again and again", 1, SMALL_DEPTH),
    "depth.cache_outputs": ("depths", 1, {"depth.lines": 1, "depth.compression": 64}),
    "depth.block_states": ("mesh", 131072, {}),
    "depth.cleared": ("mesh", 512, {}),
    "depth.compress": ("again and again", False, SMALL_DEPTH),
    "depth.compression": ("again and again", 4, SMALL_DEPTH),
    "depth.decompression": ("again and again", 4, {}),
    "color.input_queue": ("sliver", 4, {}),
    "color.fetch_queue": ("again and again", 16, {}),
    "color.read_queue": ("sliver", 8, {}),
    "color.op_queue": ("texture", 2, {}),
    "color.alu_rate": ("texture", 3, {}),
    "color.alu_latency": ("texture", 1, {}),
    "color.ways": ("depths", 2, {}),
    "color.lines": ("texture", 8, {}),
    "color.port": ("texture", 16, {}),
    "color.extra_read_port": ("again and again", False, SMALL_COLOR),
    "color.extra_write_port": ("blended", False, {}),
    "color.cache_requests": ("depths", 17, {}),
    "color.cache_inputs": ("blended", 1, SMALL_COLOR),
    "color.cache_outputs": ("texture", 4, {}),
    "color.block_states": ("texture", 131072, {}),
    "color.cleared": ("texture", 512, {}),
    "color.compress": ("small triangles", False, {}),
    "color.compression": ("texture", 4, {}),
    "color.decompression": ("again and again", 4, {}),
    "display.queue": ("sliver", 16, {}),
    "display.decompression": ("texture", 3, {}),
    "display.updated": ("wide", 512, {}),
}
"""The scene, the value that a key is moved to, and other values that its part needs to be under load."""

UNMOVED = {
    "texture.result_queue": "a result leaves in the cycle after it came, and one comes a cycle: it holds one at most",
    "color.write_queue": "a quad leaves in the cycle after it was written, and one is written a cycle: one at most",
}
"""Keys that change nothing as this machine is built, and why that follows."""


def test_every_value_is_moved_or_has_one_value() -> None:
    """One value alone is built of some; the buffer of hierarchical Z only says which frames fit."""
    several = {key for key, what, _, _ in leaves(PAPER) if len(what.allowed or (0, 1)) > 1}
    assert several == {*MOVED, *UNMOVED, "hz.blocks"}


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
    assert set(map(ending, range(6))) == {"done", "refused"}


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
