"""Every route that changes something records one activity for each effect, and none for what it refuses or replays.

The routes are those of the OpenAPI document: a new one without an activity fails here.
"""

from __future__ import annotations

from typing import Any

import pytest

from shell.activity_log import ActKind
from tests.torture.access.calls import ApiRequest, ApiResponse, send_as
from tests.torture.access.openapi_places import places
from tests.torture.access.test_roles import is_read
from tests.torture.access.two_tenants import Matrix
from tests.torture.access.valid_requests import requests_of

pytestmark = pytest.mark.slow

# What a request says that finds everything as it wants it: what it names is there already.
CHANGES_NOTHING = {"POST /imports/{importId}/undo", "POST /previews", "DELETE /cases/{caseId}/purge"}
# A request that changes a case in several ways at once has an activity for each.
EFFECTS = {"PATCH /cases/{caseId}": 3, "POST /cases/{caseId}/purge": 2}
COLUMNS = (
    "SELECT id, user_id, action, object_type, object_id, case_id, summary FROM activities WHERE tenant_id = :tenant"
)


def rows(matrix: Matrix) -> dict[int, Any]:
    """The tenant's activities by id."""
    return {row.id: row for row in matrix.world.query(COLUMNS, tenant=matrix.ours.name)}


def send(matrix: Matrix, request: ApiRequest) -> ApiResponse:
    return send_as(request, matrix.ours.name, matrix.ours.user)


def changing(matrix: Matrix) -> list[ApiRequest]:
    """Each changing request that the tenant may make."""
    return [matrix.fresh(each) for each in requests_of(matrix.ours) if not is_read(each.route)]


def test_every_changing_route_is_requested(matrix: Matrix) -> None:
    assert {each.route for each in changing(matrix)} == {route for route in places() if not is_read(route)}


def test_an_effect_has_one_activity_and_a_replay_and_a_refusal_have_none(matrix: Matrix) -> None:
    before, found = rows(matrix), dict[str, set[str]]()
    for request in changing(matrix):
        response = send(matrix, request)
        assert response.status < 300, (request, response)
        made = [row for id_, row in rows(matrix).items() if id_ not in before]
        assert all(row.user_id == matrix.ours.user for row in made), request
        expected = EFFECTS.get(request.route, 1)
        assert len(made) == expected or (not made and request.route in CHANGES_NOTHING), (request, made)
        found.setdefault(request.route, set()).update(row.action for row in made)
        if "header:Idempotency-Key" in request.values:
            assert send(matrix, request).status == response.status
            assert len(rows(matrix)) == len(before) + len(made), f"{request}: a replay"
        matrix.kept.put_back(matrix.world.engine)
        missing = {name: 10**9 if name.startswith("path:") else value for name, value in request.values.items()}
        if missing != request.values and request.route != "PUT /devices/{deviceId}":
            assert send(matrix, request.with_values(missing)).status >= 400, request
            assert rows(matrix).keys() == before.keys(), f"{request}: a refusal"
        matrix.kept.put_back(matrix.world.engine)
    assert {action for actions in found.values() for action in actions} <= {each.value for each in ActKind}


def test_no_summary_has_a_name_or_a_text_of_a_tenant(matrix: Matrix) -> None:
    for request in changing(matrix):
        send(matrix, request)
        for row in rows(matrix).values():
            assert matrix.ours.mark not in row.summary, row
        matrix.kept.put_back(matrix.world.engine)


def test_what_belongs_to_a_case_names_it(matrix: Matrix) -> None:
    whole = {"profile", "device"}
    for row in rows(matrix).values():
        assert (row.case_id is None) == (row.object_type in whole), row
    ends = {"import.completed", "import.checked", "import.undo_ended", "production.confirmed"}
    assert ends <= {row.action for row in rows(matrix).values() if row.user_id is None}
