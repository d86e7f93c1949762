"""The report of `pixelflow serve`: what the server did, and what went to each client over which path."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pixelflow.node import guesses, set_in_vain
from pixelflow.simd.report import Column, Json, Report, Table, counted, facts, number, plural
from tessellation.reports.outcome import errors_text
from tessellation.surface.reference import LIMIT

if TYPE_CHECKING:
    from pixelflow.config import Effective
    from pixelflow.node import Guesses, Run
    from tessellation import PatchFile, PatchServer

__all__ = ["Served", "served_report"]


@dataclass(frozen=True)
class Served:
    """A finished tessellation on a server, and the files that were written."""

    effective: Effective
    file: PatchFile
    library: str
    server: PatchServer
    written: list[str]

    @property
    def samples(self) -> int:
        """Samples of all patches."""
        return sum(handle.result.samples**2 for handle in self.server.handles)

    @cached_property
    def worst_errors(self) -> tuple[float, float]:
        """The largest errors of points and of normals, in their units."""
        results = [handle.result for handle in self.server.handles]
        normals = (float(np.nanmax(each.normal_errors, initial=0.0)) for each in results)
        return max(float(each.point_errors.max()) for each in results), max(normals)

    @property
    def runs(self) -> list[Run]:
        """All that was executed: loads, passes, and deliveries on every node that took part."""
        server = self.server
        return [*server.loads, *server.runs, *(run for each in server.deliveries for run in each.run.runs.values())]

    @cached_property
    def guesses(self) -> Guesses:
        """What of it the thesis does not print."""
        return guesses(self.runs, self.effective.config)

    @property
    def paths(self) -> list[tuple[str, int, int, int]]:
        """Each path with its bytes, its busy cycles, and the cycles by the formula: bytes over bytes a cycle."""
        server, config = self.server, self.effective.config
        width = config.gni.mb_per_second // config.clock_mhz
        narrow = config.gni.gp_memory_mb_per_second // config.clock_mhz
        runs = [delivery.run for delivery in server.deliveries]
        carried = sum(run.network_bytes for run in runs)
        out = sum(run.gni_cycles[0].get("network_out", 0) for run in runs)
        found = [
            ("server's GNI to the network", carried, out, carried // width),
            ("geometry network", carried, sum(run.network_busy_cycles for run in runs), carried // width),
        ]
        for client in range(server.clients):
            stored = sum(delivery.bytes_each[client] for delivery in server.deliveries)
            busy = sum(delivery.client_cycles[client] for delivery in server.deliveries)
            found.append((f"client {client + 1}, to GP memory", stored, busy, stored // narrow))
        return found


def served_report(served: Served) -> Report:
    """Return the cycles of both parts, the paths, the shares of the clients, and how good the results are."""
    server, config = served.server, served.effective.config
    method, node = server.session.method, server.session.node
    total = server.cycles + server.delivery_cycles
    point, normal = served.worst_errors
    shares = ", ".join(str(len(server.share(client))) for client in range(server.clients))
    allowed = f"of {LIMIT:g} allowed (2^-24 x"
    load = sum(run.cycles for run in server.loads)
    outside = method.load == "direct" and method.from_texture
    rows = [
        ("load", f"{number(load)} cycles before, from the server's GP" if server.loads else ""),
        ("tessellation", f"{number(server.cycles)} cycles on the server"),
        ("delivery", f"{number(server.delivery_cycles)} cycles until everything has arrived"),
        ("machine time", f"{config.seconds(total) * 1e3:,.4g} ms at {config.clock_mhz} MHz"),
        ("patches", f"{shares}, client by client"),
        ("worst point error", f"{point:.3f} {allowed} magnitude)"),
        ("worst normal error", f"{normal:.3f} {allowed} condition)"),
        ("not counted", "database loaded outside the counted run" if outside else ""),
        *(("wrote", path) for path in served.written),
    ]
    columns = (
        Column("path", key="path", fixed=True), Column("bytes", number, "bytes"),
        Column("busy cycles", number, "busy_cycles"), Column("formula", number, "formula_cycles"),
    )  # fmt: skip
    work = f"{counted(served.samples, 'sample')} in {plural(len(server.plans), 'pass')}"
    return Report(
        "pixelflow serve",
        (served.file.name, served.effective.label, f"library {served.library}", f"schedule {method.schedule}",
         f"engine {node.engine}", counted(server.clients, "client")),
        [work, "", Table(columns, served.paths, key="paths"), "", *facts(rows, wrap=False),
         *served.guesses.parts],
        schema="pixelflow.serve/1",
        data=_object(served),
        notes=set_in_vain(served.runs, served.effective),
        failure=errors_text(point, normal) if max(point, normal) > LIMIT else None,
    )  # fmt: skip


def _object(served: Served) -> dict[str, Json]:
    """Return everything about it for JSON."""
    server, config = served.server, served.effective.config
    point, normal = served.worst_errors
    return {
        "config": served.effective.as_object(),
        "patches": {"file": served.file.name, "count": len(served.file.patches)},
        "samples": {"per_patch": [handle.result.samples for handle in server.handles], "total": served.samples},
        "library": served.library,
        "engine": server.session.node.engine,
        "schedule": server.session.method.schedule,
        "passes": [
            {
                "patches": len(plan.work.placements),
                "cycles": run.cycles,
                "delivery_cycles": delivery.run.cycles,
                "network_bytes": delivery.run.network_bytes,
                "network_busy_cycles": delivery.run.network_busy_cycles,
            }
            for plan, run, delivery in zip(server.plans, server.runs, server.deliveries, strict=True)
        ],
        "clients": [
            {
                "node": client + 1,
                "patches": [handle.number for handle in server.share(client)],
                "bytes": sum(delivery.bytes_each[client] for delivery in server.deliveries),
                "busy_cycles": sum(delivery.client_cycles[client] for delivery in server.deliveries),
            }
            for client in range(server.clients)
        ],
        "ledger": server.ledger.as_object(),
        "result": {
            "load_cycles": sum(load.cycles for load in server.loads),
            "tessellation_cycles": server.cycles,
            "delivery_cycles": server.delivery_cycles,
            "cycles": server.cycles + server.delivery_cycles,
            "seconds_at_clock": config.seconds(server.cycles + server.delivery_cycles),
            "error_limit": LIMIT,
            "worst_point_error": point,
            "worst_normal_error": normal,
        },
        "guesses": served.guesses.as_object(),
        "written": served.written,
    }
