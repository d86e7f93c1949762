"""Names of the public simulator's parameters, as overrides of recorded runs have them, and the keys that they set."""

from __future__ import annotations

from collections.abc import Mapping

from attila_bridge.time.config import AttilaConfig
from pixelflow.simd.configuration import Value
from pixelflow.simd.errors import InputError, nearest

# fmt: off
_BOTH: dict[str, str] = {
    "StampsPerCycle": "quads",
    "InputQueueSize": "input_queue",
    "FetchQueueSize": "fetch_queue",
    "ReadQueueSize": "read_queue",
    "OpQueueSize": "op_queue",
    "WriteQueueSize": "write_queue",
    "{}CacheWays": "ways",
    "{}CacheLines": "lines",
    "{}CacheStampsPerLine": "line_quads",
    "{}CachePortWidth": "port",
    "{}CacheExtraReadPort": "extra_read_port",
    "{}CacheExtraWritePort": "extra_write_port",
    "{}CacheRequestQueueSize": "cache_requests",
    "{}CacheInputQueueSize": "cache_inputs",
    "{}CacheOutputQueueSize": "cache_outputs",
    "BlockStateMemorySize": "block_states",
    "BlocksClearedPerCycle": "cleared",
    "DisableCompression": "compress",
    "CompressionUnitLatency": "compression",
    "DecompressionUnitLatency": "decompression",
}
"""Parameters of depth and colour units alike, by names without their section; `{}` is what a cache is called."""

