"""Texture unit: addresses, fetch from the cache, a window for missing lines, read, filter."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from attila_bridge.statistics import Counts
from attila_bridge.time.caches import REMEMBERED, LineFill, Tags
from attila_bridge.time.config import TexturingConfig
from attila_bridge.time.gpu_box import GpuBox, GpuBoxState
from pixelflow.simd.errors import DeadlockError
from pixelflow.simd.units import Cycle

Lines = tuple[tuple[int, int, int], ...]
"""Lines, the number of texels in each, and the place of the last one."""

Steps = tuple[Lines, ...]
"""Bilinear steps of a sample."""


class _Sample:
    """One sample of an access."""

    __slots__ = ("access", "lines", "missing", "read", "steps")

    def __init__(self, access: int, steps: Steps) -> None:
        self.access = access
        self.steps = steps
        self.lines: list[list[tuple[int, int, int]]] = []
        """Of each step fetched: places of last texels, lines of the cache and numbers of texels."""
        self.missing: set[int] = set()
        """Blocks that have not arrived."""
        self.read = 0


class _Access:
    """Texture read of a quad."""

    __slots__ = ("addressed", "began", "calculated", "fetching", "filtered", "left", "samples", "slot")

    def __init__(self, slot: int, samples: list[_Sample], began: int) -> None:
        self.slot = slot
        self.samples = samples
        self.began = began
        self.addressed = 0
        """Samples whose address calculation has begun."""
        self.calculated = False
        self.fetching = 0
        """Number of the sample being fetched."""
        self.left: Lines | None = None
        """Lines of its present step that are still to be fetched."""
        self.filtered = 0


@dataclass
class TexturePipelineState(GpuBoxState):
    """State of a texture unit."""

    tags: Tags
    fill: LineFill
    tickets: int = 0
    requests: deque[tuple[int, int, int, int, int]] = field(default_factory=deque)
    accesses: dict[int, _Access] = field(default_factory=dict)
    number: int = 0
    addressing: deque[int] = field(default_factory=deque)
    fetching: deque[int] = field(default_factory=deque)
    waiting: list[_Sample] = field(default_factory=list)
    crowded: bool = False
    """True if samples of the window with all of their lines found no room to be read."""
    reading: deque[_Sample] = field(default_factory=deque)
    to_filter: deque[_Sample] = field(default_factory=deque)
    in_filter: int = 0
    filtered: deque[int] = field(default_factory=deque)
    results: deque[tuple[int, int]] = field(default_factory=deque)
    next_address: int = 0
    next_filter: int = 0
    refused: tuple[int, ...] = ()
    """A fetch that is refused until a line arrives or is read: failures by reserved lines, requests and the limit, and
    turns of the first way."""


class TexturePipeline(GpuBox[TexturePipelineState]):
    """Takes requests for which it gave tickets, and processes at most a bilinear step a cycle."""

    section, suffix, label = "texture", "TU", "texture"
    config: TexturingConfig
    memory_bus = "texture_bus"
    inputs = ("requests", "memory_data", "memory_state", "addressed", "filter_end")
    outputs = ("results", "tickets", "memory_request", "address", "filter")
    shown = (
        *(("req", "requests", "request_queue"), ("acc", "accesses", "access_queue")),
        *(("wait", "waiting", "wait_window"), ("res", "results", "result_queue")),
    )

    def begin(self, counts: Counts) -> TexturePipelineState:
        """Return the state with an empty cache."""
        config = self.config
        tags = Tags(config.ways, config.lines, config.cache_requests)
        write = -(-config.line // (16 * config.port))
        fill = LineFill(tags, config.line, config.cache_inputs, self.client, config.decompression, write)
        return TexturePipelineState(counts, tags, fill, awake=True, skipped={"FetchStallFetch": 1})

    def wired(self) -> None:
        """Keep the wires used in every cycle."""
        wires = self.wires
        self._requests, self._results, self._tickets = wires["requests"], wires["results"], wires["tickets"]
        self._data, self._memory_request = wires["memory_data"], wires["memory_request"]
        self._memory_state = self.level("memory_state")
        self._address_start, self._address_end = wires["address"], wires["addressed"]
        self._filter_start, self._filter_end = wires["filter"], wires["filter_end"]

    def why_blocked(self) -> str | None:
        """Begun accesses have to be answered."""
        return "waits for lines" if self.state.accesses or self.state.results else None

    def tick(self, cycle: Cycle) -> None:
        """Advance lines, then every access, the last stage first; accesses that wait for lines sleep meanwhile."""
        s, counts, config = self.state, self.state.counts, self.config
        filled = self._lines(cycle)
        arriving = self._requests.waiting or self._address_end.waiting or self._filter_end.waiting
        if not s.awake and filled < 0 and not arriving:
            s.wake = s.fill.next_step(cycle, self._memory_state.seen)
            return
        if s.skipped:
            self._wake(cycle)
        s.cycle = cycle
        sent_before = len(self._results.fresh)
        if filled >= 0:
            self._filled(filled)
        elif s.crowded:
            self._search_window()
        arrived = self._requests.waiting
        while arrived and arrived[0][0] <= cycle:
            s.requests.append(arrived.popleft()[3])
            s.tickets -= 1
            counts["TextureRequests"] += 1
        if s.accesses or s.results:
            self._stages(cycle)
        else:
            counts["FetchStallFetch"] += 1
        if s.requests and len(s.accesses) < config.access_queue:
            self._accept(cycle)
        if len(s.requests) + s.tickets < config.request_queue:
            self._tickets.send(cycle, 1)
            s.tickets += 1
        if s.results:
            counts["ResultQueueOccupation"] += len(s.results)
        if s.accesses:
            counts["ReadyReadQueueOccupation"] += len(s.reading)
            counts["WaitReadWindowOccupation"] += len(s.waiting)
            counts["AccessQueueOccupation"] += len(s.addressing) + len(s.fetching)
            counts["RequestQueueOccupation"] += len(s.requests)
            s.awake = True
            if len(self._results.fresh) == sent_before:
                self._stall(cycle)
        else:
            s.awake = bool(s.results or s.requests or s.tickets < config.request_queue)
            if not s.awake:
                self._sleep_until_filled(cycle, {"FetchStallFetch": 1})

    def _lines(self, cycle: Cycle) -> int:
        """Advance the lines of the cache; return the block that entered it, -1 if none."""
        s, counts, data = self.state, self.state.counts, self._data.waiting
        fill, accepts = s.fill, self._memory_state.value(cycle)
        if data and data[0][0] <= cycle:
            answer = data.popleft()[3]
            counts["MemoryRequestLatency"] += fill.answered(cycle, answer, self.spec.clients[0].width)
            counts["MemoryRequests"] += 1
            counts["ReadBytesMemory"] += answer[2]
        if not s.tags.outstanding:
            return -1
        sent = fill.step(cycle, accepts)
        if sent is not None:
            self._memory_request.send(cycle, sent)
            counts["ReadTransactions"] += 1
        return fill.filled

    def _stall(self, cycle: Cycle) -> None:
        """Sleep if every stage waits for an input; each try of a refused fetch then counts again."""
        s, config = self.state, self.config
        if s.results or s.filtered or s.to_filter or s.reading or s.addressing:
            return
        if s.requests and len(s.accesses) < config.access_queue:
            return
        each = {
            "WaitReadWindowOccupation": len(s.waiting),
            "AccessQueueOccupation": len(s.fetching),
            "RequestQueueOccupation": len(s.requests),
        }
        if not s.fetching:
            each["FetchStallFetch"] = 1
        elif not s.accesses[s.fetching[0]].calculated:
            each["FetchStallAddress"] = 1
        elif len(s.waiting) >= config.wait_window:
            each["FetchStallWaitRead"] = 1
        elif s.refused:
            each["FetchesFailed"] = sum(s.refused[:3])
        else:
            return
        self._sleep_until_filled(cycle, each)

    def _sleep_until_filled(self, cycle: Cycle, each: Counts) -> None:
        """Sleep until a line enters the cache or something arrives; the lines themselves continue."""
        self._sleep(each, self.state.fill.next_step(cycle, self._memory_state.seen))

    def _wake(self, cycle: Cycle) -> None:
        """Count the cycles since the last tick, refused fetches among them."""
        s = self.state
        if "FetchesFailed" in s.skipped:
            self._refuse_again(cycle - 1 - s.cycle)
        super()._wake(cycle)

    def _refuse_again(self, times: int) -> int:
        """Count the refused fetch of the last cycle again; return the failures of one try."""
        tags = self.state.tags
        reserved, queue, limit, turned = self.state.refused
        failures = reserved + queue + limit
        tags.failed_reserved += times * reserved
        tags.failed_queue += times * queue
        tags.failed_limit += times * limit
        tags.misses += times * failures
        tags.first_way = (tags.first_way + times * turned) % tags.ways
        return failures

    def _stages(self, cycle: Cycle) -> None:
        s, counts = self.state, self.state.counts
        if s.results:
            slot, began = s.results.popleft()
            self._results.send(cycle, slot)
            counts["TextureResults"] += 1
            counts["TextureResultLatency"] += cycle - began
        if s.filtered:
            self._hand_on()
        if s.to_filter and cycle >= s.next_filter:
            self._filter(cycle)
        done = self._filter_end.waiting
        if done and done[0][0] <= cycle:
            number = done.popleft()[3]
            s.in_filter -= 1
            s.filtered.append(number)
            s.accesses[number].filtered += 1
        if s.reading:
            self._read()
        if s.fetching:
            self._fetch()
        else:
            counts["FetchStallFetch"] += 1
        if s.addressing and cycle >= s.next_address:
            self._address(cycle)
        done = self._address_end.waiting
        if done and done[0][0] <= cycle:
            access = s.accesses[done.popleft()[3]]
            # The first address after all have begun: recorded fetches stall 6 cycles for two samples, none for eight.
            if access.addressed == len(access.samples):
                access.calculated = True

    def _filled(self, block: int) -> None:
        """Let samples that wait for a line continue."""
        s = self.state
        s.refused = ()
        for sample in s.waiting:
            sample.missing.discard(block)
        self._search_window()
        if s.fetching:
            access = s.accesses[s.fetching[0]]
            for sample in access.samples[access.fetching :]:
                sample.missing.discard(block)

    def _search_window(self) -> None:
        """Let samples with all of their lines continue while there is room."""
        s, room = self.state, self.config.access_queue
        still = []
        s.crowded = False
        for sample in s.waiting:
            if sample.missing:
                still.append(sample)
            elif len(s.reading) < room:
                s.reading.append(sample)
            else:
                still.append(sample)
                s.crowded = True
        s.waiting = still

    def _accept(self, cycle: Cycle) -> None:
        s = self.state
        slot, draw, quad, read, began = s.requests.popleft()
        plan = self.draws[draw].reads[read]
        place = plan.place.get(quad, -1)
        steps = plan.samples[place] if place >= 0 else ((((0, 16, 15),),),)
        number = s.number
        s.number += 1
        counts = s.counts
        counts["MipsSampled1" if len(steps[0]) == 1 else "MipsSampled2"] += 1
        counts[f"HistoAnisoRatio{len(steps):02}" if len(steps) > 1 else "HistoAnisoRatioNoAniso"] += 1
        counts[f"HistoBilinears{min(32, sum(map(len, steps))):02}"] += 1
        s.accesses[number] = _Access(slot, [_Sample(number, each) for each in steps], began)
        s.addressing.append(number)

    # --- stages --------------------------------------------------------------------------------------------------

    def _address(self, cycle: Cycle) -> None:
        """Begin the address calculation of a sample."""
        s, config, counts = self.state, self.config, self.state.counts
        number = s.addressing[0]
        access = s.accesses[number]
        loops = len(access.samples[access.addressed].steps)
        self._address_start.send(cycle, number, 1, config.address_latency + loops)
        s.next_address = cycle + loops
        counts["AddressALUBusyCycles"] += loops
        access.addressed += 1
        counts["BilinearSamples"] += loops
        if access.addressed == len(access.samples):
            s.addressing.popleft()
            s.fetching.append(number)
            counts["AddressCalculationFinished"] += 1
            counts["AnisotropyRatio"] += access.addressed

    def _fetch(self) -> None:
        """Fetch the lines of one bilinear step, of which `texture.misses` may be new misses."""
        s, config, counts = self.state, self.config, self.state.counts
        access = s.accesses[s.fetching[0]]
        if not access.calculated:
            counts["FetchStallAddress"] += 1
            return
        if len(s.reading) >= config.access_queue:
            counts["FetchStallReadyRead"] += 1
            return
        if len(s.waiting) >= config.wait_window:
            counts["FetchStallWaitRead"] += 1
            return
        if s.refused:
            counts["FetchesFailed"] += self._refuse_again(1)
            return
        sample = access.samples[access.fetching]
        lines = access.left
        if lines is None:
            lines = sample.steps[len(sample.lines)]
            sample.lines.append([])
        tags = s.tags
        before = (tags.failed_reserved, tags.failed_queue, tags.failed_limit)
        access.left = left = self._fetch_lines(lines, sample)
        if left:
            # With more ways than are remembered the outcome depends on the first way of the search.
            if left == lines and tags.ways <= REMEMBERED:
                after = (tags.failed_reserved, tags.failed_queue, tags.failed_limit)
                failed = (now - then for now, then in zip(after, before, strict=True))
                s.refused = (*failed, min(len(lines), config.misses))
            return
        access.left = None
        if len(sample.lines) < len(sample.steps):
            return
        if sample.missing:
            s.waiting.append(sample)
        else:
            s.reading.append(sample)
        access.fetching += 1
        if access.fetching == len(access.samples):
            s.fetching.popleft()

    def _fetch_lines(self, lines: Lines, sample: _Sample) -> Lines:
        """Fetch lines of a step; return those to be tried again."""
        tags, counts = self.state.tags, self.state.counts
        misses = self.config.misses
        left: Lines = ()
        for block, texels, last in lines:
            line = tags.where.get(block, -1)
            if line >= 0:
                tags.reserved[line] += texels
                tags.hits += texels
            elif misses:
                misses -= 1
                line = tags.fetch(block, texels)
                if line < 0:
                    self._refuse_own_lines(block, sample)
                    # The other texels of the line exceed the misses of the cycle.
                    tags.misses += texels - 1
                    tags.failed_limit += texels - 1
            else:
                tags.misses += texels
                tags.failed_limit += texels
            if line < 0:
                counts["FetchesFailed"] += texels
                left = (*left, (block, texels, last))
                continue
            counts["FetchesOK"] += texels
            sample.lines[-1].append((last, line, texels))
            if tags.replacing[line]:
                sample.missing.add(block)
        return left

    def _refuse_own_lines(self, block: int, sample: _Sample) -> None:
        """Raise DeadlockError if all ways of a block are held by its own sample, which is read as a whole."""
        tags = self.state.tags
        place, held = block % tags.sets, {line for step in sample.lines for _, line, _ in step}
        if held.issuperset(range(place * tags.ways, (place + 1) * tags.ways)):
            raise DeadlockError(
                f"{self.name}, cycle {self.state.cycle:,}: a sample needs more lines of set {place} of its cache at "
                f"once than fit, and is read only when all of them are there: texture.ways = {tags.ways} and "
                f"texture.lines = {tags.sets} are too few for this texture"
            )

    def _read(self) -> None:
        """Read the texels of one bilinear step."""
        s, tags, counts = self.state, self.state.tags, self.state.counts
        if len(s.to_filter) + s.in_filter + len(s.filtered) >= self.config.access_queue:
            return
        s.refused = ()
        sample = s.reading[0]
        for _, line, texels in sorted(sample.lines[sample.read]):
            tags.release(line, texels)
            tags.use(line)
            tags.reads += texels
            counts["ReadsOK"] += texels
        sample.read += 1
        if sample.read == len(sample.steps):
            s.reading.popleft()
            s.to_filter.append(sample)

    def _hand_on(self) -> None:
        """Hand the oldest filtered access on after the last of its samples."""
        s = self.state
        number = s.filtered[0]
        access = s.accesses.get(number)
        if access is None or access.filtered < len(access.samples):
            s.filtered.popleft()
        elif len(s.results) < self.config.result_queue:
            s.filtered.popleft()
            s.results.append((access.slot, access.began))
            del s.accesses[number]

    def _filter(self, cycle: Cycle) -> None:
        """Begin to filter a sample."""
        s = self.state
        sample = s.to_filter.popleft()
        loops = len(sample.steps)
        self._filter_start.send(cycle, sample.access, 1, self.config.filter_latency + loops)
        s.next_filter = cycle + loops
        s.in_filter += 1
        s.counts["FilterALUBusyCycles"] += loops

    @property
    def tags(self) -> tuple[str, Tags]:
        """Suffix and tags of its cache."""
        return self.suffixed("FC64_TU"), self.state.tags
