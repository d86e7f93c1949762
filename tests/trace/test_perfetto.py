"""Does a Perfetto trace hold everything, in the terms of its own protobuf, and is a damaged one refused?"""

import io

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace as Message

from microcode import assemble
from pixelflow.config import TINY
from pixelflow.isa import Program
from pixelflow.node import Node
from pixelflow.simd.errors import InputError
from pixelflow.simd.trace.perfetto import read_perfetto
from tests.trace.runs import PING_PONG, account, checked, exchanges, listen, traced, written


@pytest.mark.parametrize(
    "program",
    [*map(exchanges, range(3)), "CALL both\nroutine both()\nSIGNAL 3\nWAIT 3\nend"],
    ids=["exchange 0", "exchange 1", "exchange 2", "a signal that is taken in its cycle"],
)
def test_nothing_is_lost_on_the_way_through_a_file(program: Program | str) -> None:
    trace = traced(program).trace
    back = read_perfetto(io.BytesIO(written(trace, "perfetto")), "t")
    assert back.legend == trace.legend
    assert {track: list(spans) for track, spans in back.spans.items()} == {
        track: list(spans) for track, spans in trace.spans.items()
    }
    assert set(back.flows) == set(trace.flows)
    assert {t: (c.unit, c.cycles, c.values) for t, c in back.counters.items()} == {
        t: (c.unit, c.cycles, c.values) for t, c in trace.counters.items()
    }


def test_the_protobuf_classes_read_the_account_in_nanoseconds() -> None:
    """Read without any code of ours: 10 ns for each cycle, names by their numbers."""
    seen = traced(exchanges(4))
    message = Message.FromString(written(seen.trace, "perfetto"))
    texts = message.packet[0].interned_data
    names = {each.iid: each.name for each in texts.event_names}
    categories = {each.iid: each.name for each in texts.event_categories}
    args = {each.iid: each.name for each in texts.debug_annotation_names}
    tracks = {
        p.track_descriptor.uuid: p.track_descriptor.name for p in message.packet if p.HasField("track_descriptor")
    }
    totals: dict[str, dict[str, int]] = {}
    begun: dict[int, list] = {}
    for packet in message.packet:
        event = packet.track_event
        if not packet.HasField("track_event") or event.type not in (event.TYPE_SLICE_BEGIN, event.TYPE_SLICE_END):
            continue
        if event.type == event.TYPE_SLICE_BEGIN:
            assert args[event.debug_annotations[-1].name_iid] == "cycle"
            assert event.debug_annotations[-1].int_value * 10 == packet.timestamp
            begun.setdefault(event.track_uuid, []).append((packet.timestamp, event))
            continue
        start, first = begun[event.track_uuid].pop()
        waits = categories[first.category_iids[0]] in ("wait", "stall")
        heading = names[first.name_iid] if waits else "busy"
        cycles = totals.setdefault(tracks[event.track_uuid], {})
        cycles[heading] = cycles.get(heading, 0) + packet.timestamp - start
    expected = {
        track: {what: 10 * count for what, count in cycles.items()} for track, cycles in account(seen.run).items()
    }
    assert {track: totals[track] for track in expected} == expected


def test_what_a_person_sees_of_an_instruction() -> None:
    trace = traced(assemble("LD R, #7\nCALL more\nroutine more()\n    ADD R, #1\nend\n")).trace
    (spans,) = [spans for track, spans in trace.spans.items() if track.name == "eigc"]
    add = next(span.label for span in spans if span.label.name == "ADD R, #1")
    assert dict(add.args) == {"uPC": add.arg("uPC"), "opcode": add.arg("opcode"), "src": "<text>:4", "routine": "more"}


def test_other_clocks_are_exact_too() -> None:
    program = assemble(PING_PONG)
    node = Node(TINY)
    tracer = listen(node.bus, mhz=133)
    run = node.run(program)
    found = checked(written(tracer.trace, "perfetto"), "perfetto")
    assert (found.end, found.totals["eigc"]["busy"]) == (run.total_cycles, run.busy)


