"""LLVM text of accesses to a memory of bytes: bounds, owners of words, reads, writes and lines touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pixelflow.simd.lanes.form import FormStep, Op
from pixelflow.simd.lanes.native.group_program import COUNTS, NOTHING
from pixelflow.simd.lanes.native.word_text import DoubleArithmetic, GroupValue

# Ownership of words of memory that groups share: so that groups may be executed one after the other.
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
    """An access: ``elements`` of ``size`` bytes; ``mask`` is the name of where it is done, None in all lanes."""

    how: int
    size: int
    address: str
    """One number, or where addresses are any, a vector."""
    elements: int
    mask: str | None
    every: GroupValue
    """The addresses of all lanes."""

    @property
    def bytes(self) -> int:
        """Number of bytes, where they are consecutive."""
        return self.size * self.elements


@dataclass(slots=True)
class Tracking(DoubleArithmetic):
    """The body of a function with a look at whose words are."""

    tracked: bool = False

    def track(self, access: LaneAccess, writes: bool) -> None:
        """Go to ``conflict`` where a word is another group's; the others become this group's."""
        if access.how == EACH:
            self._track_each(access, writes)
            return
        if access.size > 1 and not (access.how == RUN and access.size < 4):
            odd = self.line(f"and i32 {access.address}, {access.size - 1}")
            self.leave_where(self.line(f"icmp ne i32 {odd}, 0"), "conflict")
        if access.how == ONE:
            self._track_words(self._entry(access.address), 1, writes)
        elif access.mask is not None:
            self._track_some(access, writes)
        else:
            self._track_words(self._entry(access.address), max(access.bytes // 4, 1), writes)
            if access.size < 4:  # elements may begin anywhere in a word, so that the last ones extend into one more
                end = self.line(f"add i32 {access.address}, {access.bytes - 1}")
                self._track_words(self._entry(end), 1, writes)

    def _entry(self, address: str) -> str:
        word = self.line(f"lshr i32 {address}, 2")
        return self.line(f"getelementptr i32, ptr %table, i64 {self.line(f'zext i32 {word} to i64')}")

    def _track_words(self, entry: str, words: int, writes: bool) -> None:
        """Look at words that follow each other."""
        single = words == 1
        kind = "i32" if single else f"<{words} x i32>"
        before = self.line(f"load {kind}, ptr {entry}, align 4")
        clash, after = self._checked(before, words, single, writes)
        if not single:
            number = self.line(f"bitcast <{words} x i1> {clash} to i{words}")
            clash = self.line(f"icmp ne i{words} {number}, 0")
        self.leave_where(clash, "conflict")
        self.do(f"store {kind} {after}, ptr {entry}, align 4")

    def _checked(self, before: str, words: int, single: bool, writes: bool) -> tuple[str, str]:
        """Return where entries of the table are another group's, and what they become."""
        kind, flags = ("i32", "i1") if single else (f"<{words} x i32>", f"<{words} x i1>")

        def number(value: int | str) -> str:
            if single:
                return str(value)
            if isinstance(value, int):
                return f"splat (i32 {value})"
            first = self.line(f"insertelement {kind} poison, i32 {value}, i64 0")
            return self.line(f"shufflevector {kind} {first}, {kind} poison, <{words} x i32> zeroinitializer")

        owned = number("%owned")
        written = self.line(f"or {kind} {before}, {number(1)}")
        other = self.line(f"icmp ne {kind} {written}, {owned}")
        none = self.line(f"icmp eq {kind} {before}, {number(0)}")
        if writes:
            some = self.line(f"icmp ne {kind} {before}, {number(0)}")
            return self.line(f"and {flags} {other}, {some}"), owned
        is_written = self.line(f"icmp eq {kind} {written}, {before}")
        clash = self.line(f"and {flags} {other}, {is_written}")
        shared = self.line(f"select {flags} {none}, {kind} {number('%own')}, {kind} {number(MANY)}")
        return clash, self.line(f"select {flags} {other}, {kind} {shared}, {kind} {before}")

    def _track_some(self, access: LaneAccess, writes: bool) -> None:
        """Look at words that follow each other, those of some lanes."""
        kind, flags, mask, entry = self.of("i32"), self.of("i1"), access.mask, self._entry(access.address)
        arguments = [f"ptr {entry}", "i32 4", f"{flags} {mask}", f"{kind} zeroinitializer"]
        types = ["ptr", "i32", flags, kind]
        before = self.call(kind, f"llvm.masked.load.v{self.group}i32.p0", arguments, types)
        # Lanes that take no part read 0, the entry of an untouched word.
        clash, after = self._checked(before, self.group, False, writes)
        self.leave_where(self.any_of(clash), "conflict")
        self.masked_store(after, entry, 4, mask or "")

    def _track_each(self, access: LaneAccess, writes: bool) -> None:
        """Look at words at any addresses."""
        kind, flags, mask, every = self.of("i32"), self.of("i1"), access.mask or "", self.vector(access.every)
        if access.size > 1:
            odd = self.line(f"and {kind} {every}, {self.splat('i32', access.size - 1)}")
            is_odd = self.line(f"icmp ne {kind} {odd}, zeroinitializer")
            self.leave_where(self.any_of(self.line(f"and {flags} {is_odd}, {mask}")), "conflict")
        words = self.line(f"lshr {kind} {every}, {self.splat('i32', 2)}")
        far = self.line(f"sext {kind} {words} to {self.of('i64')}")
        entries = self.line(f"getelementptr i32, ptr %table, {self.of('i64')} {far}")
        before = self.gathered("i32", entries, mask, "zeroinitializer")
        clash, after = self._checked(before, self.group, False, writes)
        self.leave_where(self.any_of(clash), "conflict")
        changed = self.line(f"icmp ne {kind} {before}, {after}")
        new = self.line(f"and {flags} {changed}, {mask}")
        rare, on = self.new_label("new"), self.new_label("on")
        self.branch(self.any_of(new), rare, on)
        self.begin(rare)
        self.scattered("i32", after, entries, mask)
        self.do(f"br label %{on}")
        self.begin(on)

    # --- memory, lane by lane -------------------------------------------------------------------------------

    def gathered(self, element: str, places: str, mask: str, others: str) -> str:
        """Read an element at each lane's place where a mask is set, elsewhere ``others``."""
        kind, pointers, flags = self.of(element), self.of("ptr"), self.of("i1")
        name = f"llvm.masked.gather.v{self.group}{element}.v{self.group}p0"
        arguments = [f"{pointers} {places}", "i32 1", f"{flags} {mask}", f"{kind} {others}"]
        return self.call(kind, name, arguments, [pointers, "i32", flags, kind])

    def scattered(self, element: str, value: str, places: str, mask: str) -> None:
        """Write an element to each lane's place where a mask is set, in the order of lanes."""
        kind, pointers, flags = self.of(element), self.of("ptr"), self.of("i1")
        name = f"llvm.masked.scatter.v{self.group}{element}.v{self.group}p0"
        self.declared[f"declare void @{name}({kind}, {pointers}, i32, {flags})"] = None
        self.do(f"call void @{name}({kind} {value}, {pointers} {places}, i32 1, {flags} {mask})")

    def masked_store(self, value: str, place: str, alignment: int, mask: str) -> None:
        """Write words that follow each other where a mask is set."""
        kind, flags, name = self.of("i32"), self.of("i1"), f"llvm.masked.store.v{self.group}i32.p0"
        self.declared[f"declare void @{name}({kind}, ptr, i32, {flags})"] = None
        self.do(f"call void @{name}({kind} {value}, ptr {place}, i32 {alignment}, {flags} {mask})")


# Lowering of accesses to a memory of bytes: bounds, whose words they are, what is read and written, lines touched.
#
# An address is one for the group, runs on from lane to lane, or is any in each lane. Each access looks at the bounds
# first, and where groups share a memory, whose the words are (`tracking.py`).


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
        """Return the first line of consecutive bytes, and how many lines they touch."""
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
