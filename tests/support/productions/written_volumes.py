"""Volumes that were written without an execution around it, of exhibits that were put past the application."""

from __future__ import annotations

from typing import Any

from shell.db.session import session
from shell.productions import steps
from shell.tables.productions import Productions
from shell.utils.document_properties import serialize_properties
from tests.support.application.driver import World
from tests.support.exhibits.stored_cases import get_or_create_case, put_exhibits
from tests.support.productions.runs import ask, objects_of
from tests.support.volumes.load_file_reader import read_dat


def exhibit(world: World, number: str, case: str = "Case", custodians: tuple[str, ...] = (), **columns: Any) -> int:
    """An exhibit and who held it; `properties` as they were imported."""
    case_id = get_or_create_case(world, case, "tenant")
    properties = columns.pop("properties", None)
    stored = {} if properties is None else {"document_properties": serialize_properties(properties)}
    [made] = put_exhibits(world, case_id, [number], **stored, **columns)
    for name in custodians:
        world.query("INSERT IGNORE INTO custodians (case_id, name) VALUES (:c, :n)", c=case_id, n=name)
        link = (
            "INSERT INTO custodian_exhibits (exhibit_id, custodian_id, user_id) SELECT :e, id, 'u' FROM custodians "
            "WHERE case_id = :c AND name = :n"
        )
        world.query(link, e=made, c=case_id, n=name)
    return made


def written(case: str = "Case", **fields: Any) -> int:
    """A production whose volume was written, without an execution around it."""
    production = ask(case, **fields)
    context = {steps.PRODUCTION: production}
    steps.begin(context)
    context |= steps.reserve(context)
    for part in range(steps.count_copy_steps(context)):
        steps.copy({**context, "part": part})
    return production


def dat_of(world: World, production: int, marks: bool = True) -> list[dict[str, str]]:
    """The records of the DAT."""
    return read_dat(objects_of(world, production)["VOL001/DATA/VOL001.dat"], marks)


def running() -> Productions:
    """The last production that was requested."""
    with session() as reading:
        return reading.query(Productions).order_by(Productions.id.desc()).limit(1).one()
