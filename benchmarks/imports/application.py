"""The application's handlers in this process, on a schema of their own and S3 and SQS on this machine.

Guaranteed: handlers get the events that Lambda would give them, and what is timed is the handlers alone. S3 and SQS are
another process, as the database is.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import import_chunk
import start_import
from benchmarks.database import Database, adopt
from benchmarks.errors import BenchmarkError
from benchmarks.imports.invoking import Handler, Message, seconds_of
from benchmarks.imports.steady_aws import SteadyAws
from local.aws import LocalAws
from local.processes import Processes
from local.time_scale import TimeScale
from shell.observability import metrics
from shell.utils import aws

_QUEUES = ("IMPORT_REQUESTS_QUEUE_URL", "IMPORT_CHUNKS_QUEUE_URL", "OUTBOX_NUDGE_QUEUE_URL")
_CHUNKS = "SELECT chunk_no FROM import_chunks WHERE import_id = :import_id AND status = 'pending' ORDER BY chunk_no"
_LEFT = "SELECT status, rows_seen, imported, unchanged, rejected FROM imports WHERE id = :import_id"


@dataclass(frozen=True)
class Imported:
    """One import: what became of its rows, and the seconds that the handlers took, for the file and for each chunk."""

    import_id: int
    rows: int
    imported: int
    unchanged: int
    start_s: float
    chunks_s: Sequence[float]

    @property
    def seconds(self) -> float:
        """Of all handlers."""
        return self.start_s + sum(self.chunks_s)


@dataclass(frozen=True)
class Application:
    """What is measured: `environment` is that of its functions."""

    database: Database
    environment: Mapping[str, str]

    def upload(self, path: Path, case: str) -> Message:
        """Put a load file into the bucket; gives what S3 says of it."""
        key = f"imports/benchmark/{case}/{time.monotonic_ns()}/{path.name}"
        with path.open("rb") as file:
            put = aws.s3().put_object(Bucket=self.environment["BUCKET"], Key=key, Body=file)
        size = path.stat().st_size
        stored = {"key": key, "versionId": put["VersionId"], "eTag": put["ETag"], "size": size, "sequencer": "1"}
        bucket = {"name": self.environment["BUCKET"]}
        return {"Records": [{"eventName": "ObjectCreated:Put", "s3": {"bucket": bucket, "object": stored}}]}

    def start(self, request: Message) -> tuple[int, float]:
        """Split the file; gives the import's id and the seconds it took."""
        seconds = _timed(start_import.lambda_handler, request)
        return int(self.database.query("SELECT MAX(id) FROM imports")[0][0]), seconds

    def run(self, path: Path, case: str, each: Callable[[int], object] = lambda _done: None) -> Imported:
        """Import the file, one chunk after another; `each` is called with the chunks done so far."""
        return self.finish(*self.start(self.upload(path, case)), each)

    def finish(self, import_id: int, start_s: float, each: Callable[[int], object] = lambda _done: None) -> Imported:
        """Import what is pending of a file that is split."""
        seconds = []
        for chunk_no in self.pending(import_id):
            seconds.append(self.chunk(import_id, chunk_no))
            each(len(seconds))
        status, rows, imported, unchanged, rejected = self.database.query(_LEFT, import_id=import_id)[0]
        if status != "completed" or imported + unchanged != rows:
            raise BenchmarkError(f"the import ended as {status}, with {rejected} of {rows} rows rejected")
        return Imported(import_id, rows, imported, unchanged, start_s, seconds)

    def pending(self, import_id: int) -> list[int]:
        """The chunks that are to be done."""
        return [row[0] for row in self.database.query(_CHUNKS, import_id=import_id)]

    def chunk(self, import_id: int, chunk_no: int) -> float:
        """The seconds that a chunk takes."""
        return _timed(import_chunk.lambda_handler, {"import_id": import_id, "chunk_no": chunk_no})


@contextmanager
def own_application(database: Database) -> Iterator[Application]:
    """The application on that schema, in this process's environment."""
    processes = Processes()
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        local = SteadyAws(processes, Path(folder) / "aws.log", TimeScale(1.0))
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
    use(environment)
    return environment


def use(environment: Mapping[str, str]) -> None:
    """Make it this process's, as a new Lambda environment has it."""
    adopt({**os.environ, **environment})
    for client in (aws.s3, aws.sqs, aws.sns):
        client.cache_clear()


def _timed(handler: Handler, body: Message) -> float:
    seconds = seconds_of(handler, body)
    # Where metrics are switched off they pile up, and the hundredth of a name prints them all.
    metrics.clear_metrics()
    return seconds
