"""Whose words of memory are, where groups share it: so that they may be carried out one after the other.

A table has a number for every word: 0 where nobody touched it, else twice the number of the group that did (from 1 on),
plus one where that wrote, or `MANY` where several have read. Where a group writes what another one has touched, or
reads what another one has written, the order could be seen, and the run is left. So it is for elements that lie across
the boundary of two words, which hardly any program has: numpy carries it out.
"""

from __future__ import annotations

from dataclasses import dataclass

from pixelflow.simd.lanes.wide.native.text.doubles import DoubleArithmetic
from pixelflow.simd.lanes.wide.native.text.values import GroupValue

__all__ = ["EACH", "MANY", "ONE", "RUN", "LaneAccess", "Tracking"]

MANY = -2
"""Of a word in the table: several groups have read it, nobody has written it."""

ONE, RUN, EACH = range(3)
"""How addresses lie: one for the group, one after the other, any."""


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
        """How many bytes it reaches over, where they lie together."""
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
            if access.size < 4:  # elements may begin anywhere in a word, so that the last ones lie in one more
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
        # Where no lane takes part, nobody has touched a word that is nobody's.
        clash, after = self._checked(before, self.group, False, writes)
        self.leave_where(self.any_of(clash), "conflict")
        self.masked_store(after, entry, 4, mask or "")

    def _track_each(self, access: LaneAccess, writes: bool) -> None:
        """Look at words that lie anywhere."""
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
