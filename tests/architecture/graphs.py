"""Circles and floors of a graph of imports."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Set
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def circles(arrows: Mapping[Node, Set[Node]]) -> list[list[Node]]:
    """Return for each node that reaches itself a shortest way around, beginning with the node."""
    found = []
    for start in arrows:
        before: dict[Node, Node] = {}
        edge = [start]
        while edge and start not in before:
            edge = [(node, after) for node in edge for after in arrows.get(node, ()) if after not in before]
            for node, after in edge:
                before.setdefault(after, node)
            edge = list(dict.fromkeys(after for _, after in edge))
        if start in before:
            way = [start]
            while (node := before[way[-1]]) != start:
                way.append(node)
            found.append([start, *reversed(way[1:])])
    return found


def floors(arrows: Mapping[Node, Set[Node]]) -> list[Node]:
    """Return a longest chain of imports, the top one first; the nodes of a circle count as one floor."""
    reach = {node: _reached(arrows, node) for node in arrows}
    longest: dict[Node, list[Node]] = {}

    def chain(node: Node) -> list[Node]:
        if node not in longest:
            same = {node, *(each for each in reach[node] if node in reach.get(each, ()))}
            lower = {after for each in same for after in arrows.get(each, ()) if after in arrows} - same
            longest[node] = [node, *max((chain(after) for after in lower), key=len, default=[])]
        return longest[node]

    return max((chain(node) for node in arrows), key=len, default=[])


def _reached(arrows: Mapping[Node, Set[Node]], start: Node) -> set[Node]:
    found: set[Node] = set()
    edge = [start]
    while edge:
        for after in arrows.get(edge.pop(), ()):
            if after not in found:
                found.add(after)
                edge.append(after)
    return found
