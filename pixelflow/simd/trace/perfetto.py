"""Perfetto traces (protobuf): everything that a `Trace` holds, for ui.perfetto.dev.

Time is cycle x clock period in nanoseconds; each event has its cycle as an integer argument too. Of a clock above
1 GHz no cycle has a separate nanosecond: time is in picoseconds then, which viewers show as nanoseconds, and the head
of the file says so. A span of no cycle is an instant. Texts are interned, so that an instruction costs its text once.
Needs the extra ``trace`` (perfetto).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO, TYPE_CHECKING

from pixelflow.simd.errors import InternalError
from pixelflow.simd.files import PACKET_BYTES
from pixelflow.simd.report import counted
from pixelflow.simd.trace.trace_model import (
    Category,
    Faults,
    FlowArrow,
    Label,
    Spans,
    Trace,
    TraceClock,
    Track,
    TrackKind,
    is_number,
)
from pixelflow.simd.trace.vcd import NUMBER_BITS, OPCODE_BITS

if TYPE_CHECKING:
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket, TrackEvent
    from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

_NANOSECONDS, _PICOSECONDS = 10**9, 10**12
"""Of a second; the first is Perfetto's unit of time."""

TIME_UNIT = ("nanosecond", "1 ps")
"""Remark about time in the head of a file whose unit is not a nanosecond."""

SEQUENCE = 1
"""All packets are of one sequence."""

HEADER_PROCESS = 1
"""The track to which all others belong; its number as a process, too."""


def units_per_second(clock: TraceClock) -> int:
    """Return how many of Perfetto's units of time are a second: enough that each cycle has a different one."""
    return _NANOSECONDS if clock.tells_apart(_NANOSECONDS) else _PICOSECONDS


def write_perfetto(trace: Trace, stream: IO[bytes]) -> None:
    """Write a trace."""
    from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

    _Writer(trace, StreamingTraceProtoBuilder(stream)).write()


_NO_SPANS = Spans([])


