"""Ray tracing (neither): a mesh in a tree of boxes, packets of sixteen rays through it, a picture and its cycles."""

from larrabee_bridge.kernels.tracing.mesh import TracedMesh, knot_on_floor
from larrabee_bridge.kernels.tracing.scene import TracedView
from larrabee_bridge.kernels.tracing.tracer import Traced, trace
from larrabee_bridge.kernels.tracing.tree import BoxTree, tree_of

__all__ = ["BoxTree", "Traced", "TracedMesh", "TracedView", "knot_on_floor", "trace", "tree_of"]
