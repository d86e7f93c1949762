"""Lowering of accesses to a memory of bytes: bounds, whose words they are, what is read and written, lines touched.

An address is one for the group, runs on from lane to lane, or is any in each lane. Each access looks at the bounds
first; where groups share a memory that is written, it looks whose the words are: a table has a number for every
word, 0 where nobody touched it, else twice the number of the group that did (from 1 on), plus one where that wrote, or
`MANY` where several have read. What seldom happens there, functions of `helpers.py` do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pixelflow.simd.lanes.form import FormStep, Op
from pixelflow.simd.lanes.wide.native.arithmetic import Arithmetic
from pixelflow.simd.lanes.wide.native.helpers import MANY
from pixelflow.simd.lanes.wide.native.program import COUNTS, NOTHING
from pixelflow.simd.lanes.wide.native.values import Value

__all__ = ["Accesses"]

_ONE, _RUN, _EACH = range(3)
"""How addresses lie: one for the group, one after the other, any."""


@dataclass(eq=False, slots=True)
class _Access:
    """An access: ``elements`` of ``size`` bytes; ``mask`` is the name of where it is done, None in all lanes."""

    how: int
    size: int
    address: str
    """One number, or where addresses are any, a vector."""
    elements: int
    mask: str | None
    every: Value
    """The addresses of all lanes."""

    @property
    def bytes(self) -> int:
        """How many bytes it reaches over, where they lie together."""
        return self.size * self.elements


@dataclass(slots=True)
class Accesses(Arithmetic):
    """The body of a function with what steps do to memory."""

    noting: int = NOTHING
    tracked: bool = False
    """Whether it is looked at whose the words are."""
    line_bits: int = 6
    note: str = ""
    """Where the words of the block's note begin, unless lines are noted."""
    noted: int = 0
    """How many there are so far."""

    def access(self, step: FormStep, inputs: Sequence[Value], is_noted: bool) -> Value | None:
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
            self._track(access, value is not None)
        if self.noting and is_noted:
            self._note(access)
        if value is None:
            return self._fetched(access)
        self._put(access, value)
        return None

    def _classified(self, size: int, address: Value, where: Value | None, value: Value | None) -> _Access:
        mask = None if where is None else self.vector(where)
        if address.single and where is None:
            return _Access(_ONE, size, self.named(address), 1, None, address)
        if address.begin is not None:
            base, steps = address.begin
            elements = next((at for at in range(1, self.group) if steps[at] == 0), self.group)
            regular = steps == tuple(lane % elements * size for lane in range(self.group))
            whole = elements == self.group
            if regular and ((where is None and (whole or value is None)) or (whole and size == 4)):
                return _Access(_RUN, size, self.named(base), elements, mask, address)
        every = self.vector(address)
        return _Access(_EACH, size, every, self.group, mask or self.splat("i1", 1), address)

    # --- bounds, and whose words they are -------------------------------------------------------------------

    def _bound(self, access: _Access) -> None:
        if access.how == _ONE:
            self.leave_where(self.line(f"icmp ugt i32 {access.address}, %last{access.size}"), "fault")
        elif access.mask is None:
            first = self.line(f"zext i32 {access.address} to i64")
            past = self.line(f"add i64 {first}, {access.bytes}")
            self.leave_where(self.line(f"icmp ugt i64 {past}, %size"), "fault")
        else:
            kind, last = self.of("i32"), self.broadcast("i32", f"%last{access.size}")
            over = self.line(f"icmp ugt {kind} {self.vector(access.every)}, {last}")
            taken = self.line(f"and {self.of('i1')} {over}, {access.mask}")
            self.leave_where(self.any_of(taken), "fault")

    def _track(self, access: _Access, writes: bool) -> None:
        """Go to ``conflict`` where a word is another group's; make those the group's that are nobody's."""
        known = self._one_known(access, writes) if access.how == _ONE else None
        if access.how == _RUN and access.mask is None:
            known = self._run_known(access, writes) if access.bytes % 4 == 0 else "false"
        rare, on = self.new_label("new"), self.new_label("on")
        arguments = f"i32 %own, i1 {'true' if writes else 'false'}"
        if known is not None:
            self.do(f"br i1 {known}, label %{on}, label %{rare}, !prof !1")
            self.begin(rare)
            reach = f"i32 {access.address}, i32 {access.bytes}"
            clash = self.line(f"call i1 @touch_bytes(ptr %table, {reach}, {arguments})")
        else:
            self.do(f"br i1 {self._each_known(access, writes)}, label %{on}, label %{rare}, !prof !1")
            self.begin(rare)
            reach = f"{self._lane_arguments(access)}, i32 {access.size}"
            clash = self.line(f"call i1 @touch_lanes(ptr %table, {reach}, {arguments})")
        self.branch(clash, "conflict", on)
        self.begin(on)

    def _is_known(self, entries: str, kind: str, flags: str, owned: str, writes: bool) -> str:
        """Return where entries of the table say that nothing has to be done."""
        single = kind == "i32"
        if writes:
            return self.line(f"icmp eq {kind} {entries}, {owned}")
        one, many = ("1", str(MANY)) if single else ("splat (i32 1)", f"splat (i32 {MANY})")
        mine = self.line(f"or {kind} {entries}, {one}")
        is_mine = self.line(f"icmp eq {kind} {mine}, {owned}")
        is_read = self.line(f"icmp eq {kind} {entries}, {many}")
        return self.line(f"or {flags} {is_mine}, {is_read}")

    def _entry(self, address: str) -> str:
        word = self.line(f"lshr i32 {address}, 2")
        at = self.line(f"zext i32 {word} to i64")
        return self.line(f"getelementptr i32, ptr %table, i64 {at}")

    def _one_known(self, access: _Access, writes: bool) -> str:
        entry = self.line(f"load i32, ptr {self._entry(access.address)}")
        known = self._is_known(entry, "i32", "i1", "%owned", writes)
        if access.size == 1:
            return known
        aligned = self._aligned(access)
        return self.line(f"and i1 {known}, {aligned}")

    def _aligned(self, access: _Access) -> str:
        odd = self.line(f"and i32 {access.address}, {min(access.size, 4) - 1 if access.how == _ONE else 3}")
        return self.line(f"icmp eq i32 {odd}, 0")

    def _run_known(self, access: _Access, writes: bool) -> str:
        words = access.bytes // 4
        kind, flags = f"<{words} x i32>", f"<{words} x i1>"
        entries = self.line(f"load {kind}, ptr {self._entry(access.address)}, align 4")
        first = self.line(f"insertelement {kind} poison, i32 %owned, i64 0")
        owned = self.line(f"shufflevector {kind} {first}, {kind} poison, <{words} x i32> zeroinitializer")
        known = self._is_known(entries, kind, flags, owned, writes)
        number = self.line(f"bitcast {flags} {known} to i{words}")
        every = self.line(f"icmp eq i{words} {number}, -1")
        return self.line(f"and i1 {every}, {self._aligned(access)}")

    def _each_known(self, access: _Access, writes: bool) -> str:
        kind, flags = self.of("i32"), self.of("i1")
        every, owned = self.vector(access.every), self.broadcast("i32", "%owned")
        places = self.line(f"lshr {kind} {every}, {self.splat('i32', 2)}")
        at = self.line(f"sext {kind} {places} to {self.of('i64')}")
        entry = self.line(f"getelementptr i32, ptr %table, {self.of('i64')} {at}")
        entries = self._gathered("i32", entry, access.mask or "", owned)
        known = self._is_known(entries, kind, flags, owned, writes)
        if access.size > 1:
            odd = self.line(f"and {kind} {every}, {self.splat('i32', access.size - 1)}")
            aligned = self.line(f"icmp eq {kind} {odd}, zeroinitializer")
            known = self.line(f"and {flags} {known}, {aligned}")
        off = self.line(f"xor {flags} {access.mask}, {self.splat('i1', 1)}")
        either = self.line(f"or {flags} {known}, {off}")
        return self.line(f"icmp eq i{self.group} {self.mask_number(either)}, -1")

    def _lane_arguments(self, access: _Access) -> str:
        """Return addresses and mask as arguments of a helper."""
        self.do(f"store {self.of('i32')} {self.vector(access.every)}, ptr %lanes, align 64")
        number = self.mask_number(access.mask or "")
        return f"ptr %lanes, i64 {self.line(f'zext i{self.group} {number} to i64')}"

    # --- reading and writing --------------------------------------------------------------------------------

    def _at(self, address: str) -> str:
        return self.line(f"getelementptr i8, ptr %memory, i64 {self.line(f'zext i32 {address} to i64')}")

    def _all_at(self, access: _Access) -> str:
        # Within the bounds no address is negative, and from signed numbers of 32 bits gathers are made best.
        far = self.line(f"sext {self.of('i32')} {self.vector(access.every)} to {self.of('i64')}")
        return self.line(f"getelementptr i8, ptr %memory, {self.of('i64')} {far}")

    def _gathered(self, element: str, places: str, mask: str, others: str) -> str:
        kind, pointers, flags = self.of(element), self.of("ptr"), self.of("i1")
        name = f"llvm.masked.gather.v{self.group}{element}.v{self.group}p0"
        arguments = [f"{pointers} {places}", "i32 1", f"{flags} {mask}", f"{kind} {others}"]
        return self.call(kind, name, arguments, [pointers, "i32", flags, kind])

    def _widened(self, access: _Access, name: str, single: bool) -> str:
        if access.size == 4:
            return name
        return self.line(f"zext {self.of(f'i{8 * access.size}', single)} {name} to {self.of('i32', single)}")

    def _fetched(self, access: _Access) -> Value:
        element = f"i{8 * access.size}"
        if access.how == _ONE:
            value = self.line(f"load {element}, ptr {self._at(access.address)}, align 1")
            return Value(32, True, self._widened(access, value, True))
        if access.how == _EACH:
            value = self._gathered(element, self._all_at(access), access.mask or "", "zeroinitializer")
            return Value(32, False, self._widened(access, value, False))
        at = self._at(access.address)
        if access.mask is not None:
            kind, flags = self.of("i32"), self.of("i1")
            arguments = [f"ptr {at}", "i32 1", f"{flags} {access.mask}", f"{kind} zeroinitializer"]
            name = f"llvm.masked.load.v{self.group}i32.p0"
            return Value(32, False, self.call(kind, name, arguments, ["ptr", "i32", flags, kind]))
        some = f"<{access.elements} x {element}>"
        value = self.line(f"load {some}, ptr {at}, align 1")
        if access.elements < self.group:
            sources = self.lanes("i32", [lane % access.elements for lane in range(self.group)])
            value = self.line(f"shufflevector {some} {value}, {some} poison, {self.of('i32')} {sources}")
        return Value(32, False, self._widened(access, value, False))

    def _put(self, access: _Access, value: Value) -> None:
        element, single = f"i{8 * access.size}", access.how == _ONE
        if not single:
            name = self.vector(value)
        else:  # of equal addresses the last lane wins
            last = "" if value.single else f"{self.kind(value)} {self.named(value)}, i64 {self.group - 1}"
            name = self.line(f"extractelement {last}") if last else self.named(value)
        kind, word = self.of(element, single), self.of("i32", single)
        if access.size < 4:
            name = self.line(f"trunc {word} {name} to {kind}")
        if access.how == _EACH:
            pointers, flags = self.of("ptr"), self.of("i1")
            self.declared[
                f"declare void @llvm.masked.scatter.v{self.group}{element}.v{self.group}p0"
                f"({kind}, {pointers}, i32, {flags})"
            ] = None
            self.do(
                f"call void @llvm.masked.scatter.v{self.group}{element}.v{self.group}p0"
                f"({kind} {name}, {pointers} {self._all_at(access)}, i32 1, {flags} {access.mask})"
            )
        elif access.mask is not None:
            function, flags = f"llvm.masked.store.v{self.group}i32.p0", self.of("i1")
            self.declared[f"declare void @{function}({kind}, ptr, i32, {flags})"] = None
            at = self._at(access.address)
            self.do(f"call void @{function}({kind} {name}, ptr {at}, i32 1, {flags} {access.mask})")
        else:
            self.do(f"store {kind} {name}, ptr {self._at(access.address)}, align 1")

    # --- lines ----------------------------------------------------------------------------------------------

    def _note(self, access: _Access) -> None:
        together = access.how == _ONE or (access.how == _RUN and access.mask is None)
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

    def _span(self, access: _Access) -> tuple[str, str]:
        """Return the first line of bytes that lie together, and how many lines they touch."""
        first = self.line(f"lshr i32 {access.address}, {self.line_bits}")
        if access.bytes == 1:
            return first, "1"
        end = self.line(f"add i32 {access.address}, {access.bytes - 1}")
        more = self.line(f"sub i32 {self.line(f'lshr i32 {end}, {self.line_bits}')}, {first}")
        return first, self.line(f"add i32 {more}, 1")

    def _listed(self, access: _Access, into: str, before: str) -> str:
        arguments = f"{self._lane_arguments(access)}, i32 {access.size}, ptr {into}, i32 {before}"
        return self.line(f"call i32 @lane_lines({arguments})")

    def _count_each(self, access: _Access) -> str:
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
