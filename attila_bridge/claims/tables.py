"""Measures of Table 1: what units take and give in a cycle, hold, and take to do it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attila_bridge.claims.bench import AttilaBench
from attila_bridge.claims.probes import WireLog
from pixelflow.evidence import Measured, Number

__all__ = ["MEASURES"]

Printed = Mapping[str, Number]
_QUAD = 4


def streamer(bench: AttilaBench, printed: Printed) -> Measured:
    """Stream small triangles, some of whose vertices come again."""
    run, log = bench.small()
    indices, vertices = log.most("StreamerOutputCache"), log.most("PrimitiveAssemblyInput")
    kept = run.config.streamer.output_memory
    text = f"{indices} index and {vertices} vertex in a cycle; {run.columns['Hits_StOC']:,} hits in {kept} vertices"
    return Measured(text, {"indices": indices, "vertices": vertices, "kept": kept})


def assembly(bench: AttilaBench, printed: Printed) -> Measured:
    """Assemble small triangles."""
    _, log = bench.small()
    vertices, triangles = log.most("PrimitiveAssemblyInput"), log.most("ClipperInput")
    asked = log.held(["PrimitiveAssemblyRequest"], ["PrimitiveAssemblyInput"])
    text = f"{vertices} vertex in, {triangles} triangle out; {asked} vertices asked for at once"
    return Measured(text, {"vertices": vertices, "triangles": triangles, "queue": asked})


def clipping(bench: AttilaBench, printed: Printed) -> Measured:
    """Let triangles through the Clipper that cover the screen, so that they wait."""
    _, log = bench.hidden()
    return _triangles(log, "ClipperInput", "RasterizerNewTriangle", "ClipperExecution")


def setup(bench: AttilaBench, printed: Printed) -> Measured:
    """Set triangles up that cover the screen, so that they wait."""
    _, log = bench.hidden()
    return _triangles(log, "RasterizerNewTriangle", "TriangleSetupOutput", "TriangleSetup")


def _triangles(log: WireLog, into: str, out: str, within: str) -> Measured:
    taken, given, queue, latency = log.most(into), log.most(out), log.held([into], [out]), min(log.latencies[within])
    text = f"{taken} in, {given} out in a cycle; {queue} held; {latency} cycles"
    return Measured(text, {"triangles": taken, "given": given, "queue": queue, "latency": latency})


def generation(bench: AttilaBench, printed: Printed) -> Measured:
    """Traverse layers of the whole screen."""
    _, log = bench.opaque()
    taken, given = log.most("TriangleSetupOutput"), log.most("HZInputFragment")
    return Measured(f"{taken} triangle in, {given} fragments out", {"triangles": taken, "fragments": given})


def hierarchical_z(bench: AttilaBench, printed: Printed) -> Measured:
    """Let triangles pass that cover the screen, all of whose quads are inside."""
    _, log = bench.covering()
    taken, given = log.most("HZInputFragment"), log.most("HZOutput")
    queue, latency = log.held(["HZInputFragment"], ["HZOutput"]) // _QUAD, min(log.latencies["HZOutput"])
    text = f"{taken} fragments in, {given} out in a cycle; {queue} quads held; {latency} cycle"
    return Measured(text, {"fragments": taken, "given": given, "queue": queue, "latency": latency})


def z_test(bench: AttilaBench, printed: Printed) -> Measured:
    """Test and write depths."""
    run, log = bench.hidden()
    taken, given = log.most("SU0::ZStencilInput"), log.most("SU0::ZStencilOutput")
    latency, queue = min(log.latencies["SU0::ZStencilTest"]), run.config.depth.fetch_queue
    text = f"{taken} fragments in, {given} out in a cycle; a queue of {queue}; {latency} cycles"
    return Measured(text, {"fragments": taken, "given": given, "queue": queue, "latency": latency})


def interpolation(bench: AttilaBench, printed: Printed) -> Measured:
    """Interpolate colours."""
    _, log = bench.opaque()
    taken, given = log.most("InterpolatorInput"), log.most("InterpolatorOutput")
    latencies = log.latencies["Interpolation"]
    text = f"{taken} fragments in, {given} out in a cycle; {min(latencies)} to {max(latencies)} cycles"
    figures = {"fragments": taken, "given": given, "least": min(latencies), "most": max(latencies)}
    return Measured(text, figures)


def colour_write(bench: AttilaBench, printed: Printed) -> Measured:
    """Blend layers."""
    run, log = bench.blended()
    taken, latency = log.most("SU0::ColorWriteInput"), min(log.latencies["SU0::ColorWriteBlend"])
    queue = run.config.color.fetch_queue
    text = f"{taken} fragments in a cycle; a queue of {queue}; {latency} cycles"
    return Measured(text, {"fragments": taken, "queue": queue, "latency": latency})


def fragment_shader(bench: AttilaBench, printed: Printed) -> Measured:
    """Shade by thirty instructions."""
    _, log = bench.long()
    taken, given = log.most("FS0::ShaderCommand"), log.most("FS0::ShaderOutput")
    inputs = log.held(["FS0::ShaderCommand"], ["FS0::ShaderOutput"])
    text = f"{taken} inputs and {given} outputs in a cycle; {inputs} inputs held"
    return Measured(text, {"fragments": taken, "given": given, "inputs": inputs})


MEASURES: dict[str, Callable[[AttilaBench, Printed], Measured]] = {
    "streamer": streamer,
    "assembly": assembly,
    "clipping": clipping,
    "setup": setup,
    "generation": generation,
    "hierarchical-z": hierarchical_z,
    "z-test": z_test,
    "interpolation": interpolation,
    "colour-write": colour_write,
    "fragment-shader": fragment_shader,
}
"""By the names of the claims."""
