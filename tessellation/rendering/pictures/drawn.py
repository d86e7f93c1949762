"""A picture by PixelFlow's nodes, which may also have projected what they have tessellated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from pixelflow.config import NodeConfig
from pixelflow.simd.drawing import Draw, Frame, Picture, ScreenTriangles, State, draw, draw_frame
from pixelflow.simd.errors import UsageError
from pixelflow.simd.report import Report
from tessellation import Tessellation, load
from tessellation.picture import BACKGROUND, SAMPLES, SIZE, PictureOrder, SceneSource, View, lit_triangles
from tessellation.rendering.composition.drawing import draw_on_nodes, require_shaders
from tessellation.rendering.composition.transfers import Roles
from tessellation.rendering.pictures.report import DrawnPicture, WordsAccount, picture_report
from tessellation.rendering.projected import Projected, project_samples
from tessellation.rendering.renderer import require_plain, require_region
from tessellation.rendering.shading import require_deferred
from tessellation.rendering.words import draw_words, generate_words, word_data, word_facts
from tessellation.surface.bpt import PatchFile, is_patches

__all__ = ["picture_by_nodes", "refused_early", "refused_in_animations"]


def refused_early(config: NodeConfig) -> Callable[[Sequence[tuple[str, State]], int], None]:
    """Return what refuses draws that a node does not draw; raises InputError for a node that draws none."""
    require_region(config)
    return lambda draws, samples: require_deferred(draws)


def _required(roles: Roles, source: SceneSource) -> Callable[[Sequence[tuple[str, State]], int], None]:
    """Return what refuses, besides what the source refuses, draws that nodes in these roles do not draw."""

    def require(draws: Sequence[tuple[str, State]], samples: int) -> None:
        if source.require is not None:
            source.require(draws, samples)
        require_shaders(roles, (state for _, state in draws), samples)

    return require


def refused_in_animations(config: NodeConfig, *, anew: bool) -> Callable[[Sequence[tuple[str, State]], int], None]:
    """Return the same for frames one after the other; plain ones alone where patches are tessellated ``anew``.

    Textures would take the place of the patches, and shading the ports over which results return.
    """
    require_region(config)
    return require_plain if anew else refused_early(config)


def picture_by_nodes(order: PictureOrder) -> tuple[Picture, Report]:
    """Draw what was ordered; with the projection ``emc`` the node that tessellates also projects.

    With ``emc-words`` it goes on to the words of instructions.

    Raises UsageError where it was to project what is no patches.
    """
    config, source = order.effective.config, order.source
    if order.projection == "emc-words":
        return _picture_of_words(order)
    roles = Roles.told(order.told.get("parts", 1), order.told.get("shaders", 0))
    projected, choice = None, None
    if order.projection == "emc":
        triangles, tessellations, projected = _projected(order.scene, source)
        frame = Frame(*(source.size or SIZE), BACKGROUND, (Draw("patches", triangles),))
    else:
        scene = replace(order, source=replace(source, require=_required(roles, source))).load()
        frame, tessellations, choice = scene.frame, scene.tessellations, scene.choice
    composed = draw_on_nodes(
        frame, roles, config=config, engine=source.engine, progress=source.progress, watch=source.watch
    )
    triangles = ScreenTriangles.joined([each.triangles for each in frame.draws])
    size, picture = (frame.width, frame.height), composed.picture
    drawn = DrawnPicture(
        triangles, size, frame.background, tuple(tessellations), projected, composed.nodes, picture, composed.time,
        loading=composed.loading, choice=choice, samples=frame.samples,
    )  # fmt: skip
    same = draw_frame(frame).equals(picture)
    return picture, picture_report(order.scene, order.output, source.engine, order.effective, drawn, same=same)


def _picture_of_words(order: PictureOrder) -> tuple[Picture, Report]:
    """Draw from the words that the EMCs have made; raises UsageError for what they make no words of."""
    how, config = order.source, order.effective.config
    if how.flat:
        raise UsageError("--flat", "the EMCs light samples, not facets; --projection emc draws flat triangles")
    if order.told.get("shaders"):
        raise UsageError("--shaders", "the words are drawn by the node that made them; --projection emc takes shaders")
    if order.told.get("parts", 1) != 1:
        raise UsageError("--nodes", "the words are drawn by the node that made them; --projection emc takes several")
    file = _patches(order.scene, how)
    width, height = size = how.size or SIZE
    machine = {"engine": how.engine, "config": config, "progress": how.progress, "watch": how.watch}
    view = replace(how.view or View(), width=width, height=height)
    tessellation, words = generate_words(file.patches, how.patch_samples or SAMPLES, view, **machine)
    node = draw_words(words, background=BACKGROUND, **machine)
    account = WordsAccount(word_facts(words), word_data(words))
    drawn = DrawnPicture(words.triangles, size, BACKGROUND, (tessellation,), None, [node], node.picture, None, account)
    same = draw(words.triangles, *size, BACKGROUND).equals(node.picture)
    report = picture_report(order.scene, order.output, how.engine, order.effective, drawn, same=same)
    return node.picture, report


def _patches(scene: str, how: SceneSource) -> PatchFile:
    """Return the patches that EMCs are to project; raises UsageError where a scene is no patches."""
    if not is_patches(scene):
        raise UsageError("--projection", "the EMCs project what they have tessellated: patches that are named")
    if how.tolerance is not None:
        raise UsageError("--tolerance", "what the EMCs project is sampled alike", "give --samples instead")
    if how.up != "z":
        raise UsageError("--up", "the EMCs project patches as their file has them; z is up")
    file = load(scene)
    for note in file.notes if how.note is not None else ():
        how.note(f"note: {file.name}: {note}")
    return file


def _projected(scene: str, how: SceneSource) -> tuple[ScreenTriangles, tuple[Tessellation, ...], Projected]:
    """Return triangles of patches that the EMCs have tessellated and projected, and both accounts."""
    file = _patches(scene, how)
    width, height = how.size or SIZE
    view = replace(how.view or View(), width=width, height=height)
    machine = {"engine": how.engine, "config": how.config, "progress": how.progress, "watch": how.watch}
    tessellation, projected = project_samples(file.patches, how.patch_samples or SAMPLES, view, **machine)
    mesh = tessellation.mesh(weld=True)
    triangles = lit_triangles(
        mesh.points,
        mesh.normals,
        mesh.triangles,
        view,
        flat=how.flat,
        standpoint=projected.standpoint,
        screen=projected.vertices[mesh.samples],
    )
    return triangles, (tessellation,), projected