class _Writer:
    """One trace on its way into a file."""

    def __init__(self, trace: Trace, builder: StreamingTraceProtoBuilder) -> None:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos

        self._trace, self._builder, self._protos = trace, builder, protos
        self._uuids = {track: HEADER_PROCESS + 1 + n for n, track in enumerate(trace.tracks)}
        self._sources, self._targets = _flow_ends(trace.flows)
        self._units = units_per_second(trace.clock)
        self._names: dict[str, int] = {}
        self._categories: dict[str, int] = {}
        self._args: dict[str, int] = {}
        self._values: dict[str, int] = {}
        self._cycle = _number_in(self._args, "cycle")
        # In the order of their use, so that a trace that was read back gives the same bytes.
        used = dict.fromkeys(label for track in trace.tracks for label in trace.spans.get(track, _NO_SPANS).labels)
        self._begins = {label: self._template(trace.labels[label]) for label in used}

    def write(self) -> None:
        self._write_interned()
        self._write_process()
        for rank, (track, uuid) in enumerate(self._uuids.items()):
            self._describe(track, uuid, rank)
        for track, uuid in self._uuids.items():
            if track in self._trace.spans:
                self._write_spans(track, uuid, self._trace.spans[track])
            else:
                self._write_counter(track, uuid)

    # --- what comes first --------------------------------------------------------------------------------------

    def _write_interned(self) -> None:
        packet = self._packet(first=True)
        data = packet.interned_data
        for names, table in (
            (self._names, data.event_names),
            (self._categories, data.event_categories),
            (self._args, data.debug_annotation_names),
        ):
            for text, number in names.items():
                table.add(iid=number, name=text)
        for text, number in self._values.items():
            data.debug_annotation_string_values.add(iid=number, str=text.encode())
        self._builder.write_packet(packet)

    def _write_process(self) -> None:
        """Describe the node; its labels are the header of the trace."""
        packet = self._packet()
        descriptor = packet.track_descriptor
        descriptor.uuid = HEADER_PROCESS
        descriptor.child_ordering = descriptor.EXPLICIT
        descriptor.process.pid = HEADER_PROCESS
        descriptor.process.process_name = "PixelFlow node"
        legend = {**self._trace.legend, "events": str(self._trace.events)}
        if self._units != _NANOSECONDS:
            legend |= [TIME_UNIT]
        descriptor.process.process_labels.extend(f"{key}: {value}" for key, value in legend.items())
        self._builder.write_packet(packet)

    def _describe(self, track: Track, uuid: int, rank: int) -> None:
        packet = self._packet()
        descriptor = packet.track_descriptor
        descriptor.uuid, descriptor.parent_uuid = uuid, HEADER_PROCESS
        descriptor.name = track.name
        descriptor.sibling_order_rank = rank
        if track in self._trace.counters:
            descriptor.counter.unit_name = self._trace.counters[track].unit
        self._builder.write_packet(packet)

    # --- events ------------------------------------------------------------------------------------------------

    def _write_spans(self, track: Track, uuid: int, spans: Spans) -> None:
        open_ends: list[int] = []
        sources, targets = self._sources.get(track, {}), self._targets.get(track, {})
        for row, (start, end, label) in enumerate(zip(spans.starts, spans.ends, spans.labels, strict=True)):
            while open_ends and open_ends[-1] <= start:
                self._write_end(uuid, open_ends.pop())
            packet = self._event(uuid, start)
            event = packet.track_event
            event.MergeFrom(self._begins[label])
            event.type = event.TYPE_SLICE_BEGIN if end > start else event.TYPE_INSTANT
            event.debug_annotations.add(name_iid=self._cycle, int_value=start)
            if row in sources:
                event.flow_ids.extend(sources[row])
            if row in targets:
                event.terminating_flow_ids.extend(targets[row])
            self._builder.write_packet(packet)
            if end > start:
                open_ends.append(end)
        while open_ends:
            self._write_end(uuid, open_ends.pop())

    def _write_end(self, uuid: int, cycle: int) -> None:
        packet = self._event(uuid, cycle)
        packet.track_event.type = packet.track_event.TYPE_SLICE_END
        self._builder.write_packet(packet)

    def _write_counter(self, track: Track, uuid: int) -> None:
        counter = self._trace.counters[track]
        for cycle, value in zip(counter.cycles, counter.values, strict=True):
            packet = self._event(uuid, cycle)
            event = packet.track_event
            event.type = event.TYPE_COUNTER
            event.counter_value = value
            event.debug_annotations.add(name_iid=self._cycle, int_value=cycle)
            self._builder.write_packet(packet)

    def _event(self, uuid: int, cycle: int) -> TracePacket:
        packet = self._packet()
        packet.timestamp = self._trace.clock.ticks(cycle, self._units)
        packet.track_event.track_uuid = uuid
        return packet

    def _packet(self, *, first: bool = False) -> TracePacket:
        packet = self._builder.create_packet()
        packet.trusted_packet_sequence_id = SEQUENCE
        packet.sequence_flags = packet.SEQ_INCREMENTAL_STATE_CLEARED if first else packet.SEQ_NEEDS_INCREMENTAL_STATE
        return packet

    def _template(self, label: Label) -> TrackEvent:
        """Return what the events of a label have in common."""
        event = self._protos.TrackEvent(
            name_iid=_number_in(self._names, label.name),
            category_iids=[_number_in(self._categories, label.category.value)],
        )
        for name, value in label.args:
            annotation = event.debug_annotations.add(name_iid=_number_in(self._args, name))
            if isinstance(value, int):
                annotation.int_value = value
            else:
                annotation.string_value_iid = _number_in(self._values, value)
        return event


def _number_in(table: dict[str, int], text: str) -> int:
    """Return the number of a text in a table of interned texts; numbers count from 1."""
    return table.setdefault(text, len(table) + 1)


def _flow_ends(flows: list[FlowArrow]) -> tuple[dict[Track, dict[int, list[int]]], dict[Track, dict[int, list[int]]]]:
    """Return the numbers of the arrows that begin, and that end, at each row of each track."""
    sources: dict[Track, dict[int, list[int]]] = {}
    targets: dict[Track, dict[int, list[int]]] = {}
    for number, flow in enumerate(flows, 1):
        sources.setdefault(flow.source, {}).setdefault(flow.source_row, []).append(number)
        targets.setdefault(flow.target, {}).setdefault(flow.target_row, []).append(number)
    return sources, targets