def test_a_clock_without_whole_nanoseconds_has_picoseconds() -> None:
    tracer = listen((node := Node(TINY)).bus, mhz=1350)
    run = node.run(assemble(PING_PONG))
    data = written(tracer.trace, "perfetto")
    found = checked(data, "perfetto")
    assert (found.end, found.totals["eigc"]["busy"]) == (run.total_cycles, run.busy)
    times = [packet.timestamp for packet in packets(data) if packet.HasField("track_event")]
    # A cycle is 740.74 ps: the last event is in the last cycle or at its end.
    assert max(times) in {cycle * 10**6 // 1350 for cycle in (run.total_cycles - 1, run.total_cycles)}
    assert b"nanosecond: 1 ps" in data


def packets(data: bytes) -> list:
    return list(Message.FromString(data).packet)


def joined(packets: list) -> bytes:
    return Message(packet=packets).SerializeToString()


def is_end(packet: object) -> bool:
    return packet.track_event.type == packet.track_event.TYPE_SLICE_END


def without_an_end(packets: list) -> list:
    last = max(at for at, packet in enumerate(packets) if is_end(packet))
    return packets[:last] + packets[last + 1 :]


def backwards(packets: list) -> list:
    ends = (at for at, packet in enumerate(packets) if is_end(packet))
    at = next(at for at in ends if packets[at - 1].timestamp > 0)
    packets[at].timestamp = packets[at - 1].timestamp - 10
    return packets


def between_cycles(packets: list) -> list:
    ends = [packet for packet in packets if is_end(packet)]
    ends[0].timestamp += 3
    return packets


def without_texts(packets: list) -> list:
    del packets[0].interned_data.event_names[0]
    return packets


def half_an_arrow(packets: list) -> list:
    for packet in packets:
        if packet.HasField("track_event"):
            del packet.track_event.terminating_flow_ids[:]
    return packets


def another_tool(packets: list) -> list:
    for packet in packets:
        packet.trusted_packet_sequence_id = 77
    return packets


def a_wrong_cycle(packets: list) -> list:
    begin = next(packet for packet in packets if packet.track_event.type == packet.track_event.TYPE_SLICE_BEGIN)
    begin.track_event.debug_annotations[-1].int_value += 1
    return packets


def an_unheard_stream(packets: list) -> list:
    track = next(packet for packet in packets if packet.track_descriptor.name == "eigc")
    track.track_descriptor.name = "eigb"
    return packets


def an_address_in_words(packets: list) -> list:
    address = next(each.iid for each in packets[0].interned_data.debug_annotation_names if each.name == "uPC")
    for packet in packets:
        for annotation in packet.track_event.debug_annotations:
            if annotation.name_iid == address:
                annotation.string_value_iid = packets[0].interned_data.debug_annotation_string_values[0].iid
    return packets


def without_addresses(packets: list) -> list:
    names = packets[0].interned_data.debug_annotation_names
    next(each for each in names if each.name == "uPC").name = "uPD"
    return packets


DAMAGES = {
    without_an_end: "have no end",
    backwards: "goes back from cycle",
    between_cycles: "is not the beginning of a cycle",
    without_texts: "is not among the interned texts",
    half_an_arrow: "has only one end",
    another_tool: "not from this tool",
    a_wrong_cycle: "is not that of its time",
    an_address_in_words: "uPC is a number below 4294967296, found",
    without_addresses: "an instruction without its uPC",
    an_unheard_stream: "the header names no stream eigb",
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_wrong_trace_is_refused(damage: object) -> None:
    good = written(traced(PING_PONG).trace, "perfetto")
    checked(joined(packets(good)), "perfetto")
    with pytest.raises(InputError, match=DAMAGES[damage]):
        checked(joined(damage(packets(good))), "perfetto")


def test_a_trace_that_is_cut_off_anywhere_is_refused() -> None:
    good = written(traced("LD R, #1\n").trace, "perfetto")
    for size in range(len(good)):
        with pytest.raises(InputError):
            checked(good[:size], "perfetto")


def test_a_fault_says_at_which_byte() -> None:
    good = written(traced("LD R, #1\n").trace, "perfetto")
    with pytest.raises(InputError, match=rf"byte {len(good)}: expected a packet, found 0x07"):
        checked(good + b"\x07", "perfetto")
