"""Threads that share the tiles of one engine, in native code."""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from collections.abc import Callable
from time import sleep

import llvmlite.binding as llvm

from pixelflow.simd.lanes.native.dispatch import WALK

# The IR by which threads share the tiles of a run: each takes the next one as soon as it has done its last.
#
# The shared state is in a box of 64-bit words, each of these on a separate line of the cache:
#
# ========  ==============================================================================================
# ticket    the number of the run; end and begin of its tiles that are not taken yet, 12 bits each
# run       state, bytes of a tile, lanes of a tile, program, table, workers that may take part
# done      of each of the last eight runs (on separate lines): how many of its tiles are done
# awake     of each worker (on a separate line): 1 while it looks at the ticket by itself, 0 when it must be woken
# ========  ==============================================================================================
#
# The thread that begins a run takes tiles from the begin, workers take them from the end: so most tiles are done where
# they were done the last time, and are in that processor's cache. Taking is exchanging the ticket for one with a tile
# less. That succeeds only if nothing has happened since the ticket was read, so what was read of the run in between
# belongs to it. When all tiles are taken, the next run may begin, though some are not done yet.


NAMES = ("publish", "help", "wait", "serve")

RUNS = 8
"""Runs that may be unfinished at the same time; a power of two."""

MOST_WORKERS = 63
"""As many as there are bits for them in a number."""

_BITS = 12
MOST_TILES = (1 << _BITS) - 1
"""As many as their number has bits in a ticket."""

_LINE = 64
_RUN, _DONE = _LINE, 2 * _LINE
_AWAKE = _DONE + RUNS * _LINE
_RUN_NAMES = ("state", "size", "lanes", "program", "table", "workers")


def _pause() -> str:
    """Return what a thread does between two looks at the ticket."""
    return "call void @llvm.x86.sse2.pause()" if llvm.get_process_triple().startswith("x86_64") else ""


def _done(run: str) -> str:
    """Return the lines that find the place of a run's tiles that are done."""
    return f"""\
  %slot = and i64 {run}, {RUNS - 1}
  %slot.at = mul i64 %slot, {_LINE}
  %done.from = getelementptr i8, ptr %box, i64 {_DONE}
  %done.at = getelementptr i8, ptr %done.from, i64 %slot.at"""


def _place(name: str) -> str:
    return f"  %{name}.at = getelementptr i8, ptr %box, i64 {_RUN + 8 * _RUN_NAMES.index(name)}\n"


def _get(name: str) -> str:
    return _place(name) + f"  %{name} = load atomic i64, ptr %{name}.at monotonic, align 8\n"


def _put(name: str) -> str:
    return _place(name) + f"  store atomic i64 %{name}, ptr %{name}.at monotonic, align 8\n"


_DECLARED = "declare void @llvm.x86.sse2.pause()\n" if _pause() else ""

_TAKE = f"""
define internal i1 @take(ptr %box, i64 %number) nounwind {{
entry:
  br label %look
look:
  %ticket = load atomic i64, ptr %box seq_cst, align 8
  %begin = and i64 %ticket, {MOST_TILES}
  %end.first = lshr i64 %ticket, {_BITS}
  %end = and i64 %end.first, {MOST_TILES}
  %none = icmp eq i64 %begin, %end
  br i1 %none, label %nothing, label %read
read:
{"".join(_get(name) for name in _RUN_NAMES)}
  %mine = icmp slt i64 %number, %workers
  br i1 %mine, label %claim, label %nothing
claim:
  %is.worker = icmp sge i64 %number, 0
  %from.end = sub i64 %ticket, {1 << _BITS}
  %from.begin = add i64 %ticket, 1
  %fewer = select i1 %is.worker, i64 %from.end, i64 %from.begin
  %exchanged = cmpxchg ptr %box, i64 %ticket, i64 %fewer seq_cst seq_cst
  %taken = extractvalue {{i64, i1}} %exchanged, 1
  br i1 %taken, label %carry.out, label %look
carry.out:
  %last = sub i64 %end, 1
  %tile.number = select i1 %is.worker, i64 %last, i64 %begin
  %offset = mul i64 %tile.number, %size
  %memory = inttoptr i64 %state to ptr
  %tile = getelementptr i8, ptr %memory, i64 %offset
  %functions = inttoptr i64 %table to ptr
  %walk.at = getelementptr ptr, ptr %functions, i64 {WALK}
  %walk = load ptr, ptr %walk.at
  %words = inttoptr i64 %program to ptr
  %past = call ptr %walk(ptr %tile, i64 %lanes, ptr %words, ptr %functions)
  %run = lshr i64 %ticket, {2 * _BITS}
{_done("%run")}
  %before = atomicrmw add ptr %done.at, i64 1 seq_cst
  ret i1 true
nothing:
  ret i1 false
}}
"""
"""Take a tile as worker ``number``, or -1, and execute the program on it; false where there is none to take."""

