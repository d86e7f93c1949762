"""Lowering of accesses to a memory of bytes: bounds, whose words they are, what is read and written, lines touched.

An address is one for the group, runs on from lane to lane, or is any in each lane. Each access looks at the bounds
first, and where groups share a memory, whose the words are (`tracking.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pixelflow.simd.lanes.form import FormStep, Op
from pixelflow.simd.lanes.wide.native.program import COUNTS, NOTHING
from pixelflow.simd.lanes.wide.native.text.tracking import EACH, ONE, RUN, LaneAccess, Tracking
from pixelflow.simd.lanes.wide.native.text.values import GroupValue

__all__ = ["MemoryAccesses"]


@dataclass(slots=True)
class MemoryAccesses(Tracking):
    """The body of a function with what steps do to memory."""

    noting: int = NOTHING
    line_bits: int = 6
    note: str = ""
    """Where the words of the block's note begin, unless lines are noted."""
    noted: int = 0
    """How many there are so far."""

    def access(self, step: FormStep, inputs: Sequence[GroupValue], is_noted: bool) -> GroupValue | None:
        """Add an access to memory; return what was read."""
        where = inputs[-1] if len(inputs) > 1 + (step.op is Op.PUT) else None
        if where is not None and where.constant == 1:
            where = None
        value = inputs[1] if step.op is Op.PUT else None
        if value is not None:
            self.named(value)  # before what the bounds decide
        access = self._classified(step.detail, inputs[0], where, value)
        self._bound(access)
        if self.tracked:
            self.track(access, value is not None)
        if self.noting and is_noted:
            self._note(access)
        if value is None:
            return self._fetched(access)
        self._put(access, value)
        return None

    def _classified(
        self, size: int, address: GroupValue, where: GroupValue | None, value: GroupValue | None
    ) -> LaneAccess:
        mask = None if where is None else self.vector(where)
        if address.single and where is None:
            return LaneAccess(ONE, size, self.named(address), 1, None, address)
        if address.begin is not None:
            base, steps = address.begin
            elements = next((at for at in range(1, self.group) if steps[at] == 0), self.group)
            regular = steps == tuple(lane % elements * size for lane in range(self.group))
            whole = elements == self.group
            if regular and ((where is None and (whole or value is None)) or (whole and size == 4)):
                return LaneAccess(RUN, size, self.named(base), elements, mask, address)
        every = self.vector(address)
        return LaneAccess(EACH, size, every, self.group, mask or self.splat("i1", 1), address)

    # --- bounds, and whose words they are -------------------------------------------------------------------

    def _bound(self, access: LaneAccess) -> None:
        if access.how == ONE:
            self.leave_where(self.line(f"icmp ugt i32 {access.address}, %last{access.size}"), "fault")
        elif access.mask is None:
            first = self.line(f"zext i32 {access.address} to i64")
            past = self.line(f"add i64 {first}, {access.bytes}")
            self.leave_where(self.line(f"icmp ugt i64 {past}, %size"), "fault")
        else:
            kind, last = self.of("i32"), self.broadcast("i32", f"%last{access.size}")
            over = self.line(f"icmp ugt {kind} {self.vector(access.every)}, {last}")
            if access.how == RUN:
                # Past the last address lanes would begin again at the bottom: numpy does that.
                wraps = self.line(f"icmp ugt i32 {access.address}, %last{access.size}")
                over = self.line(f"or {self.of('i1')} {over}, {self.broadcast('i1', wraps)}")
            taken = self.line(f"and {self.of('i1')} {over}, {access.mask}")
            self.leave_where(self.any_of(taken), "fault")

    def _lane_arguments(self, access: LaneAccess) -> str:
        """Return addresses and mask as arguments of a helper."""
        self.do(f"store {self.of('i32')} {self.vector(access.every)}, ptr %lanes, align 64")
        number = self.mask_number(access.mask or "")
        return f"ptr %lanes, i64 {self.line(f'zext i{self.group} {number} to i64')}"

    # --- reading and writing --------------------------------------------------------------------------------

    def _at(self, address: str) -> str:
        return self.line(f"getelementptr i8, ptr %memory, i64 {self.line(f'zext i32 {address} to i64')}")

    def _all_at(self, access: LaneAccess) -> str:
        # Within the bounds no address is negative, and from signed numbers of 32 bits gathers are made best.
        far = self.line(f"sext {self.of('i32')} {self.vector(access.every)} to {self.of('i64')}")
        return self.line(f"getelementptr i8, ptr %memory, {self.of('i64')} {far}")

    def _widened(self, access: LaneAccess, name: str, single: bool) -> str:
        if access.size == 4:
            return name
        return self.line(f"zext {self.of(f'i{8 * access.size}', single)} {name} to {self.of('i32', single)}")

    def _fetched(self, access: LaneAccess) -> GroupValue:
        element = f"i{8 * access.size}"
        if access.how == ONE:
            value = self.line(f"load {element}, ptr {self._at(access.address)}, align 1")
            return GroupValue(32, True, self._widened(access, value, True))
        if access.how == EACH:
            value = self.gathered(element, self._all_at(access), access.mask or "", "zeroinitializer")
            return GroupValue(32, False, self._widened(access, value, False))
        at = self._at(access.address)
        if access.mask is not None:
            kind, flags = self.of("i32"), self.of("i1")
            arguments = [f"ptr {at}", "i32 1", f"{flags} {access.mask}", f"{kind} zeroinitializer"]
            name = f"llvm.masked.load.v{self.group}i32.p0"
            return GroupValue(32, False, self.call(kind, name, arguments, ["ptr", "i32", flags, kind]))
        some = f"<{access.elements} x {element}>"
        value = self.line(f"load {some}, ptr {at}, align 1")
        if access.elements < self.group:
            sources = self.lanes("i32", [lane % access.elements for lane in range(self.group)])
            value = self.line(f"shufflevector {some} {value}, {some} poison, {self.of('i32')} {sources}")
        return GroupValue(32, False, self._widened(access, value, False))

    def _put(self, access: LaneAccess, value: GroupValue) -> None:
        element, single = f"i{8 * access.size}", access.how == ONE
        if not single:
            name = self.vector(value)
        else:  # of equal addresses the last lane wins
            last = "" if value.single else f"{self.kind(value)} {self.named(value)}, i64 {self.group - 1}"
            name = self.line(f"extractelement {last}") if last else self.named(value)
        kind, word = self.of(element, single), self.of("i32", single)
        if access.size < 4:
            name = self.line(f"trunc {word} {name} to {kind}")
        if access.how == EACH:
            self.scattered(element, name, self._all_at(access), access.mask or "")
        elif access.mask is not None:
            self.masked_store(name, self._at(access.address), 1, access.mask)
        else:
            self.do(f"store {kind} {name}, ptr {self._at(access.address)}, align 1")

    # --- lines ----------------------------------------------------------------------------------------------

    def _note(self, access: LaneAccess) -> None:
        together = access.how == ONE or (access.how == RUN and access.mask is None)
        if self.noting == COUNTS:
            count = self._span(access)[1] if together else self._count_each(access)
            self.do(f"store i32 {count}, ptr {self._note_word(self.noted)}")
            self.noted += 1
            return
        at = self.line("load ptr, ptr %note.at")
        lines = self.line(f"getelementptr i32, ptr {at}, i64 1")
        if together:
            first, count = self._span(access)
            first = self.line(f"add i32 {first}, %before")
            for more in range((access.bytes - 2 >> self.line_bits) + 2):
                place = self.line(f"getelementptr i32, ptr {lines}, i64 {more}")
                self.do(f"store i32 {self.line(f'add i32 {first}, {more}')}, ptr {place}")
        else:
            count = self._listed(access, lines, "%before")
        self.do(f"store i32 {count}, ptr {at}")
        past = self.line(f"getelementptr i32, ptr {lines}, i64 {self.line(f'zext i32 {count} to i64')}")
        self.do(f"store ptr {past}, ptr %note.at")

    def _note_word(self, number: int) -> str:
        return self.line(f"getelementptr i32, ptr {self.note}, i64 {number}")

    def _span(self, access: LaneAccess) -> tuple[str, str]:
        """Return the first line of bytes that lie together, and how many lines they touch."""
        first = self.line(f"lshr i32 {access.address}, {self.line_bits}")
        if access.bytes == 1:
            return first, "1"
        end = self.line(f"add i32 {access.address}, {access.bytes - 1}")
        more = self.line(f"sub i32 {self.line(f'lshr i32 {end}, {self.line_bits}')}, {first}")
        return first, self.line(f"add i32 {more}, 1")

    def _listed(self, access: LaneAccess, into: str, before: str) -> str:
        arguments = f"{self._lane_arguments(access)}, i32 {access.size}, ptr {into}, i32 {before}"
        return self.line(f"call i32 @lane_lines({arguments})")

    def _count_each(self, access: LaneAccess) -> str:
        """Return how many lines are touched: bits of a number where they are close together, else a list is made."""
        kind, flags, wide, every = self.of("i32"), self.of("i1"), self.of("i64"), self.vector(access.every)
        shift = self.splat("i32", self.line_bits)
        lines = [self.line(f"lshr {kind} {every}, {shift}")]
        if access.size > 1:
            end = self.line(f"add {kind} {every}, {self.splat('i32', access.size - 1)}")
            lines.append(self.line(f"lshr {kind} {end}, {shift}"))
        suffix = f"v{self.group}i32"
        low = self.line(f"select {flags} {access.mask}, {kind} {lines[0]}, {kind} {self.splat('i32', -1)}")
        least = self.call("i32", f"llvm.vector.reduce.umin.{suffix}", [f"{kind} {low}"])
        all_least = self.broadcast("i32", least)
        offsets = [self.line(f"sub {kind} {each}, {all_least}") for each in lines]
        high = self.line(f"select {flags} {access.mask}, {kind} {offsets[-1]}, {kind} zeroinitializer")
        most = self.call("i32", f"llvm.vector.reduce.umax.{suffix}", [f"{kind} {high}"])
        near, far, on = (self.new_label(each) for each in ("near", "far", "on"))
        self.branch(self.line(f"icmp ugt i32 {most}, 63"), far, near)
        self.begin(near)
        bits = ""
        for each in offsets:
            by = self.line(f"zext {kind} {each} to {wide}")
            by = self.line(f"and {wide} {by}, {self.splat('i64', 63)}")
            one = self.line(f"shl {wide} {self.splat('i64', 1)}, {by}")
            bits = self.line(f"or {wide} {bits}, {one}") if bits else one
        bits = self.line(f"select {flags} {access.mask}, {wide} {bits}, {wide} zeroinitializer")
        joined = self.call("i64", f"llvm.vector.reduce.or.v{self.group}i64", [f"{wide} {bits}"])
        few = self.line(f"trunc i64 {self.call('i64', 'llvm.ctpop.i64', [f'i64 {joined}'])} to i32")
        self.do(f"br label %{on}")
        self.begin(far)
        many = self._listed(access, "%scratch", "0")
        self.do(f"br label %{on}")
        self.begin(on)
        return self.line(f"phi i32 [{few}, %{near}], [{many}, %{far}]")