NAMES: dict[str, str] = {
    "GPU.NumFragmentShaders": "gpu.shaders",
    "GPU.NumStampPipes": "gpu.rops",
    "RASTERIZER.StampsPerCycle": "traversal.steps",
    "GPU.NumVertexShaders": "gpu.vertex_ports",
    "COMMANDPROCESSOR.PipelinedBatchRendering": "gpu.pipelined_draws",
    "MEMORYCONTROLLER.MemoryBuses": "memory.channels",
    "MEMORYCONTROLLER.MemoryBusWidth": "memory.bus_bits",
    "MEMORYCONTROLLER.BankGranurality": "memory.interleave",
    "MEMORYCONTROLLER.ReadLatency": "memory.read_latency",
    "MEMORYCONTROLLER.WriteLatency": "memory.write_latency",
    "MEMORYCONTROLLER.WriteToReadLatency": "memory.write_to_read",
    "MEMORYCONTROLLER.MemoryPageSize": "memory.page_bytes",
    "MEMORYCONTROLLER.OpenPages": "memory.open_pages",
    "MEMORYCONTROLLER.PageOpenLatency": "memory.page_open",
    "MEMORYCONTROLLER.MaxConsecutiveReads": "memory.max_reads",
    "MEMORYCONTROLLER.MaxConsecutiveWrites": "memory.max_writes",
    "MEMORYCONTROLLER.RequestQueueSize": "memory.request_queue",
    "MEMORYCONTROLLER.ServiceQueueSize": "memory.service_queue",
    "MEMORYCONTROLLER.ReadBufferLines": "memory.read_buffers",
    "MEMORYCONTROLLER.WriteBufferLines": "memory.write_buffers",
    "MEMORYCONTROLLER.CommandProcessorBusWidth": "memory.command_bus",
    "MEMORYCONTROLLER.StreamerFetchBusWidth": "memory.fetch_bus",
    "MEMORYCONTROLLER.StreamerLoaderBusWidth": "memory.loader_bus",
    "MEMORYCONTROLLER.ZStencilBusWidth": "memory.depth_bus",
    "MEMORYCONTROLLER.ColorWriteBusWidth": "memory.color_bus",
    "MEMORYCONTROLLER.DACBusWidth": "memory.display_bus",
    "MEMORYCONTROLLER.TextureUnitBusWidth": "memory.texture_bus",
    "STREAMER.IndicesCycle": "streamer.indices",
    "STREAMER.SLIndicesCycle": "streamer.indices",
    "STREAMER.IndexBufferSize": "streamer.index_buffer",
    "STREAMER.OutputFIFOSize": "streamer.output_queue",
    "STREAMER.OutputMemorySize": "streamer.output_memory",
    "STREAMER.VerticesCycle": "streamer.vertices",
    "PRIMITIVEASSEMBLY.VerticesCycle": "streamer.vertices",
    "STREAMER.AttributesSentCycle": "streamer.attributes_sent",
    "STREAMER.SLInputRequestQueueSize": "streamer.request_queue",
    "STREAMER.SLAttributesCycle": "streamer.attributes",
    "STREAMER.SLInputCacheLines": "streamer.cache_lines",
    "STREAMER.SLInputCacheLineSize": "streamer.cache_line",
    "STREAMER.SLInputCachePortWidth": "streamer.cache_port",
    "STREAMER.SLInputCacheRequestQueueSize": "streamer.cache_requests",
    "STREAMER.SLInputCacheInputQueueSize": "streamer.cache_inputs",
    "PRIMITIVEASSEMBLY.AssemblyQueueSize": "assembly.queue",
    "PRIMITIVEASSEMBLY.InputBusLatency": "assembly.bus_latency",
    "PRIMITIVEASSEMBLY.TrianglesCycle": "assembly.triangles",
    "CLIPPER.ClipperUnits": "clipper.units",
    "CLIPPER.TrianglesCycle": "clipper.units",
    "CLIPPER.StartLatency": "clipper.start",
    "CLIPPER.ExecLatency": "clipper.latency",
    "CLIPPER.ClipBufferSize": "clipper.buffer",
    "RASTERIZER.SetupUnits": "setup.units",
    "RASTERIZER.TrianglesCycle": "setup.units",
    "RASTERIZER.SetupFIFOSize": "setup.fifo",
    "RASTERIZER.SetupLatency": "setup.latency",
    "RASTERIZER.SetupStartLatency": "setup.start",
    "RASTERIZER.TriangleInputLatency": "setup.input_latency",
    "RASTERIZER.TriangleOutputLatency": "setup.output_latency",
    "RASTERIZER.ScanWidth": "traversal.scan_tile",
    "RASTERIZER.ScanHeight": "traversal.scan_tile",
    "RASTERIZER.GenWidth": "traversal.generation_tile",
    "RASTERIZER.GenHeight": "traversal.generation_tile",
    "RASTERIZER.RasterizationBatchSize": "traversal.batch",
    "RASTERIZER.BatchQueueSize": "traversal.queue",
    "RASTERIZER.RecursiveMode": "traversal.recursive",
    "RASTERIZER.DisableHZ": "hz.enabled",
    "RASTERIZER.StampsPerHZBlock": "hz.block_quads",
    "RASTERIZER.HierarchicalZBufferSize": "hz.blocks",
    "RASTERIZER.HZCacheLines": "hz.cache_lines",
    "RASTERIZER.HZCacheLineSize": "hz.cache_line",
    "RASTERIZER.EarlyZQueueSize": "hz.queue",
    "RASTERIZER.HZAccessLatency": "hz.access_latency",
    "RASTERIZER.HZUpdateLatency": "hz.update_latency",
    "RASTERIZER.HZBlocksClearedPerCycle": "hz.cleared",
    "RASTERIZER.GeneratedStampQueueSize": "fifo.generated",
    "RASTERIZER.EarlyZTestedStampQueueSize": "fifo.tested",
    "RASTERIZER.InterpolatedStampQueueSize": "fifo.interpolated",
    "RASTERIZER.ShadedStampQueueSize": "fifo.shaded",
    "RASTERIZER.ShaderInputQueueSize": "fifo.shader_inputs",
    "RASTERIZER.ShaderInputBatchSize": "fifo.shader_batch",
    "RASTERIZER.VertexInputQueueSize": "fifo.vertex_inputs",
    "RASTERIZER.ShadedVertexQueueSize": "fifo.vertex_outputs",
    "RASTERIZER.NumInterpolators": "fifo.interpolators",
    "FRAGMENTSHADER.ExecutableThreads": "shader.threads",
    "FRAGMENTSHADER.InputBuffers": "shader.buffers",
    "FRAGMENTSHADER.ThreadResources": "shader.registers",
    "FRAGMENTSHADER.ThreadGroup": "shader.group",
    "FRAGMENTSHADER.ThreadRate": "shader.thread_rate",
    "FRAGMENTSHADER.ThreadWindow": "shader.window",
    "FRAGMENTSHADER.FetchDelay": "shader.fetch_delay",
    "FRAGMENTSHADER.InputsPerCycle": "shader.inputs",
    "FRAGMENTSHADER.OutputsPerCycle": "shader.outputs",
    "FRAGMENTSHADER.OutputLatency": "shader.output_latency",
    "FRAGMENTSHADER.TextureUnits": "texture.units",
    "FRAGMENTSHADER.TextureRequestRate": "texture.request_rate",
    "FRAGMENTSHADER.TextureRequestGroup": "texture.request_group",
    "FRAGMENTSHADER.AddressALULatency": "texture.address_latency",
    "FRAGMENTSHADER.FilterALULatency": "texture.filter_latency",
    "FRAGMENTSHADER.TextureRequestQueueSize": "texture.request_queue",
    "FRAGMENTSHADER.TextureAccessQueue": "texture.access_queue",
    "FRAGMENTSHADER.TextureResultQueue": "texture.result_queue",
    "FRAGMENTSHADER.TextureWaitReadWindow": "texture.wait_window",
    "FRAGMENTSHADER.TextureCacheLineSize": "texture.line",
    "FRAGMENTSHADER.TextureCacheWays": "texture.ways",
    "FRAGMENTSHADER.TextureCacheLines": "texture.lines",
    "FRAGMENTSHADER.TextureCachePortWidth": "texture.port",
    "FRAGMENTSHADER.TextureCacheRequestQueueSize": "texture.cache_requests",
    "FRAGMENTSHADER.TextureCacheInputQueue": "texture.cache_inputs",
    "FRAGMENTSHADER.TextureCacheMissesPerCycle": "texture.misses",
    "FRAGMENTSHADER.TextureCacheDecompressLatency": "texture.decompression",
    "DAC.BlockSize": "display.block",
    "DAC.BlockRequestQueueSize": "display.queue",
    "DAC.DecompressionUnitLatency": "display.decompression",
    "DAC.BlocksUpdatedPerCycle": "display.updated",
    "ZSTENCILTEST.ZALUTestRate": "depth.alu_rate",
    "ZSTENCILTEST.ZALULatency": "depth.alu_latency",
    "COLORWRITE.BlendALURate": "color.alu_rate",
    "COLORWRITE.BlendALULatency": "color.alu_latency",
    **{f"ZSTENCILTEST.{name.format('Z')}": f"depth.{key}" for name, key in _BOTH.items()},
    **{f"COLORWRITE.{name.format('Color')}": f"color.{key}" for name, key in _BOTH.items()},
}
"""Key of each parameter that is built."""

