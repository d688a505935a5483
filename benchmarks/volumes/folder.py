"""A folder of files in the bucket: the list of its files, its rows with links, and its pages, each in a new process."""

from __future__ import annotations

import json
import time
import urllib.request
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import text

import complete_import
import import_chunk
import process_volume
import start_import
from benchmarks.errors import BenchmarkError
from benchmarks.imports.application import Application, apply_environment
from benchmarks.imports.invocation import Message, batched, time_handler
from benchmarks.imports.peak import peak_bytes
from benchmarks.imports.steady_aws import LISTED
from benchmarks.processes import Workers
from benchmarks.volumes.expansion import CALLER, check_ready, request_import
from benchmarks.volumes.sample import count_pages
from core.contracts.volumes import NewVolume
from shell.aws import clients
from shell.db.session import session
from shell.volumes.uploads import create_volume
from shell.work.messages import CompletionMessage

_CLEAR = Path("/proc/self/clear_refs")
_RESET_PEAK = "5"
_IMPORTS = "SELECT id FROM imports WHERE volume_id = :id ORDER BY kind = 'images'"
_PENDING = text("SELECT chunk_no FROM import_chunks WHERE import_id = :id AND status = 'pending' ORDER BY chunk_no")
_STORED = """
    SELECT (SELECT COUNT(*) FROM exhibits WHERE import_id = :rows),
      (SELECT COUNT(*) FROM exhibit_files WHERE import_id = :rows AND file_id > 0),
      (SELECT COUNT(*) FROM pages JOIN page_sets ON page_sets.id = page_set_id AND import_id = :images)
"""


@dataclass(frozen=True)
class FolderJob:
    """A job: deliver the message about a volume, or else import a file from beginning to end."""

    environment: Mapping[str, str]
    message: Message | None = None
    import_id: int | None = None


def prepare_folder(job: FolderJob) -> Callable[[], dict[str, float]]:
    """Return the function that does the job, and returns seconds, and the peak memory above the modules'."""
    apply_environment(job.environment)

    def run() -> dict[str, float]:
        if _CLEAR.exists():
            _CLEAR.write_text(_RESET_PEAK)
        before, began = peak_bytes(), time.process_time()
        if job.message is not None:
            result = {"list_s": time_handler(process_volume.lambda_handler, job.message)}
        else:
            result = _import_whole(job.import_id or 0)
        return {**result, "cpu_s": time.process_time() - began, "peak_mb": (peak_bytes() - before) / 1e6}

    return run


def _import_whole(import_id: int) -> dict[str, float]:
    request = {"import_id": import_id, "generation": 1}
    start_s = time_handler(start_import.lambda_handler, request)
    with session() as reading:
        chunks = list(reading.execute(_PENDING, {"id": import_id}).scalars())
    began = time.perf_counter()
    for batch in batched(chunks):
        time_handler(import_chunk.lambda_handler, *({"import_id": import_id, "chunk_no": each} for each in batch))
    chunks_s = time.perf_counter() - began
    complete_s = time_handler(complete_import.lambda_handler, CompletionMessage(import_id, 1).as_dict())
    return {"start_s": start_s, "chunks_s": chunks_s, "complete_s": complete_s, "chunks": len(chunks)}


def run_folder(
    application: Application, workers: Sequence[Workers[FolderJob, dict[str, float]]], path: Path, documents: int
) -> dict[str, Any]:
    """Import the files of a zip as those of a folder, with one worker for each of three steps.

    Raises BenchmarkError unless every row, link and page is stored.
    """
    volume_id = _create_volume(application, path)
    [listing] = workers[0].work([FolderJob(application.environment, request_import(volume_id))])
    files = check_ready(volume_id)
    ids = [row[0] for row in application.database.query(_IMPORTS, id=volume_id)]
    rows, pages = (
        each.work([FolderJob(application.environment, import_id=import_id)])[0]
        for each, import_id in zip(workers[1:], ids, strict=True)
    )
    expected = (documents, 2 * documents, count_pages(documents))
    [stored] = application.database.query(_STORED, rows=ids[0], images=ids[1])
    if tuple(stored) != expected:
        raise BenchmarkError(f"of {expected} documents, links and pages {tuple(stored)} are stored")
    return {
        "list": {**listing, "per_s": files / listing["list_s"]},
        "rows": _rate(rows, documents),
        "pages": _rate(pages, expected[2]),
    }


def _rate(figures: Mapping[str, float], count: int) -> dict[str, float]:
    return {**figures, "per_s": count / sum(figures[name] for name in ("start_s", "chunks_s", "complete_s"))}


def _create_volume(application: Application, path: Path) -> int:
    """Create a volume of files, with the load files in the bucket, and the other files in its list only."""
    with session() as transaction:
        body = NewVolume.model_validate({"case": "Benchmark", "name": "VOL001"})
        created = create_volume(transaction, CALLER, body)
    bucket = application.environment["BUCKET"]
    with zipfile.ZipFile(path) as zipped:
        for entry in zipped.infolist():
            if entry.filename.startswith("DATA/"):
                clients.s3().put_object(Bucket=bucket, Key=created.prefix + entry.filename, Body=zipped.read(entry))
        listed = {created.prefix + entry.filename: entry.file_size for entry in zipped.infolist()}
    url = clients.s3().meta.endpoint_url.rstrip("/") + LISTED
    request = urllib.request.Request(url, json.dumps(listed).encode(), method="PUT")  # noqa: S310 - our own server
    urllib.request.urlopen(request).close()  # noqa: S310
    return created.id