_PUBLISH = f"""
define i64 @publish(ptr %box, i64 %run, i64 %tiles, {", ".join(f"i64 %{name}" for name in _RUN_NAMES)}) nounwind {{
entry:
{"".join(_put(name) for name in _RUN_NAMES)}
{_done("%run")}
  store atomic i64 0, ptr %done.at seq_cst, align 8
  %upper = shl i64 %run, {2 * _BITS}
  %none.taken = shl i64 %tiles, {_BITS}
  %ticket = or i64 %upper, %none.taken
  store atomic i64 %ticket, ptr %box seq_cst, align 8
  %any = icmp sgt i64 %workers, 0
  br i1 %any, label %worker, label %end
worker:
  %number = phi i64 [0, %entry], [%number.next, %worker]
  %asleep = phi i64 [0, %entry], [%asleep.next, %worker]
  %offset = mul i64 %number, {_LINE}
  %from = getelementptr i8, ptr %box, i64 {_AWAKE}
  %awake.at = getelementptr i8, ptr %from, i64 %offset
  %awake = load atomic i64, ptr %awake.at seq_cst, align 8
  %sleeps = xor i64 %awake, 1
  %bit = shl i64 %sleeps, %number
  %asleep.next = or i64 %asleep, %bit
  %number.next = add i64 %number, 1
  %more = icmp slt i64 %number.next, %workers
  br i1 %more, label %worker, label %end
end:
  %found = phi i64 [0, %entry], [%asleep.next, %worker]
  ret i64 %found
}}
"""
"""Begin a run, when all tiles of the last one are taken; return which workers must be woken, a bit each."""

_HELP = """
define void @help(ptr %box) nounwind {
entry:
  br label %work
work:
  %took = call i1 @take(ptr %box, i64 -1)
  br i1 %took, label %work, label %end
end:
  ret void
}
"""
"""Take tiles until there are none."""

_WAIT = f"""
define i64 @wait(ptr %box, i64 %run, i64 %tiles, i64 %looks) nounwind {{
entry:
{_done("%run")}
  br label %wait
wait:
  %look = phi i64 [%looks, %entry], [%look.next, %again]
  %done = load atomic i64, ptr %done.at seq_cst, align 8
  %all = icmp eq i64 %done, %tiles
  br i1 %all, label %end, label %again
again:
  {_pause()}
  %look.next = sub i64 %look, 1
  %more = icmp sgt i64 %look.next, 0
  br i1 %more, label %wait, label %end
end:
  %found = zext i1 %all to i64
  ret i64 %found
}}
"""
"""Wait until all tiles of a run are done, for ``looks`` looks; return 1 when they are, else 0."""

_SERVE = f"""
define void @serve(ptr %box, i64 %number, i64 %looks) nounwind {{
entry:
  %offset = mul i64 %number, {_LINE}
  %from = getelementptr i8, ptr %box, i64 {_AWAKE}
  %awake.at = getelementptr i8, ptr %from, i64 %offset
  br label %stay
stay:
  store atomic i64 1, ptr %awake.at seq_cst, align 8
  br label %poll
poll:
  %look = phi i64 [%looks, %stay], [%looks, %poll], [%look.next, %again]
  %took = call i1 @take(ptr %box, i64 %number)
  br i1 %took, label %poll, label %again
again:
  {_pause()}
  %look.next = sub i64 %look, 1
  %more = icmp sgt i64 %look.next, 0
  br i1 %more, label %poll, label %leave
leave:
  store atomic i64 0, ptr %awake.at seq_cst, align 8
  %took.last = call i1 @take(ptr %box, i64 %number)
  br i1 %took.last, label %stay, label %end
end:
  ret void
}}
"""
"""Take tiles as worker ``number`` until there have been none for ``looks`` looks. A thread that publishes a run after
that finds the worker asleep; a run published just before is still taken."""

TEXT = _DECLARED + _TAKE + _PUBLISH + _HELP + _WAIT + _SERVE


class Functions:
    """The native functions at their addresses, in the order of `NAMES`."""

    def __init__(self, publish: int, help_: int, wait: int, serve: int) -> None:
        word, pointer = ctypes.c_int64, ctypes.c_void_p
        run = (pointer, word, word, ctypes.c_char_p, pointer, word)
        self.publish = ctypes.CFUNCTYPE(word, pointer, word, word, *run)(publish)
        self.help = ctypes.CFUNCTYPE(None, pointer)(help_)
        self.wait = ctypes.CFUNCTYPE(word, pointer, word, word, word)(wait)
        self.serve = ctypes.CFUNCTYPE(None, pointer, word, word)(serve)


