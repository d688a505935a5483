"""Every answer keeps to the OpenAPI document, for requests that the document allows and for others.

A run of the quick tests does not collect this module: to make its requests up takes seconds of each worker.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any
from zlib import crc32

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi import checks

from tests.integration.api.conftest import Held, timestamp
from tests.support.api.client import TOKENS
from tests.support.api.wsgi_application import application
from tools import openapi

# Of fewer requests of custody, the ids that the server gave decide whether one meets a period that is in the way.
MANY = 250
EXAMPLES = MANY if os.environ.get("RACE_COUNTS") == "full" else 25
NOT_OURS = [
    # API Gateway answers a method that a path does not have with 404, and names no others.
    checks.unsupported_method,
    # A schema cannot say all that is refused: control characters in names, a key that is taken, a stale version.
    checks.positive_data_acceptance,
]
# Of custody the answers that must be among those that are met: valid requests, in and out of turn.
MET = {
    "POST /custody-periods": {201, 409},
    "GET /custody-periods": {200},
    "GET /custody-periods/{periodId}": {200, 404},
    "PATCH /custody-periods/{periodId}": {200, 409, 412, 428},
    "DELETE /custody-periods/{periodId}": {200, 428},
    "POST /custody-transfers": {201, 409},
    "GET /custody-changes": {200},
    "POST /custodians": {200},
}
schema = schemathesis.openapi.from_dict(json.loads(openapi.DOCUMENT.read_text(encoding="utf-8")))
schema.app = application


@schema.auth()
class Bearer:
    """A token of the tenant whose case the examples meet."""

    def get(self, _case: Case[Any], _context: object) -> str:
        """A token."""
        return TOKENS.issue("acme", "ada")

    def set(self, case: Case[Any], data: str, _context: object) -> None:
        """Into the header."""
        case.headers["Authorization"] = f"Bearer {data}"


def meeting(case: Case[Any], held: Held) -> Case[Any]:
    """Half of what valid requests name exists: else all answers would be 404."""
    chance = drawn(case)
    if case.meta is None or case.meta.generation.mode is GenerationMode.NEGATIVE or chance % 2:
        return case
    period, version = held.period()
    known: dict[str, Any] = {"exhibitId": held.matter.exhibits[0], "periodId": period, "deviceId": held.number}
    known |= {"case": held.matter.name, "exhibitIds": list(held.matter.exhibits)}
    known |= {"custodianId": held.custodian if chance % 4 else None, "fromPeriodId": None if chance % 8 else period}
    for place, said in enumerate([case.path_parameters, case.query, *bodies(case)]):
        said.update({name: value for name, value in known.items() if name in said})
        said.update(timestamps(said, chance // 2 % 1_000 + place, is_open=chance % 8 == 0))
    # Most cases have the same key, or no ETag that is of a version.
    if "Idempotency-Key" in case.headers:
        case.headers["Idempotency-Key"] = str(chance)
    if "periodId" in case.path_parameters and case.method != "GET":
        case.headers["If-Match"] = f'"{version if chance % 3 else version + 1}"'
    return case


def bodies(case: Case[Any]) -> list[dict[str, Any]]:
    """The objects that are sent: one, those of an array, or none."""
    sent = case.body if isinstance(case.body, list) else [case.body]
    return [each for each in sent if isinstance(each, dict)]


def timestamps(said: Mapping[str, Any], hour: int, *, is_open: bool) -> dict[str, str | None]:
    """Half an hour in which the device may be held or not, or all the time from then on; transfers say so as well."""
    values = {"begin": timestamp(hour), "at": timestamp(hour), "end": None if is_open else timestamp(hour + 0.5)}
    return {name: value for name, value in values.items() if name in said or (name == "end" and "at" in said)}


def drawn(case: Case[Any]) -> int:
    """A number that is the same for the same case."""
    said = (case.path_parameters, case.query, sorted(case.headers.items()), case.body)
    return crc32(repr(said).encode("utf-8", "replace"))


@pytest.fixture
def met() -> Iterator[set[tuple[str, int]]]:
    """What was answered to which operation; at the end it must have been what can be met."""
    answers: set[tuple[str, int]] = set()
    yield answers
    for operation in {operation for operation, _ in answers} & MET.keys():
        assert MET[operation] <= {status for _, status in answers}, sorted(answers)


LIMITS = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much],
)
# Without a parameter, pytest gives the tests of all operations one id, of which pytest-xdist runs the first alone.
EXCLUDED = pytest.mark.parametrize("excluded", [NOT_OURS], ids=["ours"])
CUSTODY = "^/custod"


@pytest.mark.slow
@EXCLUDED
@schema.include(path_regex=CUSTODY).parametrize()
@settings(LIMITS, max_examples=MANY)
def test_every_answer_of_custody_keeps_to_the_document(
    case: Case[Any], held: Held, met: set[tuple[str, int]], excluded: list[Any]
) -> None:
    answer = meeting(case, held).call_and_validate(excluded_checks=excluded)
    met.add((case.operation.label, answer.status_code))


@pytest.mark.slow
@EXCLUDED
@schema.exclude(path_regex=CUSTODY).parametrize()
@settings(LIMITS, max_examples=EXAMPLES)
def test_every_other_answer_keeps_to_the_document(case: Case[Any], held: Held, excluded: list[Any]) -> None:
    meeting(case, held).call_and_validate(excluded_checks=excluded)
