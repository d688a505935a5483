"""The expansion of a zip by one worker process or by several, as the queue's messages would have it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import process_volume
from benchmarks.errors import BenchmarkError
from benchmarks.imports.application import Application, apply_environment
from benchmarks.imports.invocation import Message, time_handler
from benchmarks.processes import Workers
from core.caller import Caller
from core.contracts.volumes import NewVolume, VolumeImportRequest
from core.statuses import VolumeStatus
from shell.aws import clients
from shell.db.session import session
from shell.volumes.commands import import_volume
from shell.volumes.queries import get_volume
from shell.volumes.uploads import create_volume

CALLER = Caller(tenant_id="benchmark", user_id="benchmark@example.com")
# Of the function in a deployment.
TIMEOUT_S = 900


@dataclass(frozen=True)
class ExpansionJob:
    """A job: expand units of a volume."""

    environment: Mapping[str, str]
    messages: Sequence[Message]


def prepare_expansion(job: ExpansionJob) -> Callable[[], float]:
    """Return the function that expands the units of a job and returns the seconds of processor time."""
    apply_environment(job.environment)

    def expand() -> float:
        began = time.process_time()
        for message in job.messages:
            time_handler(process_volume.lambda_handler, message)
        return time.process_time() - began

    return expand


def run_expansion(
    application: Application, workers: Workers[ExpansionJob, float], path: Path, count: int
) -> dict[str, float]:
    """Upload a zip and expand it with some workers; return the figures.

    Raises BenchmarkError if the volume is not ready then.
    """
    volume_id = _upload(application, path)
    request = request_import(volume_id)
    list_s = time_handler(process_volume.lambda_handler, request)
    units = [{**request, "task": "expand", "unit_no": at + 1} for at in range(get_volume(CALLER, volume_id).units)]
    jobs = [ExpansionJob(application.environment, share) for at in range(count) if (share := units[at::count])]
    workers.prepare(jobs)
    began = time.perf_counter()
    cpu_s = sum(workers.start(len(jobs)))
    expand_s = time.perf_counter() - began
    files_per_s = check_ready(volume_id) / expand_s
    return {"workers": count, "list_s": list_s, "expand_s": expand_s, "cpu_s": cpu_s, "files_per_s": files_per_s}


def request_import(volume_id: int) -> Message:
    """Have a volume imported; return the message about it."""
    with session() as transaction:
        volume = import_volume(transaction, CALLER, volume_id, VolumeImportRequest())
    return {"volume_id": volume_id, "task": "list", "generation": volume.generation}


def check_ready(volume_id: int) -> int:
    """Return the number of a volume's files. Raises BenchmarkError unless it is ready."""
    volume = get_volume(CALLER, volume_id)
    if volume.status != VolumeStatus.READY:
        raise BenchmarkError(f"the volume is {volume.status}: {volume.failure_message}")
    return volume.files


def _upload(application: Application, path: Path) -> int:
    body = {"case": "Benchmark", "name": path.stem, "archive": {"fileName": path.name, "size": path.stat().st_size}}
    with session() as transaction:
        created = create_volume(transaction, CALLER, NewVolume.model_validate(body))
    if created.archive is None:
        raise BenchmarkError("the volume is not a zip")
    with path.open("rb") as file:
        clients.s3().put_object(Bucket=application.environment["BUCKET"], Key=created.archive.object_key, Body=file)
    return created.id
