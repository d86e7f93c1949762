"""Boxes of the machine, each with its part of the configuration."""

from __future__ import annotations

from dataclasses import dataclass

from attila_bridge.statistics import Counts, counts_of
from attila_bridge.time.before import Contents
from attila_bridge.time.command.display import Display, DisplaySpec
from attila_bridge.time.command.processor import CommandProcessor, CommandProcessorSpec, CommandProcessorState, Step
from attila_bridge.time.config import AttilaConfig
from attila_bridge.time.memory.controller import ControllerSpec, MemoryController
from attila_bridge.time.memory.requests import Client
from attila_bridge.time.plan import DrawPlan
from attila_bridge.time.raster.hierarchical_z import HierarchicalZ, HierarchicalZSpec
from attila_bridge.time.raster.interpolator import Interpolator, InterpolatorSpec
from attila_bridge.time.raster.setup import SetupSpec, TriangleSetup
from attila_bridge.time.raster.traversal import TraversalSpec, TriangleTraversal
from attila_bridge.time.rops.cache import RopCacheSpec
from attila_bridge.time.rops.color import ColorUnit
from attila_bridge.time.rops.compression import COLOR_LEVELS, DEPTH_LEVELS
from attila_bridge.time.rops.depth import DepthUnit
from attila_bridge.time.rops.unit import RopSpec
from attila_bridge.time.shading.fifo import FragmentFifo
from attila_bridge.time.shading.fifo_state import FifoSpec
from attila_bridge.time.shading.shader import ShaderSpec, UnifiedShader
from attila_bridge.time.shading.texture_unit import TexturePipeline, TexturePipelineSpec
from attila_bridge.time.vertices.assembly import PrimitiveAssembly, PrimitiveAssemblySpec
from attila_bridge.time.vertices.clipper import Clipper, ClipperSpec
from attila_bridge.time.vertices.commit import StreamerCommit, StreamerCommitSpec
from attila_bridge.time.vertices.fetch import StreamerFetch, StreamerFetchSpec
from attila_bridge.time.vertices.loader import StreamerLoader, StreamerLoaderSpec
from attila_bridge.time.vertices.output_cache import StreamerOutputCache, StreamerOutputCacheSpec

__all__ = ["Boxes", "FramePlan"]


@dataclass(frozen=True)
class FramePlan:
    """What the boxes are told of a frame."""

    draws: tuple[DrawPlan, ...]
    steps: tuple[Step, ...]
    blocks: int
    pixels: int
    color_address: int
    depth_address: int
    clear_color: int
    clear_depth: int
    program_address: int
    uploaded: int
    """Bytes uploaded, programs included."""
    before: Contents | None = None
    """What draws before these have left in the buffers; None where these are all."""


