"""The numbers of productions as claims: confirmed ones, void ones, and those of before there were claims."""

from __future__ import annotations

from importlib import import_module

from shell.productions.steps import PRODUCTION, reserve
from tests.integration.imports.test_production_numbers import claims, found
from tests.support.application.driver import World
from tests.support.database.application_user import administrator_engine
from tests.support.imports.image_load_files import opt, results
from tests.support.productions.runs import ask, cancel, execute, put_documents, status_of


def test_a_confirmed_production_claims_its_numbers(world: World) -> None:
    first, second = put_documents(world, ["A-1", "A-2"])
    production = ask(exhibitIds=[first, second])
    execute(production)
    assert status_of(world, production) == "confirmed"
    assert claims(world) == [
        ("A-1", 0, production, 0, 0, "ACME0000001", "ACME0000001", None),
        ("A-2", 0, production, 0, 0, "ACME0000002", "ACME0000002", None),
    ]
    assert found("ACME2") == ["A-2"]
    images = world.run(opt(("ACME0000002", 2)), name="images.opt")
    assert results(world, images) == ("completed", 1, 1, 0, 0, 0)


def test_void_numbers_are_not_claimed(world: World) -> None:
    put_documents(world, ["A-1"])
    production = ask()
    reserve({PRODUCTION: production})
    cancel(production)
    execute(production)
    assert status_of(world, production) == "cancelled"
    assert found("ACME1") == []
    assert claims(world) == []


def test_a_migration_claims_what_was_produced_before(world: World) -> None:
    put_documents(world, ["A-1", "A-2", "A-3"])
    execute(ask())
    reserve({PRODUCTION: ask(prefix="OTHER")})
    confirmed = claims(world)
    migration = import_module("shell.migrations.versions.0032_production_numbers")
    with administrator_engine().connect() as connection:
        connection.exec_driver_sql("DELETE FROM production_numbers")
        for _ in range(2):
            migration.fill(connection, most=2)
        connection.commit()
    assert claims(world) == confirmed
    assert len(confirmed) == 3
