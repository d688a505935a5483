"""Text that only one of the two character sets can hold, and columns whose names are hard to keep apart."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace

import pytest
import yaml

import migrate_database
from samples.generator import generate
from samples.spec import Fault, FaultKind, Spec
from samples.words import Alphabet
from shell.settings import properties_format
from shell.utils.document_properties import parse_properties
from tests.support.application.cleared_caches import forget_caches
from tests.support.application.driver import MigrationContext, World
from tests.support.imports.accounting import assert_accounted
from tests.support.imports.rebuilt_rows import assert_rebuilt
from tests.support.imports.row_outcomes import accounts
from tests.support.servers import provisioned_servers
from tests.support.servers.provisioned_servers import RUN, SERVER

WIDE_FAULTS = (FaultKind.WIDE_ID, FaultKind.WIDE_CUSTODIAN, FaultKind.EMOJI_TITLE, FaultKind.EMOJI_PROPERTY)
SPEC = Spec(rows=20, alphabets=frozenset(Alphabet), faults=tuple(Fault(kind) for kind in WIDE_FAULTS))


@pytest.fixture
def wide_world(migrated: dict[str, str], worker_id: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A world whose database is utf8mb4."""
    url = provisioned_servers.fresh_schema(os.environ[SERVER], f"exhibits_wide_{os.environ[RUN]}_{worker_id}")
    monkeypatch.setenv("DATABASE_URL", url.render_as_string(hide_password=False))
    monkeypatch.setenv("DB_CHARSET", "utf8mb4")
    forget_caches()
    migrate_database.lambda_handler({"RequestType": "Local"}, MigrationContext())
    made = World(migrated["BUCKET"], migrated)
    made.chunk_messages()
    yield made
    made.query(f"DROP DATABASE {url.database}")
    made.engine.dispose()
    monkeypatch.undo()
    forget_caches()


def test_a_database_of_four_byte_characters_loses_none_of_them(wide_world: World) -> None:
    made = generate(replace(SPEC, db_charset="utf8mb4"))
    import_id = wide_world.run(made.data)
    # The id with a character of four bytes is in the case, and its family is still written without that character.
    truth = replace(made.truth, file_warnings=(*made.truth.file_warnings, "FAMILY_NOT_READ"))
    assert_accounted(wide_world, import_id, truth)
    assert_rebuilt(wide_world, import_id, truth, made.data)
    assert accounts(wide_world, import_id).counts["rejected"] == 0
    assert {each.code for each in accounts(wide_world, import_id).warned} == {"FAMILY_NOT_READ"}


def test_a_database_of_three_byte_characters_accounts_for_every_one(world: World) -> None:
    made = generate(SPEC)
    import_id = world.run(made.data)
    assert_accounted(world, import_id, made.truth)
    assert_rebuilt(world, import_id, made.truth, made.data)
    assert accounts(world, import_id).counts["rejected"] == 2


def test_a_byte_that_cannot_be_decoded_in_the_id_costs_its_row(world: World) -> None:
    data = "Control Number,Title,Custodian\r\nA-1,é one,Ann\r\nA-é2,é,Ann\r\n".encode()
    import_id = world.run(data.replace("A-é2".encode(), b"A-\xff2") + "A-3,é,Ann\r\n".encode())
    got = accounts(world, import_id)
    assert [(each.line, each.code, each.column) for each in got.rejected] == [
        (3, "UNDECODABLE_BYTES", "Control Number")
    ]
    assert set(got.exhibits) == {2, 4}


WORDS = ("<nil>", "null", "~", "yes", "0x1F", "2001-01-01", "'", '"', "\\", "---", "...", ": #")


def test_a_property_is_the_text_of_its_cell_whatever_it_looks_like(world: World) -> None:
    cells = ['"' + word.replace('"', '""') + '"' for word in WORDS]
    world.run(("Control Number\tNote\r\n" + "".join(f"A-{n}\t{cell}\r\n" for n, cell in enumerate(cells))).encode())
    note = "JSON_UNQUOTE(JSON_EXTRACT(document_properties, '$.Note'))"
    rows = world.query(f"SELECT document_properties, {note} FROM exhibits ORDER BY line_no")
    expected = [None if word == "<nil>" else word for word in WORDS]
    assert [json.loads(row[0]) for row in rows] == [{"Note": each} for each in expected]
    assert [row[1] for row in rows] == [each or "null" for each in expected]


def test_properties_are_the_published_patterns_yaml_where_the_setting_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROPERTIES_FORMAT", "yaml")
    properties_format.cache_clear()
    try:
        import_id = world.run(b"Control Number\tNote\r\nA-1\tit's\r\n")
    finally:
        monkeypatch.undo()
        properties_format.cache_clear()
    (row,) = world.query("SELECT document_properties FROM exhibits WHERE import_id = :id", id=import_id)
    assert row[0].startswith("'")
    assert json.loads(yaml.safe_load(row[0])) == parse_properties(row[0]) == {"Note": "it's"}