class WorkBox:
    """The words that are shared; ``address`` is that of the ticket."""

    def __init__(self) -> None:
        self._memory = ctypes.create_string_buffer(_AWAKE + _LINE * MOST_WORKERS + _LINE)
        address = ctypes.addressof(self._memory)
        self.address = address + -address % _LINE
        self._ticket = ctypes.c_uint64.from_address(self.address)

    @property
    def run(self) -> int:
        """The number of the last run that was published."""
        return self._ticket.value >> 2 * _BITS


# Threads that execute runs together, each taking tiles as long as there are some (the functions above).
#
# Tiles share nothing that is written, so the result does not depend on how many threads there are. A worker that has
# nothing to do looks for the next run for a moment before it sleeps: waking it takes longer than many a run. The thread
# that began a run does not wait for the tiles that others have taken; it is free to begin the run of another engine.


Work = tuple[int, int, int, int, bytes, int]
"""Arguments of ``dispatch``: state, tiles, bytes of a tile, lanes of a tile, program, addresses of the functions."""

_LOOKS = 2_000
"""Looks for a run before a worker sleeps: about a tenth of a millisecond."""


class Team:
    """The workers of a process. While one thread begins a run, another one that wants to must do its own alone."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._begin()
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self.settle, after_in_child=self._begin)

    def _begin(self) -> None:
        self._box = WorkBox()
        self._wakers: list[threading.Lock] = []
        self._busy = threading.Lock()
        self._closed = False
        self._unfinished: dict[int, tuple[int, object, object]] = {}
        """Of the last runs: how many tiles, whose they are, and what must live until they are done."""

    def start(self, owner: object, work: Work, kept: object, threads: int) -> bool:
        """Begin to execute a program as ``dispatch`` does, by up to ``threads`` threads at once.

        When this returns, or raises because of an interrupt, tiles may not be done: `settle` waits for those of an
        owner. ``kept`` must live until then. Returns False, and has done nothing, where another thread begins a run at
        this moment or there are too many tiles.
        """
        state, tiles, *others = work
        if tiles > MOST_TILES or self._busy.locked():
            return False
        with self._busy:
            workers = self._hired(min(threads, tiles, MOST_WORKERS + 1) - 1)
            self._functions.help(self._box.address)  # where the last run was interrupted, tiles may be left
            number = self._box.run + 1
            self._wait(number - RUNS)
            self._unfinished[number] = tiles, owner, (work, kept)
            asleep = self._functions.publish(self._box.address, number, tiles, state, *others, workers)
            for worker in range(asleep.bit_length()):
                # A worker that has been woken but does not run yet will look at the ticket after that.
                if asleep >> worker & 1 and self._wakers[worker].locked():
                    self._wakers[worker].release()
            self._functions.help(self._box.address)
        return True

    def settle(self, owner: object = None) -> None:
        """Wait until all runs, or all runs of an owner, are done."""
        for number, (_, whose, _) in self._unfinished.copy().items():
            if owner is None or whose is owner:
                self._wait(number)

    def close(self) -> None:
        """Stop sharing, and return when all runs are done: their memory is freed when Python ends.

        Once is enough: a second time it returns at once.
        """
        if self._closed:
            return
        self._closed = True
        self._busy.acquire()
        self.settle()

    def _wait(self, number: int) -> None:
        """Return when all tiles of a run are done. It may be forgotten meanwhile, and another one be in its place."""
        longer = 0.0
        while (found := self._unfinished.get(number)) and number <= self._box.run:  # else interrupted before it began
            if self._functions.wait(self._box.address, number, found[0], _LOOKS):
                self._unfinished.pop(number, None)
                return
            self._functions.help(self._box.address)
            # The thread with the last tile may not get a processor: leave it this one.
            sleep(longer)
            longer = min(longer + 1e-5, 1e-3)

    def _hired(self, workers: int) -> int:
        """Have ``count`` workers, or as many as the system gives; return how many there are."""
        while (number := len(self._wakers)) < workers:
            waker = threading.Lock()
            waker.acquire()
            work = (self._functions.serve, self._box, number, waker)
            try:
                threading.Thread(target=_work, args=work, name=f"lanes {number}", daemon=True).start()
            except RuntimeError:
                return number
            self._wakers.append(waker)
        return workers


def _work(serve: Callable[[int, int, int], None], box: WorkBox, number: int, waker: threading.Lock) -> None:
    while True:
        waker.acquire()
        serve(box.address, number, _LOOKS)
