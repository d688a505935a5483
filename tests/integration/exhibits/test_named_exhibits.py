"""Exhibits that a selection names by their ids, and those that it leaves out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError
from sqlalchemy import text

from core.contracts.exhibit_queries import MAX_IDS, ExhibitQuery, ExhibitSelection
from core.contracts.exports import NewExport
from core.contracts.productions import NewProduction
from core.contracts.stored_filters import unpack_filters
from core.contracts.tagging_jobs import NewTaggingJob
from core.errors import NotFoundError
from shell.db.session import session
from shell.exhibits import search
from shell.exhibits.listing import list_exhibits
from shell.exports.commands import create_export
from shell.productions.commands import create_production
from shell.tagging_jobs.commands import create_job
from tests.integration.exhibits.exhibit_requests import CALLER
from tests.support.exhibits.stored_cases import Cases

STORED = ("request FROM tagging_jobs", "filters FROM exports")


def found(**filters: Any) -> tuple[list[str], int | None]:
    """The control numbers of the list, and its count."""
    query = ExhibitQuery.model_validate({"case": "Case", "count": "true", **filters})
    page = list_exhibits(CALLER, query)
    return [each.control_number for each in page.items], page.total


def test_exhibits_are_named_and_left_out_with_other_filters(cases: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = [cases.exhibit(f"A-{number}", title="x" if number % 2 else "y") for number in range(5)]
    others = cases.exhibit("B-1", case="Other")
    # Ids lead to few exhibits, and the others are searched in parts of six.
    monkeypatch.setattr(search, "MAX_SEARCHED", 12)
    named = f"{mine[3]},{mine[0]},{mine[3]},{others}"
    assert found(ids=named) == (["A-0", "A-3"], 2)
    assert found(ids=named, title="x", hasNative="false") == (["A-3"], 1)
    assert found(ids=named, exceptIds=str(mine[0])) == (["A-3"], 1)
    assert found(exceptIds=f"{mine[0]},{mine[4]},{others}") == (["A-1", "A-2", "A-3"], 3)
    assert found(ids=str(others)) == ([], 0)


@pytest.mark.parametrize("name", ["ids", "exceptIds"])
def test_what_is_stored_names_exhibits_of_the_case_alone(cases: Cases, name: str) -> None:
    cases.exhibit("A-1")
    query = {name: [cases.exhibit("B-1", case="Other")]}
    job = NewTaggingJob.model_validate({"case": "Case", "query": query, "add": ["Hot"]})
    export = NewExport.model_validate({"case": "Case", "kind": "documents", "format": "csv", "filters": query})
    numbers = {"volume": "V", "prefix": "P", "digits": 3}
    production = NewProduction.model_validate({"case": "Case", **numbers, "query": query})
    creations: list[tuple[Callable[..., object], object]] = [
        (create_job, job),
        (create_export, export),
        (create_production, production),
    ]
    for create, body in creations:
        with pytest.raises(NotFoundError, match=r"The case has no exhibit \d+"), session() as transaction:
            create(transaction, CALLER, body)


def test_a_worker_that_does_not_know_the_ids_fails(cases: Cases) -> None:
    left_out = cases.exhibit("A-1")
    cases.exhibit("A-2")
    query = {"exceptIds": [left_out]}
    with session() as transaction:
        job = NewTaggingJob.model_validate({"case": "Case", "query": query, "add": ["Hot"]})
        export = NewExport.model_validate({"case": "Case", "kind": "documents", "format": "csv", "filters": query})
        create_job(transaction, CALLER, job)
        create_export(transaction, CALLER, export)
    with session() as reading:
        [request], [filters] = (reading.execute(text(f"SELECT {each}")).one() for each in STORED)
    for stored in (json.loads(request)["query"], json.loads(filters)):
        # What the previous release does, to which these filters would otherwise be none: the whole case.
        with pytest.raises(TypeError):
            ExhibitQuery.model_validate({"caseId": 1, **stored})
        assert unpack_filters(stored) == query


def test_ids_are_few_and_numbers() -> None:
    assert ExhibitSelection.model_validate({"ids": [3, 3, 5]}).model_dump()["ids"] == [3, 5]
    for value in ([], "", "3", ["3"], [True], [0], [1.5], list(range(1, MAX_IDS + 2)), 7):
        with pytest.raises(ValidationError):
            ExhibitSelection.model_validate({"ids": value})
    assert ExhibitQuery.model_validate({"case": "Case", "ids": "3,5"}).ids == [3, 5]
    for value in ("", "1,", "1.5", "+1", " 1"):
        with pytest.raises(ValidationError):
            ExhibitQuery.model_validate({"case": "Case", "exceptIds": value})