class Boxes:
    """The boxes of a machine; units that there are several of by number."""

    def __init__(self, config: AttilaConfig, frame: FramePlan) -> None:
        self.config = config
        self.draws = frame.draws
        self.uploaded = frame.uploaded
        self.clients: list[Client] = []
        gpu, memory, draws = config.gpu, config.memory, frame.draws
        rops, shaders, ports = range(gpu.rops), range(gpu.shaders), gpu.vertex_ports
        quads = 16 * config.traversal.steps
        self.processor = CommandProcessor(
            "CommandProcessor",
            CommandProcessorSpec(
                config.command,
                memory,
                frame.steps,
                draws,
                self._client("CommandProcessor", "CommandProcessor", memory.command_bus),
                gpu.rops,
                gpu.shaders,
                gpu.pipelined_draws,
                frame.program_address,
            ),
            CommandProcessorState(),
        )
        streamer = config.streamer
        loader_client = self._client("StreamerLoader", "StreamerLoader", memory.loader_bus)
        fetch_client = self._client("StreamerFetch", "StreamerFetch", memory.fetch_bus)
        self.fetch = StreamerFetch(
            "StreamerFetch", StreamerFetchSpec(streamer, draws, fetch_client), self._counts("StF")
        )
        self.cache = StreamerOutputCache("StreamerOutputCache", StreamerOutputCacheSpec(streamer), self._counts("StOC"))
        self.loader = StreamerLoader(
            "StreamerLoader",
            StreamerLoaderSpec(streamer, draws, ports, loader_client, memory.loader_bus),
            self._counts("SL0"),
        )
        self.commit = StreamerCommit(
            "StreamerCommit", StreamerCommitSpec(streamer, config.assembly, draws, ports), self._counts("StC")
        )
        self.assembly = PrimitiveAssembly(
            "PrimitiveAssembly", PrimitiveAssemblySpec(config.assembly, config.clipper, draws), self._counts("PA")
        )
        setup = config.setup
        self.clipper = Clipper("Clipper", ClipperSpec(config.clipper, draws, setup.start), self._counts("CLP"))
        self.setup = TriangleSetup("TriangleSetup", SetupSpec(setup, draws, frame.pixels), self._counts("TS"))
        self.traversal = TriangleTraversal(
            "TriangleTraversal", TraversalSpec(config.traversal, draws), self._counts("TT")
        )
        self.hz = HierarchicalZ(
            "HierarchicalZ", HierarchicalZSpec(config.hz, draws, quads, gpu.rops, frame.blocks), self._counts("HZ")
        )
        self.interpolator = Interpolator("Interpolator", InterpolatorSpec(config.fifo, draws))
        self.fifo = FragmentFifo(
            "FragmentFIFO",
            FifoSpec(config.fifo, draws, gpu.rops, gpu.shaders, ports, config.shader.group, quads),
            self._counts("FFU"),
        )
        # Requests of one cycle queue up in the order of the clients: ROP by ROP, its depths before its colours.
        units = [(self._depth(frame, rop), self._color(frame, rop)) for rop in rops]
        self.depth, self.color = [depth for depth, _ in units], [color for _, color in units]
        display_client = self._client("DAC", "DAC", memory.display_bus)
        self.display = Display(
            "DAC",
            DisplaySpec(config.display, display_client, gpu.rops, frame.blocks, frame.color_address),
            self._counts("DAC"),
        )
        self.shaders = [
            UnifiedShader(
                f"FS{n}::Shader",
                ShaderSpec(config.shader, config.texture, draws),
                self._counts("ShF"),
                self._counts("ShDX"),
            )
            for n in shaders
        ]
        self.textures = [[self._texture(frame, n, unit) for unit in range(config.texture.units)] for n in shaders]
        self.memory = MemoryController(
            "MemoryController",
            ControllerSpec(memory, tuple(self.clients)),
            self._counts("MC"),
        )

        if frame.before is not None:
            self._begin(frame, frame.before)

    def _begin(self, frame: FramePlan, before: Contents) -> None:
        """Put what draws by function alone have left where the boxes find it; caches stay empty."""
        for rop, (depth, color) in enumerate(zip(self.depth, self.color, strict=True)):
            depth.state.cache.begin(frame.clear_depth, before.of(rop, before.depth))
            color.state.cache.begin(frame.clear_color, before.of(rop, before.color))
        self.hz.state.buffer.update(before.maxima)

    @property
    def counts(self) -> dict[str, Counts]:
        """What each box has counted up to now, by its suffix."""
        found: dict[str, Counts] = {
            "StF": self.fetch.state.counts,
            "StOC": self.cache.state.counts,
            "SL0": self.loader.state.counts,
            "StC": self.commit.state.counts,
            "PA": self.assembly.state.counts,
            "CLP": self.clipper.state.counts,
            "TS": self.setup.state.counts,
            "TT": self.traversal.state.counts,
            "HZ": self.hz.state.counts,
            "FFU": self.fifo.state.counts,
            "MC": self.memory.state.counts,
            "DAC": self.display.state.counts,
        }
        for rop, (depth, color) in enumerate(zip(self.depth, self.color, strict=True)):
            found[f"ZST-SU{rop}"] = depth.state.counts
            found[f"CW-SU{rop}"] = color.state.counts
        for number, (shader, units) in enumerate(zip(self.shaders, self.textures, strict=True)):
            found[f"ShF-FS{number}"] = shader.state.counts
            found[f"ShDX-FS{number}"] = shader.state.executed
            found |= {f"TU-FS{number}TU{unit}": each.state.counts for unit, each in enumerate(units)}
        return found

    def _counts(self, box: str) -> Counts:
        return counts_of(box, self.config.memory.channels)

    def _client(self, name: str, kind: str, width: int) -> int:
        self.clients.append(Client(len(self.clients), name, kind, width))
        return len(self.clients) - 1

    def _depth(self, frame: FramePlan, rop: int) -> DepthUnit:
        config, width = self.config.depth, self.config.memory.depth_bus
        client = self._client(f"SU{rop}::ZStencilTest", "ZStencilTest", width)
        cache = RopCacheSpec(
            config,
            client,
            width,
            frame.depth_address,
            1 + config.extra_read_port,
            1 + config.extra_write_port,
            DEPTH_LEVELS,
        )
        spec = RopSpec(
            config,
            cache,
            rop,
            self.config.gpu.rops,
            frame.draws,
            frame.blocks,
            frame.clear_depth,
            self.config.hz.enabled,
        )
        return DepthUnit(f"SU{rop}::ZStencilTest", spec, self._counts("ZST"))

    def _color(self, frame: FramePlan, rop: int) -> ColorUnit:
        config, width = self.config.color, self.config.memory.color_bus
        client = self._client(f"SU{rop}::ColorWrite", "ColorWrite", width)
        cache = RopCacheSpec(
            config,
            client,
            width,
            frame.color_address,
            1 + config.extra_read_port,
            1 + config.extra_write_port,
            COLOR_LEVELS,
        )
        spec = RopSpec(config, cache, rop, self.config.gpu.rops, frame.draws, frame.blocks, frame.clear_color)
        return ColorUnit(f"SU{rop}::ColorWrite", spec, self._counts("CW"))

    def _texture(self, frame: FramePlan, shader: int, unit: int) -> TexturePipeline:
        width = self.config.memory.texture_bus
        name = f"FS{shader}TU{unit}"
        client = self._client(f"{name}::Texture", "TextureUnit", width)
        spec = TexturePipelineSpec(self.config.texture, frame.draws, client, width)
        return TexturePipeline(f"{name}::TextureUnit", spec, self._counts("TU"))
