"""Does each box answer in exactly the cycle that its declared values give? Hand-worked, a few inputs for each kind.

Cycles are those in which an item can be read: sends of a script arrive in the cycle that stands there, outputs in the
cycle in which they leave plus the latency of the wire. The defaults are those of the paper's machine.
"""

from __future__ import annotations

from typing import Any

import pytest

from attila_bridge.function.work import InstructionWork
from attila_bridge.time.config import PAPER, AttilaConfig
from attila_bridge.time.netlist import Boxes
from attila_bridge.time.prepare import BatchPlan
from attila_bridge.time.texture_unit import TexturePipeline
from tests.attila.bench import Send, arrivals, plan, program
from tests.attila.scripts import (
    DRAW,
    EVICTED,
    FRAGMENT,
    FRAME,
    GROUP,
    MOV,
    MOV_END,
    ONE,
    PROCESSED,
    QUADS,
    STEPS,
    TRIANGLES,
    cycles,
    textured,
)

# --- streamer --------------------------------------------------------------------------------------------------------


def test_fetch_counts_an_index_a_cycle_as_far_as_the_loader_has_room() -> None:
    """Told in 11, it begins in 12: eight indices (streamer.request_queue) in 12 to 19. One is free again in 40."""
    found = arrivals(lambda boxes: boxes.fetch, [DRAW, (40, "loader_free", 1)], plan(indices=list(range(20))))
    assert cycles(found, "indices") == [13, 14, 15, 16, 17, 18, 19, 20, 41]


def test_fetch_reads_indices_in_pieces_of_64_bytes() -> None:
    """Four-byte indices: asked in 12; the answer is there in 40, and the first index leaves in that cycle."""
    answer: Send = (40, "memory_data", (False, 0, 64, 1, 0))
    found = arrivals(lambda boxes: boxes.fetch, [DRAW, answer], plan(indices=[7, 8, 9], index_bytes=4))
    assert cycles(found, "memory_request") == [13] and cycles(found, "indices") == [41, 42, 43]


def test_an_index_is_found_again_a_cycle_later() -> None:
    """The answer leaves in the cycle of the index; the tag is written a cycle later, before the next index is looked
    up."""
    sends: list[Send] = [DRAW, (21, "indices", (0, 5, 0, False)), (22, "indices", (0, 5, 1, False))]
    found = arrivals(lambda boxes: boxes.cache, [*sends, (23, "indices", (0, 6, 2, True))], plan())
    assert [(cycle, item[3]) for cycle, item in found["loader"]] == [(22, False), (23, True), (24, False)]
    assert cycles(found, "update") == [22, 24]


def test_the_loader_waits_for_a_line() -> None:
    """In 21; fetched in 22; asked in 23; the answer in 41 holds the bus for a cycle (64 bytes); the line is written in
    one cycle (64 bytes over 4 ports of 16) and read in 42; the vertex leaves in 43, the next one of the line a cycle
    later."""
    sends: list[Send] = [(21, "indices", (0, 0, 0, False, False)), (22, "indices", (0, 1, 1, False, False))]
    found = arrivals(lambda boxes: boxes.loader, [*sends, (41, "memory_data", (False, 0, 64, 1, 0))], plan())
    assert cycles(found, "memory_request") == [24]
    assert cycles(found, "vertex0") == [44] and cycles(found, "vertex1") == [45]


# --- assembly to traversal -------------------------------------------------------------------------------------------


def test_a_triangle_outside_leaves_its_place_to_the_next() -> None:
    outside = plan().triangles[0].__class__(3, 3, 1, 0.0)
    found = arrivals(lambda boxes: boxes.clipper, TRIANGLES, plan(triangles=(outside,)))
    assert found["output"] == [(28 + 2, -1)]


def test_traversal_descends_a_level_a_cycle_and_emits_two_steps() -> None:
    """The triangle comes in 21, the end in 22; the batch begins in 23. Three descents in 24, 25, 26: the scan tile that
    the third one finds is opened in 26. Four steps in 26 and 27, the end of the draw in 28."""
    deep = plan(batches=(BatchPlan(1, 3, ((0, 4, 3),)),), steps_inside=[(0, 0, 0, 0, 16)] * 4)
    found = arrivals(lambda boxes: boxes.traversal, TRIANGLES[:1] + TRIANGLES[3:], deep)
    assert found["steps"] == [(28, (0, 2)), (29, (2, 2)), (30, (-1, 1))]


def test_traversal_stops_while_hierarchical_z_is_busy() -> None:
    """Seen busy from 20 to 39: the step that could go in 24 goes in 40."""
    sends = [DRAW, (20, "ready", False), (40, "ready", True), *TRIANGLES[3:]]
    found = arrivals(lambda boxes: boxes.traversal, sends, plan())
    assert found["steps"] == [(41, (0, 1)), (42, (-1, 1))]


