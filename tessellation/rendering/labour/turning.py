"""Frames of a moving camera, with the EMCs all the way to instruction words: sampled by view, and all patches alike.

For each frame the manager chooses k patch by patch; the EMCs tessellate, light, project, cut, and make the words that
draw, and the node draws the picture from these. The same is executed with one k for all patches, the smallest whose
largest error on the screen is not above that of sampling by view. Other machines draw the triangles that the EMCs made
of the samples by view, from their corners on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pixelflow.config import NodeConfig
from pixelflow.node import stages_of, words_of
from pixelflow.simd.drawing import (
    Draw,
    DrawnFrame,
    Frame,
    FreeWork,
    Picture,
    PictureDifference,
    draw,
    free_in_all,
    free_lines,
    free_object,
)
from pixelflow.simd.report import Column, Json, Report, Table, counted, facts, number
from tessellation.picture import View
from tessellation.plan.stages import without_configuration
from tessellation.rendering.account import free_feed, free_pixels, uncounted_pixels, uncounted_work
from tessellation.rendering.composition.network import pixel_cycles
from tessellation.rendering.words import InstructionWords, draw_words, generate_words
from tessellation.sampling.choice import SeenPatches, unseen_facts
from tessellation.sampling.measured import pixel_errors, samples_alike

__all__ = ["TurnedFrame", "Turning", "WordFrame", "turn", "turning_report"]

_NODE = "PixelFlow"
Drawer = Callable[[Frame], DrawnFrame]


@dataclass(frozen=True, slots=True, eq=False)
class WordFrame:
    """A frame that was drawn from the EMCs' words; cycles of the node's EMCs, all executed."""

    samples: int
    passes: int
    tessellation: int
    words: int
    """Cycles from samples to words in GP memory."""
    drawing: int
    triangles: int
    """With an area."""
    error: float
    """The largest distance between triangles and surface on the screen, in pixels, measured."""
    picture: Picture
    same: bool
    """Whether every pixel is that of the same triangles in 64-bit integers."""
    library: str
    """Of the tessellation."""
    configuring: int = 0
    """Cycles of the tessellation in which the LEE was configured: each frame is of a node of its own."""
    free: tuple[FreeWork, ...] = ()
    """What of its work has a bound and is in none of the cycles."""

    @property
    def cycles(self) -> int:
        """All three, one after the other."""
        return self.tessellation + self.words + self.drawing


@dataclass(frozen=True, slots=True, eq=False)
class TurnedFrame:
    """A frame in both ways; ``others`` are machines that drew the first one's triangles, by title."""

    number: int
    patches: int
    seen: WordFrame
    alike: WordFrame
    k: int
    """Samples of a side where all patches have as many."""
    others: Mapping[str, DrawnFrame]

    def difference(self, name: str) -> PictureDifference:
        """Return another machine's picture beside the one by view."""
        return PictureDifference.of(self.others[name], self.seen.picture)

    @property
    def wrong(self) -> tuple[str, ...]:
        """Whose picture differs and must not: the reference's from either way's, or another machine's."""
        ways = {"by view": self.seen, "alike": self.alike}
        return (
            *(name for name, each in ways.items() if not each.same),
            *(name for name in self.others if self.difference(name).wrong),
        )


@dataclass(frozen=True, slots=True)
class Turning:
    """What is turned: a scene's name, its size and background, its patches before the camera of a frame."""

    scene: str
    view: Callable[[int], View]
    seen: Callable[[int], SeenPatches]
    background: tuple[int, int, int]


