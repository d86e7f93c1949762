"""Summary: the statistics of a run, with what only its end tells: tags of caches, phases, sums over draws."""

from __future__ import annotations

from attila_bridge.statistics import Counts, counts_of
from attila_bridge.time.build.boxes import Boxes
from attila_bridge.time.memory.tags import Tags

__all__ = ["summary", "tags_of"]


def summary(boxes: Boxes) -> dict[str, Counts]:
    """Return copies of all counts by box."""
    made = {box: dict(counts) for box, counts in boxes.counts.items()}
    draws = boxes.draws
    made["SL0"]["MappedAttributes"] = sum(len(draw.attributes) for draw in draws)
    made["StC"]["OutputAttributes"] = sum(draw.vertex_program.outputs for draw in draws)
    made["CP"] = _commands(boxes)
    for box, tags in tags_of(boxes).items():
        counted = tags.counted()
        made[box] = {name: counted[name] for name in counts_of(box.partition("-")[0])}
    return made


def _commands(boxes: Boxes) -> Counts:
    """Return what the command processor counts."""
    counts = counts_of("CP")
    counts.update(boxes.processor.state.phases)
    loads = (each for draw in boxes.draws for each in (draw.vertex_program, draw.fragment_program) if each.loads)
    counts["BytesRead"] = sum(program.bytes for program in loads)
    counts["BytesWritten"] = boxes.uploaded
    counts["Batches"] = len(boxes.draws)
    counts["Frames"] = 1
    return counts


def tags_of(boxes: Boxes) -> dict[str, Tags]:
    """Return the tags of all caches by their names."""
    found = {"FC_InC": boxes.loader.state.tags}
    for rop, (depth, color) in enumerate(zip(boxes.depth, boxes.color, strict=True)):
        found[f"FC_ZST-SU{rop}"] = depth.state.cache.tags
        found[f"FC_CW-SU{rop}"] = color.state.cache.tags
    for shader, units in enumerate(boxes.textures):
        for number, unit in enumerate(units):
            found[f"FC64_TU-FS{shader}TU{number}"] = unit.state.tags
    return found