def test_quads_pass_hierarchical_z_in_the_cycle_they_come() -> None:
    """The end comes in 22, is found alone in 23, and follows."""
    assert arrivals(lambda boxes: boxes.hz, STEPS, plan())["quads"] == [(22, (0,)), (24, (-1,))]


def test_a_tested_quad_waits_for_the_maximum_of_its_block() -> None:
    """Looked up in 21, read in five cycles, tested in 26, sent in 27, and the end in 28."""
    found = arrivals(lambda boxes: boxes.hz, STEPS, plan(hierarchical=True))
    assert found["buffer"] == [(26, (0, -1))]
    assert found["quads"] == [(28, (0,)), (29, (-1,))]


@pytest.mark.parametrize(("told", "culled"), [(15, True), (20, True), (22, False)])
def test_a_maximum_counts_five_cycles_after_it_has_come(told: int, culled: bool) -> None:
    """A nearer maximum that has come in 20 is written in 25; the block is looked up in 21 and read in 26. One that
    comes in 22 is written in 27: the quad passes."""
    sends = [STEPS[0], (told, "maxima0", (0, 5)), *STEPS[1:]]
    found = arrivals(lambda boxes: boxes.hz, sends, plan(hierarchical=True, nearest=[9] * 64))
    assert [item for _, item in found["quads"]] == ([(-1,)] if culled else [(0,), (-1,)])


def test_interpolation_takes_four_cycles_and_one_for_four_attributes() -> None:
    for inputs, latency in ((1, 5), (4, 5), (5, 6), (16, 8)):
        sends: list[Send] = [(21, "quads", (0, [(0, 0)]), 4)]
        found = arrivals(lambda boxes: boxes.interpolator, sends, plan(fragment_inputs=inputs))
        assert cycles(found, "output") == [21 + latency + 1]


# --- fragment FIFO and shader ----------------------------------------------------------------------------------------


def test_each_queue_of_the_fifo_costs_a_cycle() -> None:
    """A quad comes in 21 and goes to the depth unit in 22; tested in 31, interpolated from 32; back in 41, it is given
    to its shader in 42; shaded in 61, it goes to the colour unit in 62. Each wire takes a cycle."""
    sends: list[Send] = [
        DRAW, (21, "quads", (0,), 4), (31, "tested0", 0, 4), (41, "interpolated", (0, [(0, 0)]), 4),
        (61, "output0", FRAGMENT, 4),
    ]  # fmt: skip
    found = arrivals(lambda boxes: boxes.fifo, sends, plan())
    ports = ("depth0", "interpolation", "input0", "color0")
    assert [cycles(found, port) for port in ports] == [[23], [33], [43], [63]]


def shaded(*sends: Send, config: AttilaConfig = PAPER, **changes: object) -> dict[str, list[tuple[int, Any]]]:
    return arrivals(lambda boxes: boxes.shaders[0], [*GROUP, *sends], plan(**changes), config=config)


def test_one_instruction_takes_its_latency() -> None:
    """Fetched in 21, decoded in 22, done in 26 (latency 3 + 1), told in 27; the output is on its way for one cycle of
    its transmission (two outputs a cycle) and three more."""
    assert cycles(shaded(), "output") == [22 + 4 + 1 + 1 + 3]
    three = shaded(fragment_program=program(outputs=3))
    assert cycles(three, "output") == [22 + 4 + 1 + 2 + 3]


def test_a_dependent_instruction_is_fetched_again_until_it_can_go() -> None:
    """r0 is written in 26. Its reader is decoded in 23 and 25, refused, and each time fetched again a cycle later; in
    27 it goes: 27 + 4 + 1 + 4."""
    found = shaded(fragment_program=program(MOV, MOV_END))
    assert cycles(found, "output") == [27 + 4 + 1 + 4]


def test_groups_share_the_issue_slot() -> None:
    """Three groups of one instruction: one is fetched a cycle, so they leave one after the other."""
    found = shaded((22, "groups", (1, 0, 1, ()), 4), (23, "groups", (1, 0, 2, ()), 4))
    assert cycles(found, "output") == [31, 32, 33]


def test_a_texture_read_blocks_its_group() -> None:
    """Decoded in 22, asked in that cycle; the data come in 60, the group is ready in 61 and reads on: decoded in 62."""
    read = InstructionWork(2, (), 256, 0, False)
    found = shaded((5, "ticket0", 1), (60, "result0", 0), fragment_program=program(read, MOV_END))
    assert cycles(found, "request0") == [23]
    assert cycles(found, "output") == [62 + 4 + 1 + 4]


# --- texture unit ----------------------------------------------------------------------------------------------------


def test_a_bilinear_read_that_misses() -> None:
    """Addresses from 22, for 6 + 1 cycles; fetched in 30, asked for from 31 on, 64 bytes a cycle. The last answer comes
    in 52; 4 cycles of decompression, 4 to write 256 bytes over 16 ports of 4: read in 60, filtered from 61 for 4 + 1,
    handed on in 67, sent in 68."""
    found = textured(ONE)
    assert cycles(found, "address") == [29] and cycles(found, "memory_request") == [32, 33, 34, 35]
    assert cycles(found, "filter") == [66] and cycles(found, "results") == [69]