NEGATED = frozenset({"RASTERIZER.DisableHZ", "ZSTENCILTEST.DisableCompression", "COLORWRITE.DisableCompression"})
"""Parameters that switch off what their key switches on."""
# fmt: on

_DIGITS = 18
"""The most that a value may have; no range goes as far."""


def overridden(config: AttilaConfig, overrides: Mapping[str, Value]) -> AttilaConfig:
    """Return ``config`` with parameters changed by their public names, ``SECTION.Parameter`` or the last part alone.

    Raises InputError where a name is unknown or not built, or a value is not one of its kind or range.
    """
    changes: dict[str, Value] = {}
    for name, value in overrides.items():
        matches = [each for each in NAMES if name in (each, each.split(".")[1])]
        if not matches:
            close = nearest(name, NAMES)
            raise InputError(f"{name}: no parameter of this name is built" + (f" (near: {close})" if close else ""))
        for match in matches:
            changes[NAMES[match]] = _converted(match, value, config)
    return config.with_values(changes)


def _converted(name: str, value: Value, config: AttilaConfig) -> Value:
    """Return a value of the public simulator's form as the key has it: TRUE and FALSE may come as words."""
    if isinstance(config.values[NAMES[name]], bool):
        words = {"TRUE": True, "FALSE": False, "1": True, "0": False}
        switch = words.get(str(value).upper())
        if switch is None:
            raise InputError(f"{name}: expected TRUE or FALSE, found {value}")
        return switch != (name in NEGATED)
    if isinstance(value, str):
        if not value.isdecimal() or len(value) > _DIGITS:
            raise InputError(f"{name}: expected a whole number, found {value[:_DIGITS]}")
        return int(value)
    return value
