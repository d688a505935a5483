"""An import runs from what was built as a whole, and leaves what it leaves when it runs from the sources."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import URL, create_engine

from exhibit_ingest.client.api import Api
from exhibit_ingest.client.versions import read_me
from exhibit_ingest.import_request import ImportRequest
from exhibit_ingest.importing.file_imports import import_into
from exhibit_ingest.importing.result import ImportResult
from exhibit_ingest.session.machine import MachineWish
from exhibit_ingest.session.session import Session
from local.command.machine import describe_machine
from local.lambda_runtime.build_artifact import Artifact
from local.stack import LocalStack, StackOptions
from local.time_scale import TimeScale
from samples.demo import write_demo
from tests.support.database.dump import Dump, logical_dump
from tests.support.servers.provisioned_servers import schema_beside

# The migration of an empty database takes a second, and a minute on a machine that does much else.
SCALE = TimeScale(0.05, shortest_timeout=300)


@contextmanager
def running(state: Path, schema_url: URL, name: str, artifact: Path | None = None) -> Iterator[LocalStack]:
    """A stack with a schema of its own."""
    with schema_beside(schema_url, name) as url:
        at = url.render_as_string(hide_password=False)
        with LocalStack(state, StackOptions(workers=2, time_scale=SCALE, database_url=at, artifact=artifact)) as stack:
            yield stack


def left_by(stack: LocalStack, file: Path, folder: Path) -> tuple[Dump, dict[str, bytes]]:
    """The dump and the report files of a file's import."""
    machine, results = describe_machine(stack, MachineWish("tenant", "ada")), list[ImportResult]()
    with Api(machine.url, machine.tokens) as api:
        session = Session(api, "this machine", read_me(api), folder, machine)
        import_into(session, ImportRequest([file], "Demo", {}), results)
        session.close()
    [state] = [result.state for result in results if result.state]
    written = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    engine = create_engine(stack.database_url)
    try:
        return logical_dump(engine, state.id), written
    finally:
        engine.dispose()


@pytest.mark.slow
def test_the_demo_leaves_the_same_from_what_was_built_as_from_the_sources(
    artifact: Artifact, schema_url: URL, tmp_path: Path
) -> None:
    file = write_demo(tmp_path / "demo")
    with running(tmp_path / "state of built", schema_url, "built", artifact.folder) as built:
        dump, files = left_by(built, file, tmp_path / "built")
        assert built.failures() == []
    with running(tmp_path / "state", schema_url, "sources") as sources:
        expected = left_by(sources, file, tmp_path / "sources")
    assert len(dump["exhibits"]) == 2_990
    assert {Path(name).name for name in files} >= {"report.csv", "warnings.csv", "rejected_rows.dat"}
    assert (dump, files) == expected