# Perfetto traces read back into a `Trace`, and checked strictly on the way. Needs the extra ``trace`` (perfetto).


HELD_BYTES = 256 << 20
"""A trace is held whole, which takes some five times its bytes."""
_PACKET = 0x0A
"""The tag of a packet: field 1, of a given length."""


def read_perfetto(stream: IO[bytes], name: str) -> Trace:
    """Return the trace that `write_perfetto` wrote; raises InputError with the first faults."""
    faults = Faults(name)
    reader = _Reader(faults)
    for offset, packet in _packets(stream, faults):
        try:
            reader.take(offset, packet)
        except (TypeError, ValueError, OverflowError):  # texts that are not UTF-8, names and numbers out of range
            faults.byte(offset, "a packet with a value that no trace has")
    trace = reader.finish()
    faults.check()
    return trace


def _packets(stream: IO[bytes], faults: Faults) -> Iterator[tuple[int, protos.TracePacket]]:
    """Cut the file into packets, each with the byte where it begins."""
    from google.protobuf.message import DecodeError
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket

    offset = 0
    while tag := stream.read(1):
        if tag[0] != _PACKET:
            faults.byte(offset, f"expected a packet, found {tag[0]:#04x}; not a Perfetto trace, or damaged")
            return
        size, digits = _varint(stream)
        if size is not None and size > PACKET_BYTES:
            faults.byte(offset, f"a packet of {size} bytes; the largest has {PACKET_BYTES >> 20} MiB")
            return
        body = b"" if size is None else stream.read(size)
        if size is None or len(body) < size:
            faults.byte(offset, "the file ends inside a packet")
            return
        try:
            yield offset, TracePacket.FromString(body)
        except DecodeError:
            faults.byte(offset, "a packet that cannot be decoded")
        offset += 1 + digits + size
        if offset > HELD_BYTES:
            faults.byte(offset, f"a trace of more than {HELD_BYTES >> 20} MiB, which is not held whole")
            return


def _varint(stream: IO[bytes]) -> tuple[int | None, int]:
    """Return a number and how many bytes it took; None where the file ends inside it or it has too many."""
    value = 0
    for digits in range(10):
        byte = stream.read(1)
        if not byte:
            return None, digits
        value |= (byte[0] & 0x7F) << (7 * digits)
        if byte[0] < 0x80:
            return value, digits + 1
    return None, 10


_COUNTS = range(1 << NUMBER_BITS)
_OF_INSTRUCTIONS = ("uPC", "opcode")
_NUMBERS = {"uPC": _COUNTS, "opcode": range(1 << OPCODE_BITS), "amount": _COUNTS, "depth": _COUNTS}
"""Arguments that are numbers in every format, and how large ones."""


