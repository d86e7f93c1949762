"""Draws: a scene as a picture, and as the work that the boxes time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attila_bridge.assembler import ShaderProgram
from attila_bridge.function.coverage import (
    DEPTH_MOST,
    assembled,
    is_outside,
    names_twice,
    set_up,
    steps_of,
    triangles_of,
)
from attila_bridge.function.fragments import FragmentStage, FrameBuffers, color_word
from attila_bridge.function.layout import (
    DEFAULT_UNITS,
    Allocator,
    Units,
    assembled_program,
    blocks_of,
    line_of,
    program_bytes,
    program_work,
    registers_of,
    rop_of,
    shader_of,
    writes_depth,
)
from attila_bridge.function.shading import Shader
from attila_bridge.function.texture import TextureImage, UnitSampler, texture_bytes
from attila_bridge.function.traversal import scan_lines, traverse
from attila_bridge.function.work import (
    AttilaWork,
    AttributeWork,
    BeforeWork,
    ClearWork,
    DrawWork,
    QuadWork,
    StateWork,
    TriangleOutcome,
    TriangleWork,
    UploadWork,
    VertexWork,
)
from attila_bridge.isa.operands import RegisterBank, ShaderStage
from attila_bridge.scene import ATTRIBUTES, AttilaScene, Compare, SceneDraw, StencilOperation
from pixelflow.simd.errors import Fault, InputError, Place

POSITION = 0
"""The output register of a vertex program that holds the position."""
_HZ = (Compare.LESS, Compare.LEQUAL, Compare.EQUAL)
_AGAINST_HZ = (Compare.ALWAYS, Compare.GREATER, Compare.GEQUAL, Compare.NOTEQUAL)
Integers = NDArray[np.int32]


def draw(scene: AttilaScene, units: Units = DEFAULT_UNITS, *, first: int = 0) -> AttilaWork:
    """Draw a scene; of the draws before ``first`` the work has only the buffers that they left.

    Raises InputError where a program has faults, a draw lacks what its programs read, or there is no draw ``first``.
    """
    if not 0 <= first < max(1, len(scene.draws)):
        last = len(scene.draws) - 1
        hint = f"the scene's draws are 0 to {last}" if last >= 0 else "the scene has no draws"
        raise InputError(Fault(f"there is no draw {first} to begin with", Place(scene.file), hint))
    width, height = scene.size
    values = scene.clear
    clear = ClearWork(
        color=None if values.color is None else color_word(values.color),
        depth=None if values.depth is None else int(np.trunc(values.depth * DEPTH_MOST)),
        stencil=values.stencil,
    )
    blocks = blocks_of(width, height)
    memory = Allocator()
    color_address, depth_address = memory.place(256 * blocks), memory.place(256 * blocks)
    drawer = _Drawer(scene, units, memory, FrameBuffers.cleared(width, height, clear.color or 0, clear.depth_word))
    before = drawer.before(first) if first else None
    draws = tuple(drawer.draw(number, scene.draws[number]) for number in range(first, len(scene.draws)))
    return AttilaWork(
        size=scene.size,
        clear=clear,
        uploads=tuple(drawer.uploads),
        color_address=color_address,
        depth_address=depth_address,
        blocks=blocks,
        draws=draws,
        color=drawer.frame.rows(drawer.frame.color),
        depth=drawer.frame.rows(drawer.frame.depth),
        before=before,
    )


class _Drawer:
    """State from draw to draw: the frame, memory, programs, and whether hierarchical Z is still allowed."""

    def __init__(self, scene: AttilaScene, units: Units, memory: Allocator, frame: FrameBuffers) -> None:
        self.scene, self.units, self.memory, self.frame = scene, units, memory, frame
        self.uploads: list[UploadWork] = []
        self._addresses: dict[str, int] = {}
        self._shaders: dict[str, Shader] = {}
        self._textures: dict[str, TextureImage] = {}
        self._hz_allowed = True

    def before(self, draws: int) -> BeforeWork:
        """Execute the first draws, keeping only their buffers; their uploads take no time."""
        bound: set[int] = set()
        for number in range(draws):
            bound |= set(self.draw(number, self.scene.draws[number]).state.textures)
        self.uploads.clear()
        x, y = self.frame.tiles()
        return BeforeWork(
            draws=draws,
            color=self.frame.lines(self.frame.color),
            depth=self.frame.lines(self.frame.depth),
            rops=rop_of(x, y, self.units.rops).astype(np.uint8),
            textures=tuple(sorted(bound)),
        )

    def draw(self, number: int, what: SceneDraw) -> DrawWork:
        """Execute one draw."""
        scene = self.scene
        known = set(self._shaders)
        vertex = self._shader(what.vertex_program, ShaderStage.VERTEX)
        fragment = self._shader(what.fragment_program, ShaderStage.FRAGMENT)
        for _, name in sorted(what.textures.items()):
            self._texture(name, number)
        vertices = self._vertices(number, what, vertex.program)
        addresses = [
            None if name in known else self.memory.place(program_bytes(program))
            for name, program in ((what.vertex_program, vertex.program), (what.fragment_program, fragment.program))
        ]
        indices = vertices.indices
        distinct, which = np.unique(indices, return_inverse=True)
        shaded = vertex.vertices(
            {
                ATTRIBUTES[key]: scene.buffers[name].values[distinct].astype(np.float32)
                for key, name in what.attributes.items()
            },
            len(distinct),
        )
        shaded = shaded.with_colors_clamped()
        corners = assembled(what.primitive, what.count)
        vertex_of = which[corners]
        outcome = np.full(len(corners), TriangleOutcome.DRAWN, np.uint8)
        positions = shaded.output(POSITION)[vertex_of]
        outcome[is_outside(positions)] = TriangleOutcome.OUTSIDE
        outcome[names_twice(corners, indices)] = TriangleOutcome.DEGENERATE
        left = np.flatnonzero(outcome == TriangleOutcome.DRAWN)
        setup = set_up(positions[left], *scene.size, what.state.scissor)
        outcome[left[setup.back & what.state.cull]] = TriangleOutcome.CULLED
        outcome[left[setup.empty]] = TriangleOutcome.EMPTY
        areas = np.zeros(len(corners))
        areas[left] = setup.area
        kept = np.flatnonzero(outcome[left] == TriangleOutcome.DRAWN)
        setup = setup.only(kept)
        drawn = left[kept].astype(np.int32)
        width, height = scene.size
        if self.units.recursive:
            batches = traverse(
                setup, drawn, (width, width if self.units.square else max(width, height)), self.units.testers
            )
        else:
            batches = scan_lines(setup, drawn, what.state.scissor or (0, 0, width, height))
        steps = steps_of(batches)
        state = self._state(what, writes_depth(fragment.program))
        sampler = UnitSampler({unit: self._textures[name] for unit, name in what.textures.items()})
        stage = FragmentStage(self.frame, what.state, fragment, setup, shaded, vertex_of[drawn], sampler)
        stage.run(steps)
        quads = QuadWork(
            triangle=drawn[steps.triangle] if len(drawn) else steps.triangle,
            tile_x=steps.x.astype(np.int16),
            tile_y=steps.y.astype(np.int16),
            batch_steps=steps.batch,
            block=line_of(steps.x, steps.y, width).astype(np.int32),
            rop=rop_of(steps.x, steps.y, self.units.rops).astype(np.uint8),
            shader=shader_of(steps.x, steps.y, self.units.shaders).astype(np.uint8),
            inside=stage.inside,
            covered=stage.covered,
            nearest=stage.nearest,
            tested=stage.tested,
            killed=stage.killed,
            depth_words=stage.depth_words,
            color_words=stage.color_words,
        )
        return DrawWork(
            number=number,
            state=state,
            vertex_program=program_work(vertex.program, addresses[0]),
            fragment_program=program_work(fragment.program, addresses[1]),
            vertices=vertices,
            triangles=TriangleWork(corners, outcome, areas, triangles_of(what.primitive)),
            batches=batches,
            quads=quads,
            textures=stage.textures,
        )

    def _shader(self, name: str, stage: ShaderStage) -> Shader:
        found = self._shaders.get(name)
        if found is None or found.program.stage is not stage:
            found = self._shaders[name] = Shader(assembled_program(self.scene, name, stage))
        return found

    def _vertices(self, number: int, what: SceneDraw, program: ShaderProgram) -> VertexWork:
        given = {ATTRIBUTES[key]: name for key, name in what.attributes.items()}
        read = registers_of(program, RegisterBank.INPUT)
        missing = [key for key, register in ATTRIBUTES.items() if register in read and register not in given]
        if missing:
            self._refuse(f"draws[{number}]: program {what.vertex_program} reads {missing[0]}, the draw lacks it")
        indices = np.arange(what.count, dtype=np.int32)
        if what.indices is not None:
            found = self.scene.buffers[what.indices]
            self._upload(what.indices, found.values.nbytes, number)
            indices = found.values[: what.count].astype(np.int32)
        attributes = []
        for register, name in sorted(given.items()):
            buffer = self.scene.buffers[name]
            address = self._upload(name, buffer.values.nbytes, number)
            attributes.append(AttributeWork(register, address, buffer.element_bytes, buffer.element_bytes))
        return VertexWork(indices, tuple(attributes))

    def _state(self, what: SceneDraw, late: bool) -> StateWork:
        state, depth, stencil = what.state, what.state.depth, what.state.stencil
        keeps = stencil is None or stencil.fail is stencil.zfail is StencilOperation.KEEP
        hz = depth is not None and depth.func in _HZ and keeps and self._hz_allowed
        if depth is not None and depth.write and depth.func in _AGAINST_HZ:
            self._hz_allowed = False
        indices = None if what.indices is None else self.scene.buffers[what.indices]
        return StateWork(
            depth_test=depth is not None,
            depth_func=Compare.ALWAYS.value if depth is None else depth.func.value,
            stencil_test=stencil is not None,
            blend=state.blend is not None,
            color_mask=sum(1 << at for at, each in enumerate(state.color_mask) if each),
            early_z=not late,
            hz=hz and not late,
            textures=tuple(sorted(what.textures)),
            index_bytes=0 if indices is None else indices.element_bytes,
            index_address=0 if what.indices is None else self._addresses[what.indices],
        )

    def _upload(self, name: str, size: int, number: int) -> int:
        if name not in self._addresses:
            self._addresses[name] = self.memory.place(size)
            self.uploads.append(UploadWork(name, self._addresses[name], size, number))
        return self._addresses[name]

    def _texture(self, name: str, number: int) -> None:
        if name in self._textures:
            return
        texture = self.scene.textures[name]
        image = self._textures[name] = TextureImage(texture, self.memory.place(texture_bytes(texture)))
        for level, values in enumerate(texture.levels):
            self.uploads.append(UploadWork(name, image.level_address(level), values.nbytes, number))

    def _refuse(self, message: str) -> None:
        raise InputError(Fault(message, Place(self.scene.file)))
