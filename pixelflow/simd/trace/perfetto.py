"""Perfetto traces (protobuf): everything that a `Trace` holds, for ui.perfetto.dev.

Time is cycle x clock period in nanoseconds; each event has its cycle as an integer argument too. Of a clock above
1 GHz no cycle has a nanosecond of its own: time is in picoseconds then, which viewers show as nanoseconds, and the head
of the file says so. A span of no cycle is an instant. Texts are interned, so that an instruction costs its text once.
Needs the extra ``trace`` (perfetto).
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from pixelflow.simd.trace.model import FlowArrow, Label, Spans, Trace, TraceClock, Track

if TYPE_CHECKING:
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket, TrackEvent
    from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

__all__ = ["HEADER_PROCESS", "SEQUENCE", "TIME_UNIT", "units_per_second", "write_perfetto"]

_NANOSECONDS, _PICOSECONDS = 10**9, 10**12
"""Of a second; the first is Perfetto's unit of time."""

TIME_UNIT = ("nanosecond", "1 ps")
"""What the head of a file says of time where a nanosecond is none."""

SEQUENCE = 1
"""All packets are of one sequence."""

HEADER_PROCESS = 1
"""The track to which all others belong; its number as a process, too."""


def units_per_second(clock: TraceClock) -> int:
    """Return how many of Perfetto's units of time stand for a second: enough that each cycle has one of its own."""
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
        self._texts = _Texts()
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
            (self._texts.names, data.event_names),
            (self._texts.categories, data.event_categories),
            (self._texts.args, data.debug_annotation_names),
        ):
            for text, number in names.items():
                table.add(iid=number, name=text)
        for text, number in self._texts.values.items():
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
            event.debug_annotations.add(name_iid=self._texts.cycle, int_value=start)
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
            event.debug_annotations.add(name_iid=self._texts.cycle, int_value=cycle)
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
            name_iid=number_in(self._texts.names, label.name),
            category_iids=[number_in(self._texts.categories, label.category.value)],
        )
        for name, value in label.args:
            annotation = event.debug_annotations.add(name_iid=number_in(self._texts.args, name))
            if isinstance(value, int):
                annotation.int_value = value
            else:
                annotation.string_value_iid = number_in(self._texts.values, value)
        return event


class _Texts:
    """The texts of a trace by what they are, each with the number that stands for it."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.categories: dict[str, int] = {}
        self.args: dict[str, int] = {}
        self.values: dict[str, int] = {}
        self.cycle = number_in(self.args, "cycle")


def number_in(table: dict[str, int], text: str) -> int:
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