class _Reader:
    """Takes packets, and keeps their contents so far."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._header: Trace | None = None
        self._events = 0
        """How many the header says there are."""
        self._texts: dict[str, dict[int, str]] = {}
        self._tracks: dict[int, Track] = {}
        self._open: dict[int, list[int]] = {}
        """For each track, the rows of its spans that have no end yet."""
        self._last: dict[int, int] = {}
        """For each track, the cycle of its last event."""
        self._sources: dict[int, tuple[Track, int]] = {}
        self._targets: dict[int, tuple[int, Track, int]] = {}

    @property
    def _trace(self) -> Trace:
        """The trace; there are tracks and events only once its header is known."""
        if self._header is None:
            raise InternalError("an event before the header of the trace")
        return self._header

    def take(self, offset: int, packet: protos.TracePacket) -> None:
        if packet.trusted_packet_sequence_id != SEQUENCE:
            self._faults.byte(offset, f"a packet of sequence {packet.trusted_packet_sequence_id}: not from this tool")
        elif packet.HasField("interned_data"):
            self._take_texts(packet.interned_data)
        elif not self._texts:
            self._faults.byte(offset, "a packet before the interned texts")
        elif packet.HasField("track_descriptor"):
            self._take_track(offset, packet.track_descriptor)
        elif packet.HasField("track_event"):
            self._take_event(offset, packet)
        else:
            self._faults.byte(offset, "a packet that is neither a track nor an event")

    def finish(self) -> Trace:
        """Return the trace; what is still open is a fault."""
        for uuid, rows in self._open.items():
            if rows:
                self._faults.end(f"{len(rows)} spans of {self._tracks[uuid].name} have no end")
        for number in sorted(self._sources.keys() ^ self._targets.keys()):
            self._faults.end(f"arrow {number} has only one end")
        if self._header is None:
            self._faults.end("no process with the header of the trace")
            return Trace(TraceClock(1))
        if self._trace.events != self._events:
            self._faults.end(
                f"{counted(self._trace.events, 'event')}, the header says {self._events}: the file is cut off"
            )
        for number in sorted(self._sources.keys() & self._targets.keys()):
            offset, track, row = self._targets[number]
            source = self._sources[number]
            if self._start(*source) > self._start(track, row):
                self._faults.byte(offset, f"arrow {number} ends before it begins")
            self._trace.flows.append(FlowArrow(*source, track, row))
        return self._trace

    def _start(self, track: Track, row: int) -> int:
        return self._trace.spans[track].starts[row]

    # --- what comes first --------------------------------------------------------------------------------------

    def _take_texts(self, data: protos.InternedData) -> None:
        self._texts = {
            "name": {each.iid: each.name for each in data.event_names},
            "category": {each.iid: each.name for each in data.event_categories},
            "argument": {each.iid: each.name for each in data.debug_annotation_names},
            "text": {each.iid: each.str.decode(errors="replace") for each in data.debug_annotation_string_values},
        }

    def _take_track(self, offset: int, descriptor: protos.TrackDescriptor) -> None:
        if descriptor.HasField("process"):
            self._take_header(offset, descriptor)
        elif self._header is None or descriptor.parent_uuid != HEADER_PROCESS:
            self._faults.byte(offset, f"track {descriptor.name!r} does not belong to the node")
        elif descriptor.uuid in self._tracks:
            self._faults.byte(offset, f"two tracks have the number {descriptor.uuid}")
        else:
            track = Track.named(descriptor.name)
            if track.kind is TrackKind.STREAM and track.of not in self._trace.streams:
                self._faults.byte(offset, f"the header names no stream {track.of}")
            self._tracks[descriptor.uuid] = track
            if descriptor.HasField("counter"):
                self._trace.counter(track, descriptor.counter.unit_name)
            else:
                self._trace.track(track)

    def _take_header(self, offset: int, descriptor: protos.TrackDescriptor) -> None:
        header = dict(label.partition(": ")[::2] for label in descriptor.process.process_labels)
        header.pop(TIME_UNIT[0], None)
        numbers = [header.pop(key, "") for key in ("clock_mhz", "begin", "end", "events")]
        if not all(is_number(number) for number in numbers) or numbers[0] == "0":
            self._faults.byte(offset, "the header lacks clock_mhz, begin, end or events: not from this tool")
            numbers = ["1", "0", "0", "0"]
        mhz, begin, end, self._events = map(int, numbers)
        self._header = Trace(TraceClock(mhz), header, begin, end)

    # --- events ------------------------------------------------------------------------------------------------

    def _take_event(self, offset: int, packet: protos.TracePacket) -> None:
        event = packet.track_event
        uuid = event.track_uuid
        if uuid not in self._tracks:
            self._faults.byte(offset, f"an event of track {uuid}, which is not described")
            return
        units = units_per_second(self._trace.clock)
        cycle = self._trace.clock.cycle(packet.timestamp, units)
        if self._trace.clock.ticks(cycle, units) != packet.timestamp:
            self._faults.byte(offset, f"time {packet.timestamp} is not the beginning of a cycle")
        if cycle < self._last.get(uuid, 0):
            self._faults.byte(offset, f"{self._tracks[uuid].name} goes back from cycle {self._last[uuid]} to {cycle}")
        if not self._trace.begin <= cycle <= self._trace.end:
            self._faults.byte(offset, f"cycle {cycle} is not in the trace, {self._trace.begin} to {self._trace.end}")
        self._last[uuid] = cycle
        track = self._tracks[uuid]
        if event.type == event.TYPE_COUNTER:
            self._take_value(offset, track, cycle, event)
        elif track not in self._trace.spans:
            self._faults.byte(offset, f"a span on the counter {track.name}")
        elif event.type == event.TYPE_SLICE_END:
            self._end_span(offset, uuid, cycle)
        else:
            self._begin_span(offset, uuid, cycle, event)

    def _take_value(self, offset: int, track: Track, cycle: int, event: protos.TrackEvent) -> None:
        if track not in self._trace.counters:
            self._faults.byte(offset, f"a counter value on {track.name}, which has spans")
            return
        if event.counter_value not in _COUNTS:
            self._faults.byte(offset, f"{track.name} counts up to {len(_COUNTS) - 1}, found {event.counter_value}")
        self._trace.counters[track].set(cycle, event.counter_value)

    def _end_span(self, offset: int, uuid: int, cycle: int) -> None:
        rows, spans = self._open.get(uuid), self._trace.spans[self._tracks[uuid]]
        if not rows:
            self._faults.byte(offset, f"an end on {self._tracks[uuid].name} where no span is open")
            return
        row = rows.pop()
        if cycle == spans.starts[row]:
            self._faults.byte(offset, "a span of no cycle that is not an instant")
        spans.ends[row] = cycle

    def _begin_span(self, offset: int, uuid: int, cycle: int, event: protos.TrackEvent) -> None:
        track, kind = self._tracks[uuid], event.type
        spans = self._trace.spans[track]
        if kind not in (event.TYPE_SLICE_BEGIN, event.TYPE_INSTANT):
            self._faults.byte(offset, f"an event of type {kind}")
            return
        if self._open.get(uuid) and track.kind is not TrackKind.ROUTINES:
            self._faults.byte(offset, f"{track.name}: two spans at once")
        annotations = list(event.debug_annotations)
        if not annotations or annotations[-1].int_value != cycle:
            self._faults.byte(offset, f"the cycle of the event is not that of its time, {cycle}")
        label = self._label(offset, event, annotations)
        if track.kind is TrackKind.STREAM:
            for name in _OF_INSTRUCTIONS:
                if self._trace.labels[label].arg(name) is None:
                    self._faults.byte(offset, f"an instruction without its {name}")
        row = spans.add(cycle, cycle, label)
        if kind == event.TYPE_SLICE_BEGIN:
            self._open.setdefault(uuid, []).append(row)
        for number in event.flow_ids:
            self._sources[number] = (track, row)
        for number in event.terminating_flow_ids:
            self._targets[number] = (offset, track, row)

    def _label(self, offset: int, event: protos.TrackEvent, annotations: Sequence[protos.DebugAnnotation]) -> int:
        """Return the label of an event. Its last argument is the cycle, which is not a part of the label."""
        args: list[tuple[str, int | str]] = []
        for annotation in annotations[:-1]:
            name = self._text(offset, "argument", annotation.name_iid)
            number = annotation.HasField("int_value")
            value = annotation.int_value if number else self._text(offset, "text", annotation.string_value_iid)
            if name in _NUMBERS and not (number and value in _NUMBERS[name]):
                self._faults.byte(offset, f"{name} is a number below {len(_NUMBERS[name])}, found {value!r}")
            args.append((name, value))
        name = self._text(offset, "name", event.name_iid)
        category = self._text(offset, "category", event.category_iids[0] if event.category_iids else 0)
        try:
            return self._trace.label(Label(name, Category(category), tuple(args)))
        except ValueError:
            self._faults.byte(offset, f"category {category!r} is not one of this tool")
            return self._trace.label(Label(name, Category.EXECUTE, tuple(args)))

    def _text(self, offset: int, kind: str, number: int) -> str:
        found = self._texts[kind].get(number)
        if found is None:
            self._faults.byte(offset, f"{kind} {number} is not among the interned texts")
        return found or ""
