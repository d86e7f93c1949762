"""The interface of an application: a manager of surface patches and its handles (thesis 4.4, table 10).

The C++ names of the thesis and ours: ``BSP_MGR_C`` is `PatchManager`, ``BSP_C`` is `PatchHandle`, which
`PatchManager.add` makes; ``Mark`` is `PatchHandle.mark` and ``Tessellate`` is `PatchManager.tessellate`.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray

from pixelflow.config import THESIS, NodeConfig
from pixelflow.node import Run
from pixelflow.simd.errors import Fault, InputError
from pixelflow.simd.report import counted
from tessellation.host.ledger import PatchLedger, balance
from tessellation.host.session import (
    CachingSession,
    PassBegins,
    PassResult,
    Session,
    gp_cycles,
    new_session,
    sampled_by_gps,
)
from tessellation.host.tessellator import Tessellation, collect
from tessellation.microprogram.method import FloatLibrary, Method, library_for
from tessellation.microprogram.passes import Plan
from tessellation.picture import Standpoint
from tessellation.plan.mapping import MAX_SAMPLES, MIN_SAMPLES
from tessellation.plan.texture_layout import HeldTexture
from tessellation.sampling import SampleChoice, Sampling, choose
from tessellation.surface.patch import Patch
from tessellation.surface.reference import PatchSamples


class PatchHandle:
    """A patch in texture memory. ``result`` holds its samples once it has been tessellated."""

    def __init__(self, manager: PatchManager, number: int, patch: Patch) -> None:
        self._manager = manager
        self.number = number
        self.patch = patch
        self.result: PatchSamples | None = None

    def mark(self, samples: int) -> None:
        """Mark the patch for the next tessellation, with ``samples`` x ``samples`` samples; the last mark counts.

        Raises InputError if ``samples`` is not 2 to 16.
        """
        if not MIN_SAMPLES <= samples <= MAX_SAMPLES:
            message = f"{counted(samples, 'sample')} for patch {self.number + 1}"
            raise InputError(Fault(message, hint=f"allowed: {MIN_SAMPLES} to {MAX_SAMPLES}"))
        self._manager._marks[self.number] = samples

    def modify(self, patch: Patch) -> None:
        """Give the patch other control points; ``result`` is unchanged until the next tessellation.

        During a tessellation, as in a call of its ``progress``, the change takes effect at its end, even if it fails.
        Raises InputError for a net of another size, and for an impossible trim.
        """
        self._manager._modify(self, patch)


class PatchManager:
    """Patches in the texture memory of one node, loaded once and tessellated as often as wanted (retained mode)."""

    def __init__(
        self,
        maximum: Mapping[int | tuple[int, int], int],
        *,
        config: NodeConfig = THESIS,
        library: str = "tuned",
        engine: str = "auto",
        method: Method | None = None,
        passes: int | None = None,
    ) -> None:
        """Create storage for this many patches of each degree: ``{3: 512}``, or ``{(3, 7): 8}`` for two degrees.

        ``passes`` limits the passes of a tessellation: patches without room in them are tessellated on the GPs (4.1).
        Raises InputError for an unsupported degree, an unknown library, and more copies of a patch than modules.
        """
        self.maximum = {(key, key) if isinstance(key, int) else key: most for key, most in maximum.items()}
        for degrees, most in self.maximum.items():
            if not all(2 <= degree <= 11 for degree in degrees) or most < 0:
                raise InputError(Fault(f"{most} patches of degrees {degrees}", hint="allowed: degrees 2 to 11"))
        self.passes = passes
        self.on_gps: tuple[int, ...] = ()
        """Patches of the last tessellation that the GPs made, by number."""
        self.gp_cycles = 0
        """Cycles of the GPs for these, by formula (`session.gp_cycles`)."""
        method = Method() if method is None else method
        self.session = self._session(config, engine, library_for(library, [], finite=False), method)
        self.session.divided({}, passes)  # which checks it
        self.handles: list[PatchHandle] = []
        self.plans: tuple[Plan, ...] = ()
        self.runs: tuple[Run, ...] = ()
        """The machine's accounts of the passes of the last tessellation."""
        self.loads: tuple[Run, ...] = ()
        """The accounts of executed loads of the database from the GPs before them."""
        self.ledger: PatchLedger | None = None
        """Patches, blocks and samples of the last tessellation: marked, placed, and returned."""
        self.recalls: tuple[Run, ...] = ()
        """The accounts of the last `recall`."""
        self._last: Tessellation | None = None
        self._under_way = False
        self._modified: dict[int, Patch] = {}
        self._marks: dict[int, int] = {}
        self._used: Counter[tuple[int, int]] = Counter()

    def _session(self, config: NodeConfig, engine: str, library: FloatLibrary, method: Method) -> Session:
        return new_session(config, engine, library, method)

    def add(self, patch: Patch) -> PatchHandle:
        """Load a patch into texture memory: choose its modules, form first differences, give it an address.

        Raises InputError if the storage for its degree is used up.
        """
        degrees = patch.degrees
        most = self.maximum.get(degrees, 0)
        if self._used[degrees] >= most:
            what = f"patch {len(self.handles) + 1} has degrees {degrees[0]} and {degrees[1]}"
            message = f"{what}, for which there is storage of {most} patches"
            raise InputError(Fault(message, hint="give PatchManager a larger maximum"))
        number = self.session.add(patch)
        self._used[degrees] += 1
        self.handles.append(PatchHandle(self, number, patch))
        return self.handles[-1]

    def hold(self, name: str, texels: NDArray[np.uint8]) -> HeldTexture:
        """Store a picture, uint8[row, column, rgba], in texture memory, in every module, before the next pass (4.3).

        Raises InputError for another shape, and if texture memory has no free rectangle of that size.
        """
        return self.session.hold(name, texels)

    def release(self, held: HeldTexture) -> None:
        """Free the place of a picture."""
        self.session.database.release(held)

    def mark_by_view(
        self,
        standpoint: Standpoint,
        sampling: Sampling | Sequence[Sampling],
        outwards: NDArray[np.int64] | None = None,
    ) -> SampleChoice:
        """Mark every patch with the samples that a camera needs, except invisible ones; see `choose`.

        Earlier marks are removed.
        """
        choice = choose([handle.patch for handle in self.handles], standpoint, sampling, outwards)
        self.mark_all(choice.samples)
        return choice

    def mark_all(self, samples: Sequence[int]) -> None:
        """Mark patches with this many samples each, in the order in which they were added; 0 leaves one out.

        Earlier marks are removed. Raises InputError for numbers other than 0 and 2 to 16.
        """
        self._marks.clear()
        for handle, count in zip(self.handles, samples, strict=True):
            if count:
                handle.mark(count)

    def tessellate(self, progress: Callable[[PassBegins], object] | None = None) -> tuple[PatchHandle, ...]:
        """Tessellate all marked patches, in as many passes as that takes, and remove the marks.

        Returns the handles that have a new ``result``, in the order in which they were added. Raises InputError if the
        node has no room for a marked number of samples. If it fails the marks are kept.
        """
        begin = time.perf_counter()
        marked, self._marks = self._marks, {}
        self._under_way = True
        try:
            on_array, on_gps = self.session.divided(marked, self.passes)
            results = self.session.tessellate(on_array, progress)
            self.plans = tuple(result.plan for result in results)
            self.runs = tuple(result.run for result in results)
            self.loads = tuple(result.load for result in results if result.load is not None)
            patches = [handle.patch for handle in self.handles]
            config, method = self.session.config, self.session.method
            found = collect(results, patches, config, method)
            self.ledger = balance(len(patches), on_array, results, found, config.array, to_gps=method.to_gps)
            found |= sampled_by_gps(patches, on_gps, single=method.single_database, share=method.trim_tolerance)
            self.on_gps, self.gp_cycles = tuple(sorted(on_gps)), gp_cycles(patches, on_gps, config)
            for number, samples in found.items():
                self.handles[number].result = samples
            self._last = self._account(found, results, self.ledger, time.perf_counter() - begin)
        except BaseException:
            self._marks = marked | self._marks
            raise
        finally:
            self._under_way = False
            # Each of them, even if another one finds no room.
            with ExitStack() as modified:
                for number, patch in reversed(self._modified.items()):
                    modified.callback(self._modify, self.handles[number], patch)
                self._modified = {}
        return tuple(self.handles[number] for number in sorted(marked))

    def _modify(self, handle: PatchHandle, patch: Patch) -> None:
        """Give a patch other control points, as soon as no tessellation is running."""
        if self._under_way:
            self.session.require_alike(handle.number, patch)
            self._modified[handle.number] = patch
            return
        self.session.modify(handle.number, patch)
        handle.patch = patch

    def _account(
        self, found: Mapping[int, PatchSamples], results: Sequence[PassResult], ledger: PatchLedger, seconds: float
    ) -> Tessellation:
        session, numbers = self.session, sorted(found)
        refusals = [session.method.refusal(self.handles[number].patch) for number in numbers]
        refused = {at: why for at, why in enumerate(refusals) if why is not None}
        return Tessellation(
            patches=tuple(found[number] for number in numbers),
            plans=self.plans,
            runs=self.runs,
            library=session.library.name,
            engine=session.node.engine,
            method=session.method,
            config=session.config,
            wall_seconds=seconds,
            ledger=ledger,
            refused=refused if session.method.fixed_sums else {},
            loads=self.loads,
            kept=session.kept if isinstance(session, CachingSession) else None,
            space=session.database.space,
            on_gps=tuple(at for at, number in enumerate(numbers) if number in self.on_gps),
            gp_cycles=self.gp_cycles,
        )

    @property
    def last(self) -> Tessellation:
        """The last tessellation: the marked patches, in the order in which they were added, and its account.

        Raises InputError if there was none.
        """
        if self._last is None:
            raise InputError(Fault("nothing has been tessellated yet", hint="mark patches, then call tessellate()"))
        return self._last

    def recall(self) -> tuple[PatchHandle, ...]:
        """Bring the samples of the last tessellation back from texture memory, where `Method.cache` kept them.

        Returns their handles, with a ``result`` each. Raises InputError if nothing is kept.
        """
        session = self.session
        if not isinstance(session, CachingSession):
            raise InputError(Fault("no results are kept in texture memory", hint="choose a way: Method(cache=...)"))
        results = session.recall()
        self.recalls = tuple(result.run for result in results)
        found = collect(results, session.kept_patches, session.config, session.method)
        for number, samples in found.items():
            self.handles[number].result = samples
        return tuple(self.handles[number] for number in sorted(found))

    @property
    def cycles(self) -> int:
        """EMC cycles of the last tessellation."""
        return sum(run.cycles for run in self.runs)
