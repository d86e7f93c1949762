"""Account of a picture by nodes (watching): what its figures rest on."""

from tessellation.rendering.account.grounds import PE_BITS, counted_by_nodes, grounds_of_nodes

__all__ = ["PE_BITS", "counted_by_nodes", "grounds_of_nodes"]
