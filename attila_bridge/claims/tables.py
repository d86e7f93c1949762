"""Measures of Table 1: what units take and give in a cycle, hold, and take to do it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attila_bridge.claims.bench import MOST_ATTRIBUTES, AttilaBench
from attila_bridge.claims.probes import WireLog
from attila_bridge.time.config import PAPER as MACHINE
from pixelflow.evidence import Measured, Number

__all__ = ["MEASURES"]

Printed = Mapping[str, Number]


def streamer(bench: AttilaBench, printed: Printed) -> Measured:
    """Stream small triangles, some of whose vertices come again; let vertices wait."""
    run, log = bench.small()
    indices, vertices = log.most("StreamerOutputCache"), log.most("PrimitiveAssemblyInput")
    kept = bench.crowded()[1].queued["vertices"]
    text = f"{indices} index and {vertices} vertex in a cycle; {kept} vertices kept at once; "
    text += f"{run.columns['Hits_StOC']:,} of {run.columns['IndexesSent_StF']:,} indices hit"
    return Measured(text, {"indices": indices, "vertices": vertices, "kept": kept})


def assembly(bench: AttilaBench, printed: Printed) -> Measured:
    """Assemble small triangles."""
    _, log = bench.small()
    vertices, triangles = log.most("PrimitiveAssemblyInput"), log.most("ClipperInput")
    asked = log.held(["PrimitiveAssemblyRequest"], ["PrimitiveAssemblyInput"])
    text = f"{vertices} vertex in, {triangles} triangle out; {asked} vertices asked for at once"
    return Measured(text, {"vertices": vertices, "triangles": triangles, "queue": asked})


def clipping(bench: AttilaBench, printed: Printed) -> Measured:
    """Let triangles through the Clipper, at full rate and so that they wait."""
    _, log = bench.crowded()
    return _triangles(log, "ClipperInput", "RasterizerNewTriangle", "ClipperExecution", log.queued["clipped"])


def setup(bench: AttilaBench, printed: Printed) -> Measured:
    """Set triangles up that cover the screen, so that they wait."""
    _, log = bench.crowded()
    held = log.held(["RasterizerNewTriangle"], ["TriangleSetupOutput"])
    return _triangles(log, "RasterizerNewTriangle", "TriangleSetupOutput", "TriangleSetup", held)


def _triangles(log: WireLog, into: str, out: str, within: str, queue: int) -> Measured:
    taken, given, latency = log.most(into), log.most(out), min(log.latencies[within])
    text = f"{taken} in, {given} out in a cycle, one every {log.shortest(out)} cycles; {queue} held; {latency} cycles"
    return Measured(text, {"triangles": taken, "given": given, "queue": queue, "latency": latency})


def generation(bench: AttilaBench, printed: Printed) -> Measured:
    """Traverse layers of the whole screen."""
    _, log = bench.opaque()
    taken, given = log.most("TriangleSetupOutput"), log.most("HZInputFragment")
    return Measured(f"{taken} triangle in, {given} fragments out", {"triangles": taken, "fragments": given})


def hierarchical_z(bench: AttilaBench, printed: Printed) -> Measured:
    """Let triangles pass that cover the screen."""
    _, log = bench.covering()
    taken, given = log.most("HZInputFragment"), log.most("HZOutput")
    queue, latency = bench.opaque()[1].queued["hz"], min(log.latencies["HZOutput"])
    size = MACHINE.hz.queue
    text = f"{taken} fragments in, {given} out in a cycle; {latency} cycle; {queue} of {size} quads held at once"
    figures = {"fragments": taken, "given": given, "latency": latency, "queue": size, "held": queue}
    return Measured(text, {**figures, "more_than_printed": int(queue > printed["queue"])})


def z_test(bench: AttilaBench, printed: Printed) -> Measured:
    """Test and write depths, with a memory that is slow enough for the queue to fill."""
    _, log = bench.hidden()
    taken, given = log.most("SU0::ZStencilInput"), log.most("SU0::ZStencilOutput")
    latency, queue = min(log.latencies["SU0::ZStencilTest"]), log.queued["z"]
    text = f"{taken} fragments in, {given} out in a cycle; {queue} quads wait for their lines; {latency} cycles"
    return Measured(text, {"fragments": taken, "given": given, "queue": queue, "latency": latency})


def interpolation(bench: AttilaBench, printed: Printed) -> Measured:
    """Interpolate no attribute, one, and as many as a program can read."""
    _, log = bench.opaque()
    taken, given = log.most("InterpolatorInput"), log.most("InterpolatorOutput")
    counts = (0, 1, 4, 5, MOST_ATTRIBUTES)
    latencies = {count: max(bench.interpolated(count)[1].latencies["Interpolation"]) for count in counts}
    text = f"{taken} fragments in, {given} out in a cycle; "
    text += ", ".join(f"{cycles} cycles for {count}" for count, cycles in latencies.items()) + " attributes"
    figures = {
        "fragments": taken,
        "given": given,
        "least": min(latencies.values()),
        "most": max(latencies.values()),
    }
    return Measured(text, figures)


def colour_write(bench: AttilaBench, printed: Printed) -> Measured:
    """Blend layers, with a memory that is slow enough for the queue to fill."""
    _, log = bench.blended()
    taken, latency = log.most("SU0::ColorWriteInput"), min(log.latencies["SU0::ColorWriteBlend"])
    queue = log.queued["colour"]
    text = f"{taken} fragments in a cycle; {queue} quads wait for their lines; {latency} cycles"
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