def turn(
    turning: Turning,
    frames: Sequence[int],
    config: NodeConfig,
    drawers: Mapping[str, Drawer],
    *,
    engine: str = "auto",
    tell: Callable[[str], None] | None = None,
) -> Iterator[TurnedFrame]:
    """Draw frames one after the other; frames in which nothing is seen are left out.

    Raises InputError as `generate_words` does.
    """
    for frame in frames:
        here, view = turning.seen(frame), turning.view(frame)
        choice = here.choice()
        if not choice.kept:
            continue
        if tell is not None:
            tell(f"frame {frame}")
        by_view, words = _drawn(here, choice.samples, choice.kept, view, turning.background, config, engine)
        k = samples_alike([here.patches[at] for at in choice.kept], here.standpoint, by_view.error)
        counts = [k] * len(here.patches)
        alike, _ = _drawn(here, counts, choice.kept, view, turning.background, config, engine)
        given = Frame(view.width, view.height, turning.background, (Draw(turning.scene, words.triangles),))
        others = {name: drawer(given) for name, drawer in drawers.items()}
        yield TurnedFrame(frame, len(choice.kept), by_view, alike, k, others)


def _drawn(
    here: SeenPatches,
    counts: Sequence[int],
    judged: Sequence[int],
    view: View,
    background: tuple[int, int, int],
    config: NodeConfig,
    engine: str,
) -> tuple[WordFrame, InstructionWords]:
    """Return a frame whose patches have so many samples of a side, 0 for none; errors are those of ``judged``."""
    kept = [at for at, k in enumerate(counts) if k]
    patches, samples = [here.patches[at] for at in kept], [counts[at] for at in kept]
    tessellation, words = generate_words(
        patches, samples, view, standpoint=here.standpoint, config=config, engine=engine
    )
    drawn = draw_words(words, background=background, config=config, engine=engine)
    wanted = set(judged)
    results = [each for at, each in zip(kept, tessellation.patches, strict=True) if at in wanted]
    same = draw(words.triangles, view.width, view.height, background).equals(drawn.picture)
    needed = sum(
        words_of(run).needed for run in (*tessellation.runs, *words.runs, *(each.run for each in drawn.regions))
    )
    made = WordFrame(
        tessellation.samples, len(tessellation.runs), tessellation.cycles, words.cycles, drawn.cycles,
        len(words.triangles), float(pixel_errors(results, here.standpoint).max()), drawn.picture, same,
        tessellation.library, without_configuration(stages_of(tessellation.runs))[1],
        (*free_feed(needed, 1, config), free_pixels(drawn.places, pixel_cycles(config), config)),
    )  # fmt: skip
    return made, words


def turning_report(
    turning: Turning, size: tuple[int, int], frames: Sequence[TurnedFrame], config: NodeConfig, chosen: Sequence[int]
) -> Report:
    """Return what each frame took in both ways and on other machines; fails where a picture differs.

    Of the ``chosen`` frames those are said, too, in which nothing is seen; raises InputError where that is all.
    """
    drawn = {each.number for each in frames}
    unseen = [each for each in chosen if each not in drawn]
    titles = list(frames[0].others) if frames else []
    columns = (
        Column("frame", key="frame", fixed=True), Column("patches", number, "patches", optional=True),
        Column("samples", number, "samples", optional=True), Column("triangles", number, "triangles", optional=True),
        Column("tessellation", number, "tessellation_cycles", optional=True),
        Column("words", number, "words_cycles", optional=True),
        Column("drawing", number, "drawing_cycles", optional=True), Column("all", number, "cycles"),
        Column("error", "{:.2f}".format, "error_pixels", optional=True), Column("alike: k", number, "alike_k"),
        Column("alike: samples", number, "alike_samples", optional=True), Column("alike: all", number, "alike_cycles"),
        *(Column(title, number, f"{title.lower()}_cycles") for title in titles),
    )  # fmt: skip
    rows = [tuple(_row(each)) for each in frames]
    libraries = dict.fromkeys(f"library {each.seen.library}" for each in frames)
    wrong = [f"frame {each.number}: {', '.join(each.wrong)}" for each in frames if each.wrong]
    return Report(
        "turning",
        (turning.scene, f"{size[0]}x{size[1]}", f"config {config.sha256[:6]}", *libraries),
        [
            "Cycles of the EMCs of one node, from patches in texture memory to the picture by instruction words; "
            "alike: one k for all patches, the smallest whose largest error on the screen is not above that of "
            "sampling by view",
            "",
            Table(columns, rows, key="frames"),
            "",
            *facts([*unseen_facts(unseen, len(chosen)), *_facts(frames, size, config, wrong)]),
        ],
        schema="pixelflow.study.turning/1",
        data={
            "scene": turning.scene,
            "size": list(size),
            "wrong": list(wrong),
            "unseen": list(unseen),
            "left_out": {name: [free_object(each) for each in free] for name, free in _left_out(frames).items()},
        },
        failure=f"pictures differ: {'; '.join(wrong)}" if wrong else None,
    )


