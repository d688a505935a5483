"""The application's handlers in this process, with a temporary schema and local S3 and SQS.

Guaranteed: handlers get the events that Lambda would give them, and only the handlers are timed. S3, SQS and the
database run in other processes.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import complete_import
import import_chunk
import start_import
from benchmarks.database import Database, replace_environment
from benchmarks.errors import BenchmarkError
from benchmarks.imports.invocation import Handler, Message, batched, time_handler
from benchmarks.imports.steady_aws import SteadyAws
from core.imports.uploads import build_options_key
from local.services.aws import LocalAws
from local.services.processes import Processes
from local.time_scale import TimeScale
from shell.aws import clients
from shell.observability import metrics
from shell.work.messages import CompletionMessage

_QUEUES = (
    *("IMPORT_REQUESTS_QUEUE_URL", "IMPORT_CHUNKS_QUEUE_URL", "IMPORT_COMPLETIONS_QUEUE_URL"),
    "OUTBOX_WAKE_QUEUE_URL",
    "VOLUME_WORK_QUEUE_URL",
    "PRODUCTION_CHECKS_QUEUE_URL",
)
_CHUNKS = "SELECT chunk_no FROM import_chunks WHERE import_id = :import_id AND status = 'pending' ORDER BY chunk_no"
_RESULT = "SELECT status, rows_seen, imported, unchanged, rejected FROM imports WHERE id = :import_id"


@dataclass(frozen=True)
class ImportRun:
    """The result of one import: its counts, and the seconds of the handlers for the file, each chunk, and the end."""

    import_id: int
    rows: int
    imported: int
    unchanged: int
    start_s: float
    chunks_s: Sequence[float]
    complete_s: float


@dataclass(frozen=True)
class Application:
    """The measured application; `environment` is that of its functions."""

    database: Database
    environment: Mapping[str, str]

    def upload(self, path: Path, case: str, options: Mapping[str, object] | None = None) -> Message:
        """Upload a load file, with its options if there are any, and return its S3 notification."""
        key = f"imports/benchmark/{case}/{time.monotonic_ns()}/{path.name}"
        if options:
            body = json.dumps(options).encode()
            clients.s3().put_object(Bucket=self.environment["BUCKET"], Key=build_options_key(key), Body=body)
        with path.open("rb") as file:
            put = clients.s3().put_object(Bucket=self.environment["BUCKET"], Key=key, Body=file)
        size = path.stat().st_size
        stored = {"key": key, "versionId": put["VersionId"], "eTag": put["ETag"], "size": size, "sequencer": "1"}
        bucket = {"name": self.environment["BUCKET"]}
        return {"Records": [{"eventName": "ObjectCreated:Put", "s3": {"bucket": bucket, "object": stored}}]}

    def start(self, request: Message) -> tuple[int, float]:
        """Split the file; return the import's id and the seconds of the handler."""
        seconds = _timed(start_import.lambda_handler, request)
        return int(self.database.query("SELECT MAX(id) FROM imports")[0][0]), seconds

    def run(self, path: Path, case: str, each: Callable[[int], object] = lambda _done: None) -> ImportRun:
        """Import the file, one chunk after another; `each` is called with the number of imported chunks."""
        return self.finish(*self.start(self.upload(path, case)), each)

    def finish(self, import_id: int, start_s: float, each: Callable[[int], object] = lambda _done: None) -> ImportRun:
        """Import the pending chunks of a split file. Raises BenchmarkError unless all rows are imported."""
        seconds = []
        for batch in batched(self.pending(import_id)):
            seconds.append(self.chunks(import_id, batch))
            each(len(seconds))
        complete_s = self.complete(import_id)
        status, rows, imported, unchanged, rejected = self.database.query(_RESULT, import_id=import_id)[0]
        if status != "completed" or imported + unchanged != rows:
            raise BenchmarkError(f"the import ended with status {status}, with {rejected} of {rows} rows rejected")
        return ImportRun(import_id, rows, imported, unchanged, start_s, seconds, complete_s)

    def pending(self, import_id: int) -> list[int]:
        """Return the numbers of the pending chunks."""
        return [row[0] for row in self.database.query(_CHUNKS, import_id=import_id)]

    def import_chunks(self, import_id: int, numbers: Sequence[int]) -> float:
        """Import chunks in full invocations and return the seconds of the handler."""
        return sum(self.chunks(import_id, batch) for batch in batched(numbers))

    def chunks(self, import_id: int, numbers: Sequence[int]) -> float:
        """Import chunks in one invocation and return the seconds of the handler."""
        return _timed(import_chunk.lambda_handler, *({"import_id": import_id, "chunk_no": each} for each in numbers))

    def complete(self, import_id: int) -> float:
        """Complete an import whose chunks are imported and return the seconds of the handler."""
        return _timed(complete_import.lambda_handler, CompletionMessage(import_id, 1).as_dict())


@contextmanager
def temporary_application(database: Database) -> Iterator[Application]:
    """Set up the application on that schema for the block, in this process's environment."""
    processes = Processes()
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        local = SteadyAws(processes, Path(folder) / "aws.log", TimeScale(1.0), Path(folder) / "objects")
        try:
            local.launch()
            local.await_start()
            yield Application(database, _set_up(database, local))
        finally:
            processes.stop()


def _set_up(database: Database, local: LocalAws) -> dict[str, str]:
    local.s3.create_bucket(Bucket="benchmark")
    local.s3.put_bucket_versioning(Bucket="benchmark", VersioningConfiguration={"Status": "Enabled"})
    queues = {name: local.sqs.create_queue(QueueName=name.lower())["QueueUrl"] for name in _QUEUES}
    topic = local.sns.create_topic(Name="events")["TopicArn"]
    environment = {
        **database.environment,
        **local.environment(),
        **queues,
        "BUCKET": "benchmark",
        "EVENTS_TOPIC_ARN": topic,
    }
    apply_environment(environment)
    return environment


def apply_environment(environment: Mapping[str, str]) -> None:
    """Add the variables to this process's environment and reset the application's settings and clients."""
    replace_environment({**os.environ, **environment})
    for client in (clients.s3, clients.sqs, clients.wake_sqs, clients.sns):
        client.cache_clear()


def _timed(handler: Handler, *bodies: Message) -> float:
    seconds = time_handler(handler, *bodies)
    # Disabled metrics are still collected, and printed at the hundredth value of a name.
    metrics.clear_metrics()
    return seconds
