"""A volume's load file, imported into another case, says there of each document what the first case says of it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import requests
from hypothesis import HealthCheck, given, settings
from sqlalchemy import URL, create_engine, text

from core.productions.volume import resolve_source_key
from local.cli import upload_and_wait
from local.cli.import_status import ImportProgressReader
from local.stack import LocalStack, StackOptions
from local.time_scale import TimeScale
from samples.columns import IdStyle, Role
from samples.dates import DateFormat
from samples.generator import Generated, generate
from samples.spec import Spec
from samples.strategies import specs
from samples.words import Alphabet
from shell.aws import clients
from tests.support import servers
from tests.support.productions import objects_of
from tests.support.round_trips import exhibits, expected, found, is_ambiguous, numbers, said
from tests.support.world import World
from tests.support.written import written

_cases = count()
_ENDS = "SELECT status, rows_seen, imported, rejected, warnings FROM imports WHERE id = :id"
SPICED = Spec(rows=12, alphabets=frozenset(Alphabet), embedded_newlines=True, embedded_lf=True, spice=0.7)


def names_of(made: Generated) -> list[str]:
    """The columns that can be asked for beside ours."""
    return [column.header for column in made.truth.columns if column.role is Role.PROPERTY]


def options_of(rows: Any, names: list[str]) -> dict[str, Any]:
    """With what the DAT is to be read, as docs/load-files.md says."""
    return {"newline": "none"} if is_ambiguous(rows, names) else {}


def put_files(world: World, case: str) -> None:
    """The natives and texts that the case's load file names, as whoever uploads them puts them."""
    for row in exhibits(world, case):
        for path in filter(None, (row.native_path, row.text_path)):
            clients.s3().put_object(
                Bucket=world.bucket, Key=resolve_source_key("tenant", case, path), Body=path.encode()
            )


def produced(world: World, case: str, names: list[str], **asked: Any) -> tuple[int, bytes]:
    """A production whose volume was written, and its DAT."""
    put_files(world, case)
    production = written(case, properties=names, **asked)
    return production, objects_of(world, production)["VOL001/DATA/VOL001.dat"]


def assert_comes_back(world: World, spec: Spec) -> tuple[str, list[str]]:
    """Import, produce, and import what was produced; returns the last case and the columns."""
    made = generate(spec)
    first, second = (f"Case {next(_cases)}" for _ in range(2))
    world.run(made.data, case=first, **(made.options or {}))
    before, names = exhibits(world, first), names_of(made)
    production, dat = produced(world, first, names)
    options = options_of(before, names)
    import_id = world.run(dat, case=second, **options)
    rows = len(before)
    assert tuple(world.query(_ENDS, id=import_id)[0]) == ("completed", rows, rows, 0, 0)
    bates = numbers(world, production)
    assert found(exhibits(world, second), names) == expected(before, names, bates, marks=not options)
    return second, names


TENTH = os.environ.get("RACE_COUNTS") != "full"
VARIANTS = [
    SPICED,
    replace(SPICED, seed=1, convert_marks=False, encoding="utf-16-le"),
    replace(SPICED, seed=2, id_style=IdStyle.BEGDOC, newline="\n", embedded_lf=False, date_format=DateFormat.ISO),
    replace(
        SPICED, seed=3, rows=20, roles=frozenset({Role.ID, Role.TITLE, Role.CUSTODIAN, Role.PARENT}), padded_ids=True
    ),
]


@pytest.mark.parametrize("spec", VARIANTS, ids=["marks", "signs", "begdoc", "few columns"])
def test_what_was_produced_and_imported_again_is_the_same(world: World, spec: Spec) -> None:
    case, names = assert_comes_back(world, spec)
    rows = exhibits(world, case)
    assert len(rows) == spec.rows
    assert any(row.parent_control_number for row in rows)
    assert any("\n" in text for row in rows for text in said(row, names))
    assert bool(options_of(rows, names)) == (spec.convert_marks is False)


