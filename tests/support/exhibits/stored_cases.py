"""Cases with exhibits, put into the database past the application: for its operations, and for callers of the API."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.api.client import Client
from tests.support.application.driver import World
from tests.support.database.committed_state import Queried
from tests.support.database.counted_database import Database


def get_or_create_case(at: Queried, name: str, tenant: str) -> int:
    """The id of a case, made on first use."""
    known = at.query("SELECT id FROM cases WHERE tenant_id = :t AND name = :n", t=tenant, n=name)
    if known:
        return int(known[0][0])
    at.query("INSERT INTO cases (tenant_id, name) VALUES (:t, :n)", t=tenant, n=name)
    return get_or_create_case(at, name, tenant)


def put_import(at: Queried, case_id: int, import_id: int) -> None:
    """Add an import of the case with this id, unless it is there."""
    at.query(
        "INSERT INTO imports (id, upload_key, tenant_id, case_id, bucket, object_key, size, file_name, user_id, status)"
        " SELECT :i, RPAD(:i, 32, '-'), tenant_id, id, 'b', 'k', 0, 'f', 'u', 'completed' FROM cases WHERE id = :c "
        "AND NOT EXISTS (SELECT 1 FROM imports WHERE imports.id = :i)",
        i=import_id,
        c=case_id,
    )


def put_exhibits(at: Queried, case_id: int, control_numbers: Sequence[str], **columns: Any) -> list[int]:
    """Add exhibits, as if a file had held them from its second line on; returns their ids in the order given."""
    if "import_id" in columns:
        put_import(at, case_id, columns["import_id"])
    values = {"case_id": case_id, "import_id": 1, "row_hash": b"\1" * 32, **columns}
    lines = {} if "line_no" in columns else {"line_no": "given.position + 1"}
    selected = {"control_number": "given.control_number", **lines, **{name: f":{name}" for name in values}}
    at.query(
        f"INSERT INTO exhibits ({', '.join(selected)}) SELECT {', '.join(selected.values())} "
        "FROM JSON_TABLE(:numbers, '$[*]' COLUMNS (position FOR ORDINALITY, "
        "control_number VARCHAR(255) CHARACTER SET utf8mb4 PATH '$')) AS given",
        numbers=json.dumps(control_numbers),
        **values,
    )
    ids = dict(map(tuple, at.query("SELECT control_number, id FROM exhibits WHERE case_id = :c", c=case_id)))
    return [int(ids[number]) for number in control_numbers]


@dataclass
class Cases:
    """Cases, exhibits and links of a database."""

    database: Database

    def case(self, name: str, tenant: str = "tenant") -> int:
        """The id of a case, made on first use."""
        return get_or_create_case(self.database, name, tenant)

    def exhibit(self, control_number: str, case: str = "Case", tenant: str = "tenant", **columns: Any) -> int:
        """Add an exhibit; returns its id."""
        return put_exhibits(self.database, self.case(case, tenant), [control_number], **columns)[0]

    def exhibits(self, count: int, case: str = "Case") -> list[int]:
        """Add so many exhibits at once; returns their ids in order."""
        return put_exhibits(self.database, self.case(case), [f"{case}-{number:06}" for number in range(count)])

    def row(self, exhibit_id: int) -> Any:
        """The exhibit as it is committed."""
        return self.database.query("SELECT * FROM exhibits WHERE id = :id", id=exhibit_id)[0]

    def taggings(self) -> list[tuple[int, str]]:
        """All taggings, as (exhibit id, tag)."""
        statement = "SELECT exhibit_id, name FROM taggings JOIN tags ON tags.id = tag_id ORDER BY 1, 2"
        return [(row[0], row[1]) for row in self.database.query(statement)]


@dataclass
class Matter:
    """A case of a tenant, and the ids of its exhibits."""

    world: World
    tenant: str
    name: str
    exhibits: list[int]

    @property
    def client(self) -> Client:
        """A user of the tenant."""
        return Client(self.tenant)


def matter(world: World, exhibits: int, *, tenant: str = "acme", name: str = "Smith v. Jones") -> Matter:
    """A case with so many exhibits, A-0001 and on."""
    numbers = [f"A-{number:04}" for number in range(1, exhibits + 1)]
    return Matter(
        world, tenant, name, put_exhibits(world, get_or_create_case(world, name, tenant), numbers, title="A title")
    )