def _row(frame: TurnedFrame) -> Iterator[Json]:
    seen, alike = frame.seen, frame.alike
    yield from (str(frame.number), frame.patches, seen.samples, seen.triangles)
    yield from (seen.tessellation, seen.words, seen.drawing, seen.cycles, seen.error)
    yield from (frame.k, alike.samples, alike.cycles)
    yield from (each.cycles for each in frame.others.values())


def _equal(frame: TurnedFrame, name: str) -> bool:
    return frame.others[name].picture.equals(frame.seen.picture)


def _facts(
    frames: Sequence[TurnedFrame], size: tuple[int, int], config: NodeConfig, wrong: Sequence[str]
) -> Iterator[tuple[str, str]]:
    count = max(1, len(frames))
    names = ["reference", *(frames[0].others if frames else ())]
    apart = {name: [each for each in frames if not _equal(each, name)] for name in names[1:]}
    equal = [name for name in names if not apart.get(name)]
    yield (
        "pictures",
        "PIXELS DIFFER" if wrong else f"{counted(len(frames), 'frame')}: every pixel equal, {', '.join(equal)}",
    )
    for name, some in apart.items():
        if some and not wrong:
            yield "", f"{name}, frame {some[0].number}: {some[0].difference(name).text}"
    for name, cycles in (
        ("by view", sum(each.seen.cycles for each in frames)),
        ("alike", sum(each.alike.cycles for each in frames)),
    ):
        milliseconds = config.seconds(cycles) * 1e3 / count
        yield name, f"{number(cycles)} cycles, {milliseconds:,.3g} ms a frame at {config.clock_mhz:g} MHz"
    for name in names[1:]:
        drawn = [each.others[name] for each in frames]
        milliseconds = sum(each.milliseconds for each in drawn) / count
        what = f"{counted(drawn[0].parts, 'part')} at {drawn[0].clock_mhz:g} MHz"
        yield name, f"{number(sum(each.cycles for each in drawn))} cycles, {milliseconds:,.3g} ms a frame, {what}"
    yield "executed", "all cycles, at rates of which some are invented: compare's scorecard names them"
    configured = sum(each.seen.configuring for each in frames)
    yield "", f"among them, by view, the LEE configured for each frame: {number(configured)} cycles"
    work = uncounted_work(chosen=True, words=True)
    yield "not counted", f"PixelFlow: {work}; no rate of a GP is printed"
    yield "", f"{uncounted_pixels(*size, composed=False)}, of every frame"
    for name, free in _left_out(frames).items():
        if name != _NODE:
            yield "", f"{name}: camera, and all else before the corners on the screen"
        yield from (("", f"{name}, {line}") for line in free_lines(free))


def _left_out(frames: Sequence[TurnedFrame]) -> dict[str, list[FreeWork]]:
    """Return what the cycles of the frames leave out, by machine: PixelFlow's of frames by view."""
    found = {_NODE: free_in_all([each.seen.free for each in frames])}
    for name in frames[0].others if frames else ():
        found[name] = free_in_all([each.others[name].free for each in frames])
    return found
