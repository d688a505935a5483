"""The whole application runs from what was built, and leaves what it leaves when it runs from the sources."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL, create_engine

from core.productions.volume import resolve_source_key
from local.cli import report_download, upload_and_wait
from local.cli.import_status import ImportProgress, ImportProgressReader
from local.lambda_runtime.build_artifact import Artifact
from local.stack import LocalStack, StackOptions
from local.time_scale import TimeScale
from samples.demo import write_demo
from tests.artifact.sending import PATIENCE_S, Api
from tests.support import servers
from tests.support.dump import Dump, logical_dump

SCALE = TimeScale(0.05, shortest_timeout=60)
CASE = "Produced"


@contextmanager
def running(state: Path, schema_url: URL, name: str, artifact: Path | None = None) -> Iterator[LocalStack]:
    """A stack with a schema of its own."""
    server = schema_url.render_as_string(hide_password=False)
    url = servers.fresh_schema(server, f"{schema_url.database}_{name}")
    at = url.render_as_string(hide_password=False)
    with LocalStack(state, StackOptions(workers=2, time_scale=SCALE, database_url=at, artifact=artifact)) as stack:
        yield stack
    servers.drop_schema(url)


@pytest.fixture(scope="module")
def built(artifact: Artifact, schema_url: URL, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalStack]:
    """Everything, with the built functions."""
    with running(tmp_path_factory.mktemp("built"), schema_url, "built", artifact.folder) as stack:
        yield stack


def imported(stack: LocalStack, file: Path, case: str) -> ImportProgress:
    """What became of a file."""
    with ImportProgressReader(stack.database_url) as states:
        upload = upload_and_wait.upload_load_file(stack, file, "tenant", case, {})
        return upload_and_wait.wait_for_import(
            stack, upload_and_wait.build_state_reader(states, upload), lambda _state: None
        )


def left_by(stack: LocalStack, file: Path, folder: Path) -> tuple[Dump, dict[str, bytes]]:
    """The dump and the report files of a file's import."""
    state = imported(stack, file, "Demo")
    report_download.download(stack.s3, stack.bucket, state, folder)
    written = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    engine = create_engine(stack.database_url)
    try:
        return logical_dump(engine, state.id), written
    finally:
        engine.dispose()


@pytest.mark.slow
def test_the_demo_leaves_the_same_from_what_was_built_as_from_the_sources(
    built: LocalStack, schema_url: URL, tmp_path: Path
) -> None:
    file = write_demo(tmp_path / "demo")
    dump, files = left_by(built, file, tmp_path / "built")
    with running(tmp_path / "state", schema_url, "sources") as sources:
        expected = left_by(sources, file, tmp_path / "sources")
    assert len(dump["exhibits"]) == 2_990
    assert {Path(name).name for name in files} >= {"report.csv", "warnings.csv", "rejected_rows.dat"}
    assert (dump, files) == expected
    assert built.failures() == []


def ended(stack: LocalStack, production: int) -> Any:
    """The production, once its status is an end."""
    deadline = time.monotonic() + PATIENCE_S
    while (shown := Api(stack).call("GET", f"/productions/{production}"))["status"] in ("requested", "running"):
        assert time.monotonic() < deadline, shown
        stack.wait_for_activity(0.1)
    return shown


@pytest.mark.slow
def test_a_production_is_asked_for_and_made_from_what_was_built(built: LocalStack, tmp_path: Path) -> None:
    file = tmp_path / "loadfile.csv"
    file.write_text(
        "Control Number,Native Link,Text Link\nP-1,N/1.doc,T/1.txt\nP-2,N/2.doc,T/2.txt\n", encoding="utf-8"
    )
    assert imported(built, file, CASE).status == "completed"
    paths = ("N/1.doc", "T/1.txt", "N/2.doc", "T/2.txt")
    for path in paths:
        built.s3.put_object(Bucket=built.bucket, Key=resolve_source_key("tenant", CASE, path), Body=path.encode())
    asked = {"case": CASE, "query": {}, "volume": "VOL001", "prefix": "ACME", "digits": 7}
    shown = ended(built, Api(built).call("POST", "/productions", asked)["id"])
    assert (shown["status"], shown["documents"]) == ("confirmed", 2)
    listed = built.s3.list_objects_v2(Bucket=built.bucket, Prefix=shown["folder"])["Contents"]
    made = {built.s3.get_object(Bucket=built.bucket, Key=each["Key"])["Body"].read() for each in listed}
    assert made >= {path.encode() for path in paths}
    assert f"{shown['folder']}DATA/VOL001.dat" in [each["Key"] for each in listed]