def test_the_latency_of_a_read_counts_from_its_execution_in_the_shader() -> None:
    """Executed in 20, the result is sent in 68."""
    units: list[TexturePipeline] = []

    def pick(boxes: Boxes) -> TexturePipeline:
        units.append(boxes.textures[0][0])
        return units[-1]

    textured(ONE, pick=pick)
    assert units[-1].state.counts["TextureResultLatency"] == 68 - 20


def test_two_steps_take_a_cycle_more_in_each_stage() -> None:
    """Trilinear: addresses 6 + 2; the second step is read in 61; filtered from 62 for 4 + 2."""
    found = textured((*ONE, *ONE))
    assert cycles(found, "address") == [30]
    assert cycles(found, "filter") == [68] and cycles(found, "results") == [71]


# --- depth and colour units ------------------------------------------------------------------------------------------


def test_quads_pass_a_depth_unit_that_tests_nothing() -> None:
    """In 21, handed on in 22, sent in 23; the end, which came in 22, in 24."""
    found = arrivals(lambda boxes: boxes.depth[0], QUADS, plan())
    assert found["tested"] == [(24, 0), (25, -1)] and cycles(found, "ended") == [24 + 2]


def test_a_depth_test_of_a_clear_line() -> None:
    """In 21, fetched in 22; the line is clear, so no memory is asked: 8 cycles of decompression from 23, 8 to write 256
    bytes over a port of 32, read in 39; two cycles of arithmetic from 40; written in 43, sent in 44."""
    found = arrivals(lambda boxes: boxes.depth[0], QUADS, plan(tests=True))
    assert not found["memory_request"] and cycles(found, "alu_start") == [42]
    assert found["tested"] == [(45, 0), (46, -1)]


def test_colours_that_are_written_over_need_no_line() -> None:
    """In 21, a line in 22, arithmetic 23 to 25, written in 26, done in 27, the end in 28."""
    found = arrivals(lambda boxes: boxes.color[0], QUADS, plan())
    assert cycles(found, "alu_start") == [25] and cycles(found, "ended") == [28 + 2]


def test_the_swap_writes_lines_back_compressed() -> None:
    """Told in 60, heard in 61, begun in 62: 8 cycles to read the line, 8 to compress it, 64 bytes in 78; the piece
    holds the bus for a cycle, in 80 all is written and the states leave; a cycle for 1024 of them, the end in 81."""
    found = arrivals(lambda boxes: boxes.color[0], [*QUADS, (60, "command", ("swap", 0))], plan())
    assert [(cycle, item[:3]) for cycle, item in found["memory_request"]] == [(79, (True, 0, 64))]
    assert found["states"] == [(81, {0: 64})] and cycles(found, "ended")[1] == 81 + 2


def test_hierarchical_z_hears_of_a_line_when_it_leaves_the_cache() -> None:
    """The fifth quad, in 104, finds all four ways taken. Its line is fetched in 105; the old one is read from 106 on,
    for 8 cycles, and told in 114 over a wire of 4; 8 cycles of compression, and its only piece leaves in 122. Sixty of
    its words are what a buffer begins with that nobody clears."""
    sends = [DRAW, *((21 + 20 * step, "quads", 16 * step, 4) for step in range(4)), (104, "quads", 64, 4)]
    found = arrivals(lambda boxes: boxes.depth[0], sends, EVICTED, blocks=128)
    assert found["maxima"] == [(114 + 4, (0, 0xFFFFFF))] and cycles(found, "memory_request") == [122 + 1]


# --- memory, display, command processor ------------------------------------------------------------------------------


def test_the_display_waits_for_a_block_that_is_read() -> None:
    """The last states come in 22, a cycle of copy and two of commands: it begins in 25, asks for block 3 in 29. This
    comes in 50 and is done in 51, the 60 after it one a cycle; its end takes a wire of 2."""
    sends: list[Send] = [(21, "states0", {3: 64}), (22, "states1", {}), (50, "memory_data", (False, 768, 64, 7, 0))]
    found = arrivals(lambda boxes: boxes.display, sends, plan())
    assert cycles(found, "memory_request") == [30] and cycles(found, "ended") == [51 + 60 + 2]


def test_the_command_processor_goes_from_step_to_step() -> None:
    """Registers up to 10 (formula); a program is asked for in 10, comes in 80 and takes 64 / 8 cycles of the bus; the
    draw begins in 87. Its last fragment ends in 251, which is a cycle of its own, and the swap begins in 252."""
    found = arrivals(lambda boxes: boxes.processor, PROCESSED, plan(), steps=FRAME)
    assert cycles(found, "memory_request") == [11]
    assert {
        cycle for port in ("fetch_command", "fifo_command", "shader0_command") for cycle in cycles(found, port)
    } == {88}
    assert found["color0_command"] == [(88, ("draw", 0)), (253, ("swap", 0))]
