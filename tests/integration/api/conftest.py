"""A tenant's case with exhibits, for whoever calls the API."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.support.api import Client
from tests.support.world import World


@dataclass
class Matter:
    """A case of a tenant, and the ids of its exhibits."""

    world: World
    tenant: str
    name: str
    exhibits: list[int]

    @property
    def client(self) -> Client:
        """Somebody of the tenant."""
        return Client(self.tenant)


def matter(world: World, exhibits: int, *, tenant: str = "acme", name: str = "Smith v. Jones") -> Matter:
    """Put a case with so many exhibits, A-0001 and on, into the database, past the API."""
    world.query("INSERT INTO cases (tenant_id, name) VALUES (:t, :n)", t=tenant, n=name)
    case = world.query("SELECT id FROM cases WHERE tenant_id = :t AND name = :n", t=tenant, n=name)[0][0]
    numbers = ", ".join(f"({case}, 'A-{number:04}', 'A title', 1, {number})" for number in range(1, exhibits + 1))
    world.query(f"INSERT INTO exhibits (case_id, control_number, title, import_id, line_no) VALUES {numbers}")
    ids = world.query("SELECT id FROM exhibits WHERE case_id = :c ORDER BY control_number", c=case)
    return Matter(world, tenant, name, [row[0] for row in ids])


@pytest.fixture
def acme(world: World) -> Matter:
    """A case with three exhibits."""
    return matter(world, 3)