@pytest.mark.slow
@settings(max_examples=2 if TENTH else 40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(specs(max_rows=12, fault_kinds=(), headers=(True,)))
def test_whatever_was_imported_is_the_same(world: World, spec: Spec) -> None:
    if spec.rows:
        assert_comes_back(world, spec)


def test_a_production_of_a_production_comes_back_too(world: World) -> None:
    case, names = assert_comes_back(world, replace(SPICED, seed=5, rows=6))
    before = exhibits(world, case)
    production, dat = produced(
        world, case, names, prefix="BETA", query=None, exhibitIds=[row.id for row in before[::2]]
    )
    options = options_of(before[::2], names)
    import_id = world.run(dat, case="Last", **options)
    assert world.query(_ENDS, id=import_id)[0].rejected == 0
    bates = numbers(world, production)
    assert len(bates) == len(before[::2])
    assert found(exhibits(world, "Last"), names) == expected(before, names, bates, marks=not options)


def test_by_pages_families_and_ids_come_back(world: World) -> None:
    lines = ["DOCID|PARENTID|Pages|Title", "A||3|one", "A.1|A|5|two", "B||1|three"]
    world.run("\r\n".join(lines).encode() + b"\r\n", case="First")
    _, dat = produced(world, "First", ["Pages"], numbering="page")
    world.run(dat, case="Second")
    rows = {row.control_number: row for row in exhibits(world, "Second")}
    assert list(rows) == ["ACME0000001", "ACME0000004", "ACME0000009"]
    assert [row.parent_control_number for row in rows.values()] == [None, "ACME0000001", None]
    ends = world.query(
        "SELECT bates_end FROM exhibits JOIN cases ON cases.id = case_id WHERE name = 'Second' ORDER BY 1"
    )
    assert [row[0] for row in ends] == ["ACME0000003", "ACME0000008", "ACME0000009"]


@dataclass
class Stacked:
    """The whole application, and its database."""

    stack: LocalStack
    states: ImportProgressReader

    def query(self, statement: str, **values: Any) -> Any:
        """The statement's rows."""
        engine = create_engine(self.stack.database_url)
        with engine.begin() as connection:
            result = connection.execute(text(statement), values)
            rows = result.all() if result.returns_rows else []
        engine.dispose()
        return rows

    def imported(self, file: Path, case: str, options: dict[str, Any]) -> Any:
        """What became of a file."""
        upload = upload_and_wait.upload_load_file(self.stack, file, "tenant", case, options)
        return upload_and_wait.wait_for_import(
            self.stack, upload_and_wait.build_state_reader(self.states, upload), lambda _state: None
        )

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """An answer of the API."""
        headers = {"Authorization": f"Bearer {self.stack.tokens.issue('tenant', 'ada')}", "Idempotency-Key": path}
        reply = requests.request(method, self.stack.api_url + path, json=body, headers=headers, timeout=60)
        assert reply.ok, reply.text
        return reply.json()

    def ended(self, production: int, ends: Callable[[str], bool]) -> dict[str, Any]:
        """The production, once its status is an end."""
        deadline = time.monotonic() + 60
        while not ends((shown := self.call("GET", f"/productions/{production}"))["status"]):
            assert time.monotonic() < deadline, json.dumps(shown)
            self.stack.wait_for_activity(0.1)
        return dict(shown)


@pytest.fixture
def stacked(tmp_path: Path, schema_url: URL) -> Iterator[Stacked]:
    """With a schema of its own."""
    url = servers.fresh_schema(schema_url.render_as_string(hide_password=False), f"{schema_url.database}_round")
    at, scale = url.render_as_string(hide_password=False), TimeScale(0.05, shortest_timeout=60)
    with (
        LocalStack(tmp_path / "state", StackOptions(workers=2, time_scale=scale, database_url=at)) as stack,
        ImportProgressReader(at) as states,
    ):
        yield Stacked(stack, states)
    servers.drop_schema(url)


@pytest.mark.slow
def test_the_whole_application_takes_its_own_productions(stacked: Stacked, tmp_path: Path) -> None:
    made = generate(replace(SPICED, seed=7, rows=120))
    stacked.imported(made.write(tmp_path / "first.dat"), "A", made.options or {})
    before, names, s3 = exhibits(stacked, "A"), names_of(made), stacked.stack.s3
    for row in before:
        for path in filter(None, (row.native_path, row.text_path)):
            s3.put_object(Bucket=stacked.stack.bucket, Key=resolve_source_key("tenant", "A", path), Body=path.encode())
    asked = {"case": "A", "volume": "VOL001", "prefix": "ACME", "digits": 7, "query": {}, "properties": names}
    production = stacked.call("POST", "/productions", asked)["id"]
    shown = stacked.ended(production, lambda status: status not in ("requested", "running", "cancelling"))
    assert (shown["status"], shown["documents"]) == ("confirmed", len(before))
    s3.download_file(stacked.stack.bucket, f"{shown['folder']}DATA/VOL001.dat", str(tmp_path / "again.dat"))
    options = options_of(before, names)
    state = stacked.imported(tmp_path / "again.dat", "B", options)
    assert (state.status, state.imported, state.rejected, state.warnings) == ("completed", len(before), 0, 0)
    bates = numbers(stacked, production)
    assert found(exhibits(stacked, "B"), names) == expected(before, names, bates, marks=not options)
