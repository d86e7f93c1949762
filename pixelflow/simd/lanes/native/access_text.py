"""LLVM text of accesses to a memory of bytes: bounds, owners of words, reads, writes and lines touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from pixelflow.simd.lanes.form import FormStep, Op
from pixelflow.simd.lanes.native.function_text import LaneVector
from pixelflow.simd.lanes.native.group_program import COUNTS, LINES, NOTHING
from pixelflow.simd.lanes.native.word_text import Arithmetic, GroupValue

# Lowering of accesses to a memory of bytes: bounds, whose words they are, what is read and written, lines touched.
#
# An address is one for the group, runs on from lane to lane, or is any in each lane. Each access looks at the bounds
# first, and where groups share a memory, whose the words are, so that groups may be executed one after the other.
#
# A table has a number for every word: 0 if untouched, else twice the number of the group that touched it (counted from
# 1), plus one if that group wrote, or `MANY` if several have read. Where a group writes a word that another one has
# touched, or reads one that another one has written, the order could be seen, and the run is abandoned. So it is for
# elements across the boundary of two words, which hardly any program has: numpy executes it.


MANY = -2
"""Entry of a word read by several groups and written by none."""

ONE, RUN, EACH = range(3)
"""Pattern of addresses: one for the group, consecutive, any."""


@dataclass(eq=False, slots=True)
class LaneAccess:
    """An access: ``elements`` of ``size`` bytes."""

    how: int
    size: int
    address: LaneVector
    """One number, or where addresses are any, a vector."""
    elements: int = 1
    mask: LaneVector | None = None
    """Where it is done, if addresses are any: a number with a bit for each lane."""

    @property
    def bytes(self) -> int:
        """Number of bytes, where they are consecutive."""
        return self.size * self.elements


@dataclass(slots=True)
class MemoryAccesses(Arithmetic):
    """The body of a function with what steps do to memory."""

    tracked: bool = False
    noting: int = NOTHING
    line_bits: int = 6

    def access(self, step: FormStep, inputs: Sequence[GroupValue], is_noted: bool) -> GroupValue | None:
        """Add an access to memory; return what was read."""
        where = inputs[-1] if len(inputs) > 1 + (step.op is Op.PUT) else None
        if where is not None and where.constant == 1:
            where = None
        value = inputs[1] if step.op is Op.PUT else None
        if value is not None:
            self.named(value)  # before what the bounds decide
        access = self._classified(step.detail, inputs[0], where, value)
        self.look(access, value is not None, self.noting != NOTHING and is_noted)
        if access.mask is not None:
            found = self._lane_by_lane(access, access.mask, value)
        else:
            found = self._carried_out(access, value)
        return None if found is None else GroupValue(32, not found.size, found.name)

    def _classified(
        self, size: int, address: GroupValue, where: GroupValue | None, value: GroupValue | None
    ) -> LaneAccess:
        if address.single and where is None:
            return LaneAccess(ONE, size, self.named(address))
        if address.begin is not None and where is None:
            base, steps = address.begin
            elements = next((at for at in range(1, self.group) if steps[at] == 0), self.group)
            regular = steps == tuple(lane % elements * size for lane in range(self.group))
            if regular and (elements == self.group or value is None):
                return LaneAccess(RUN, size, self.named(base), elements)
        mask = self.constant(1, self.group, "i1") if where is None else self.vector(where)
        return LaneAccess(EACH, size, self.vector(address), self.group, mask.as_number())

    # --- bounds, and whose words they are -------------------------------------------------------------------

    def look(self, access: LaneAccess, writes: bool, is_noted: bool) -> None:
        """Look at the bounds, and whose words they are, and note lines."""
        self._bound(access)
        if access.mask is not None:
            self.do(f"store {access.address.typed}, ptr %lanes, align 64")
        else:
            self._track(access, writes)
        if is_noted:
            self._note(access)

    def _bound(self, access: LaneAccess) -> None:
        last = self.constant(f"%last{access.size}", 0, "i32")
        if access.how == ONE:
            self.leave_where(access.address > last, "fault")
        elif access.mask is not None:
            over = (access.address > last.spread(self.group)).as_number()
            self.leave_where((over & access.mask).differs(0), "fault")
        else:
            past = access.address.converted("zext", "i64") + access.bytes
            self.leave_where(past > self.constant("%size", 0, "i64"), "fault")

    def _track(self, access: LaneAccess, writes: bool) -> None:
        """Go to ``conflict`` where a word is another group's; the others become this group's."""
        if not self.tracked:
            return
        if access.size > 1 and not (access.how == RUN and access.size < 4):
            self.leave_where((access.address & access.size - 1).differs(0), "conflict")
        self._track_words(access.address, access.bytes // 4, writes)
        if access.how == RUN and access.size < 4:  # they may begin anywhere in a word, and extend into one more
            self._track_words(access.address + (access.bytes - 1), 0, writes)

    def _track_words(self, address: LaneVector, words: int, writes: bool) -> None:
        """Look at words that follow each other."""
        size = words if words > 1 else 0
        entry = self.place("i32", "%table", (address >> 2).converted("zext", "i64"))
        before = self.value(f"load {self.constant(0, size, 'i32').kind}, {entry.typed}, align 4", "i32", size)
        own, owned = (
            each.spread(size) if size else each
            for each in (self.constant(name, 0, "i32") for name in ("%own", "%owned"))
        )
        written = before | 1
        other = written.differs(owned)
        if writes:
            clash, after = other & before.differs(0), owned
        else:
            clash, after = other & written.equals(before), other.of(before.equals(0).of(own, MANY), before)
        self.leave_where(clash, "conflict")
        self.do(f"store {after.typed}, {entry.typed}, align 4")

    # --- reading and writing --------------------------------------------------------------------------------

    def _carried_out(self, access: LaneAccess, value: GroupValue | None) -> LaneVector | None:
        """Read, or write a value."""
        if value is None:
            return self._fetched(access)
        self._put(access, value)
        return None

    def _lane_by_lane(self, access: LaneAccess, mask: LaneVector, value: GroupValue | None) -> LaneVector | None:
        """Read or write in one lane after the other where a mask is set; elsewhere 0 is read."""
        words = self.constant("zeroinitializer", 0, self.of("i32")) if value is None else self.vector(value)
        self.do(f"store {words.typed}, ptr %words, align 64")
        every = mask.converted("zext", "i64")
        before, lane, last, on = self.label, *(self.new_label(each) for each in ("lane", "last", "on"))
        self.branch(every.differs(0).name, lane, on)
        self.begin(lane)
        left = self.value(f"phi i64 [{every.name}, %{before}], [%rest.{last}, %{last}]", "i64")
        which = left.called("cttz", "i1 true")
        one = LaneAccess(ONE, access.size, self.value(f"load i32, {self.place('i32', '%lanes', which).typed}", "i32"))
        place = self.place("i32", "%words", which)
        given = None if value is None else GroupValue(32, True, self.line(f"load i32, {place.typed}"))
        self._track(one, value is not None)
        found = self._carried_out(one, given)
        if found is not None:
            self.do(f"store {found.typed}, {place.typed}")
        self.go(last)
        self.begin(last)
        rest = left & left - 1
        self.do(f"%rest.{last} = add i64 {rest.name}, 0")
        self.branch(rest.differs(0).name, lane, on)
        self.begin(on)
        return found and self.value(f"load {words.kind}, ptr %words, align 64", "i32", self.group)

    def _at(self, access: LaneAccess) -> LaneVector:
        """Return the place of the first byte."""
        return self.place("i8", "%memory", access.address.converted("zext", "i64"))

    def _fetched(self, access: LaneAccess) -> LaneVector:
        element, at = f"i{8 * access.size}", self._at(access)
        if access.how == ONE:
            value = self.value(f"load {element}, {at.typed}, align 1", element)
        else:
            kind = f"<{access.elements} x {element}>"
            value = self.value(f"load {kind}, {at.typed}, align 1", element, access.elements)
            if access.elements < self.group:
                value = value.shuffled(None, [lane % access.elements for lane in range(self.group)])
        return value if access.size == 4 else value.converted("zext", "i32")

    def _put(self, access: LaneAccess, value: GroupValue) -> None:
        if access.how != ONE:
            number = self.vector(value)
        else:  # of equal addresses the last lane wins
            number = self.named(value)
            if number.size:
                number = number.made(f"extractelement {number.typed}, i64 {self.group - 1}", size=0)
        if access.size < 4:
            number = number.converted("trunc", f"i{8 * access.size}")
        self.do(f"store {number.typed}, {self._at(access).typed}, align 1")

    # --- lines ----------------------------------------------------------------------------------------------

    def _note(self, access: LaneAccess) -> None:
        at = self.line("load ptr, ptr %note.at")
        lines = past = self.place("i32", at, 1)
        if self.noting == COUNTS:
            count = self._span(access)[1] if access.mask is None else self._count_each(access, access.mask)
        elif access.mask is None:
            first, count = self._span(access)
            first = first + self.constant("%before", 0, "i32")
            for more in range((access.bytes - 2 >> self.line_bits) + 2):
                place = self.place("i32", lines.name, more)
                self.do(f"store {(first + more).typed}, {place.typed}")
        else:
            count = self._listed(access, access.mask, lines.name, "%before")
        self.do(f"store {count.typed}, ptr {at}")
        if self.noting == LINES:
            past = self.place("i32", lines.name, count.converted("zext", "i64"))
        self.do(f"store {past.typed}, ptr %note.at")

    def _span(self, access: LaneAccess) -> tuple[LaneVector, LaneVector]:
        """Return the first line of consecutive bytes, and how many lines they touch."""
        first = access.address >> self.line_bits
        if access.bytes == 1:
            return first, first.filled(1)
        return first, (access.address + (access.bytes - 1) >> self.line_bits) - first + 1

    def _listed(self, access: LaneAccess, mask: LaneVector, into: str, before: str) -> LaneVector:
        number = mask.converted("zext", "i64")  # the addresses are at %lanes already
        arguments = f"ptr %lanes, {number.typed}, i32 {access.size}, ptr {into}, i32 {before}"
        return self.value(f"call i32 @lane_lines({arguments})", "i32")

    def _count_each(self, access: LaneAccess, mask: LaneVector) -> LaneVector:
        """Return how many lines are touched: bits of a number where they are close together, else a list is made."""
        every, where = access.address, mask.as_bits()
        lines = [every >> self.line_bits]
        if access.size > 1:
            lines.append(every + (access.size - 1) >> self.line_bits)
        least = where.of(lines[0], -1).reduced("umin").spread(self.group)
        offsets = [each - least for each in lines]
        most = where.of(offsets[-1], 0).reduced("umax")
        near, far, on = (self.new_label(each) for each in ("near", "far", "on"))
        self.branch((most > 63).name, far, near, seldom=True)
        self.begin(near)
        ones = self.constant(1, self.group, "i64")
        bits = reduce(or_, (ones << (each.converted("zext", "i64") & 63) for each in offsets))
        few = where.of(bits, 0).reduced("or").called("ctpop").converted("trunc", "i32")
        self.go(on)
        self.begin(far)
        many = self._listed(access, mask, "%scratch", "0")
        self.go(on)
        self.begin(on)
        return self.joined(few, near, many, far)
