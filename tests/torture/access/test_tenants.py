"""No request of a tenant reads, changes or tells apart anything of another tenant's, whatever of theirs it names.

Every route and every place of the OpenAPI document; the twins leave the tenant out of a condition, one after the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import partial
from urllib.parse import quote

import pytest

from tests.support.api.client import template
from tests.support.application.driver import request_messages
from tests.torture.access.attacks import EVERYTHING, NEW_IDS, Check, comparable
from tests.torture.access.calls import ApiRequest, ApiResponse, send_as
from tests.torture.access.invalid_tokens import lookalikes
from tests.torture.access.openapi_places import places
from tests.torture.access.table_rows import rows_about, tables
from tests.torture.access.tenant_leaks import Condition, modules_with_conditions, watched
from tests.torture.access.two_tenants import OUR_IDS, THEIR_IDS, Matrix
from tests.torture.access.valid_requests import list_unused_places, requests_of

pytestmark = pytest.mark.slow

# A statement that leaves the tenant out of these is stopped by what follows.
HELD_UP = {
    ("imports.state.facts", "lock_import"): "the import is read once more, with the tenant, before a commit",
    ("productions.selection", "_iterate_pages"): "exhibits are counted with the case first, and names are of the case",
    ("productions.selection", "_check_custodian_names"): "only custodians of the selected exhibits count",
    ("productions.queries", "_list_void"): "only productions of the case's own sequences count",
    ("volume_files.error_files", "require_volume"): "the volume is of a case of the tenant, and of the tenant",
    ("productions.checks", "_find_privileged"): "only the exhibits of the production count",
    ("productions.control_numbers", "find_control_numbers"): "the ids are of exhibits of the production",
    ("exhibits.match_keys", "_find_window"): "no case here has as many exhibits as a search looks at first",
    ("cases.obstacles", "_find_first"): "the case is of the tenant, and work is of one case",
    ("custody.period_writer", "enter_cases"): "the custodians are looked for again, with the tenant",
    ("exhibits.leads", "is_long"): "it counts up to a number that no case here has, and the page has the case again",
}
# What would tell of another case does not exist here; test_undo.py, test_unchanged.py and
# test_production_checks.py have it.
NOTHING_TO_TELL = {
    ("exhibits.case_locks", "_find"): "no import of another case runs that would refuse the undo",
    ("imports.undo.queries", "describe_undo"): "every chunk lists the documents that it found unchanged",
    ("families.reading", "has_statements"): "no row states a family",
    ("exhibits.summaries", "describe_exhibits"): "the ids are of matches of the case",
    ("productions.bates_sequences", "list_overlapping"): "no document has a Bates number of its own",
    **dict.fromkeys(
        (
            *(("exhibits.delivered", "list_numbers"), ("exhibits.numbers", "list_claimants")),
            *(("exhibits.match_keys", "_read"), ("exhibits.match_keys", "_count")),
            ("exhibits.listing", "_number"),
        ),
        "no document was delivered under another number",
    ),
    **dict.fromkeys(
        (
            *(("purges.certificates", "read_certificate"), ("purges.certificates", "_read_stored")),
            *(("purges.certificates", "_read_locked"), ("purges.tallies", "read_tallies")),
        ),
        "the case, which is found first, is of the tenant",
    ),
    **dict.fromkeys(
        (("case_state.names", "find_former"), ("case_state.names", "remove_former")),
        "no case was renamed; test_case_life.py has it",
    ),
}
# Not reached by requests: test_storage.py puts objects, test_import_again.py asks about others' exhibits,
# test_volumes_uploads.py deletes a volume that had imports, and the command alone counts pages (test_images_api.py).
# The completions of image load files have the sources of pages.
ELSEWHERE = {"imports.upload_matching", "imports.chunks.conflicts", "volumes.commands", "exhibits.pages"}
ELSEWHERE |= {"imports.pages.sources"}
# Of leads to more than 1,000 exhibits; ids that zones of another case lead to are looked for in the case.
ELSEWHERE |= {"zones.zone_map"}
# Of purges, and of files that arrive or wait: test_purged_cases.py, test_late_uploads.py and test_postponed_starts.py
# have two cases or tenants.
ELSEWHERE |= {f"purges.{each}" for each in ("ending", "fence", "plan", "prefixes")}
ELSEWHERE |= {"imports.refused_uploads", "tenants.starts"}
# Its statements are sent by operations.queries.
ELSEWHERE |= {"operations.statements"}


@pytest.fixture(scope="module")
def checks(matrix: Matrix) -> dict[Condition, list[Check]]:
    """What each condition on a tenant, or on a case, is met by; no request of all has violated anything."""
    met: dict[Condition, list[Check]] = {}
    with watched(matrix.world.engine) as seen:
        for check in matrix.checks:
            seen.conditions.clear()
            assert list(matrix.violations(check)) == []
            for condition in seen.conditions:
                met.setdefault(condition, []).append(check)
    return met


def first(matrix: Matrix, found: Sequence[Check]) -> str | None:
    """The first violation; another's whole request is what is met by most."""
    found = sorted(found, key=lambda each: each.place != EVERYTHING)
    return next((response for check in found for response in matrix.violations(check)), None)


def test_every_route_and_every_place_is_requested(matrix: Matrix) -> None:
    # Of a production: no document here is one of these, so that it would select nothing.
    empty = ("body:query.parent", "body:query.changedByImport", "body:query.hasImages")
    unused = [each for each in list_unused_places(requests_of(matrix.ours)) if not each.endswith(empty)]
    assert unused == [], "use that place in valid_requests.py"
    assert len(list_unused_places([])) == sum(len(known or {""}) for known in places().values())
    assert {route.key for route in template().routes if not route.is_open} == set(places())
    refused = [check for check in matrix.checks if not check.place and matrix.expected[str(check)].status >= 300]
    assert refused == [], "of one's own everything can be had"


def test_every_place_that_names_something_is_attacked(matrix: Matrix) -> None:
    attacked = {(each.request.route, each.place) for each in matrix.checks}
    every = {(route, place) for route, known in places().items() for place in known}
    # The overlay key is one of two fields, a purge comes after a day, and a prefix that is stripped is a folder.
    naming = re.compile(
        r"(?i)(id|ids|(?<!body:)after|(?<!create)case|tag|tags|custodian|custodians|(?<!overlay)key|query:controlNumber|(?<!strip)(?<!add)prefix|body:name|body:corrects)$"
    )
    assert {each for each in every if naming.search(each[1])} <= attacked


def test_what_is_anothers_is_answered_as_what_there_is_not_and_stays_as_it_is(
    matrix: Matrix, checks: dict[Condition, list[Check]]
) -> None:
    assert checks
    assert matrix.kept.changed(matrix.world.engine) == {}


@pytest.mark.usefixtures("checks")
def test_no_message_was_sent_about_anothers_import(matrix: Matrix) -> None:
    ours = {matrix.ours.ids[each] for each in ("cancelled", "checked", "held", "loaded")}
    # Those of new imports are of corrections that a request has made.
    assert {message["import_id"] for message in request_messages()} - {*NEW_IDS} == ours


def test_a_tenant_that_looks_like_another_is_another(matrix: Matrix) -> None:
    request = list({each.request.route: each.request for each in matrix.checks if not each.place}.values())
    expected = answers_to(matrix, request, "stranger")
    for name in lookalikes(matrix.ours.name):
        assert answers_to(matrix, request, name) == expected, name


def answers_to(matrix: Matrix, requests: Sequence[ApiRequest], name: str) -> list[ApiResponse]:
    """Return the responses to a tenant that has nothing, named a stranger; assert that it changes only its own."""
    responses = [comparable(send_as(each, name, matrix.ours.user)) for each in requests]
    changed = matrix.kept.put_back(matrix.world.engine)
    held = {table: matrix.kept.rows[table] for table in changed}
    for tenant, ids in ((matrix.ours, OUR_IDS), (matrix.theirs, THEIR_IDS)):
        assert rows_about(changed, tenant.name, ids) == rows_about(held, tenant.name, ids)
    texts = [
        each.text.replace(f"/{quote(name)}/", "/stranger/")
        .replace(f"/{name}/", "/stranger/")
        .replace(json.dumps(name, ensure_ascii=False), '"stranger"')
        for each in responses
    ]
    return [ApiResponse(each.status, each.headers, text) for each, text in zip(responses, texts, strict=True)]


def test_every_table_with_a_tenant_was_tried(matrix: Matrix, checks: dict[Condition, list[Check]]) -> None:
    with_tenant = {name for name, table in tables(matrix.world.engine).items() if "tenant_id" in table.columns}
    assert with_tenant == {each.table for each in checks if each.column == "tenant_id"}


def _is_alike(one: Condition, other: Condition) -> bool:
    """Whether both are on one column, whichever statement sends them."""
    return one[2:] == other[2:]


def test_a_condition_that_is_left_out_is_found(matrix: Matrix, checks: dict[Condition, list[Check]]) -> None:
    missed = []
    for condition, found in checks.items():
        with watched(matrix.world.engine, condition.__eq__):
            if first(matrix, found) is None:
                missed.append(condition)
    different = {each[:2] for each in missed} ^ {*HELD_UP, *NOTHING_TO_TELL}
    assert different == set(), sorted(different)
    for held in (each for each in missed if (each.module, each.function) in HELD_UP):
        # With what comes before and follows left out too, which lets more requests come as far.
        alike = [check for condition, found in checks.items() if _is_alike(condition, held) for check in found]
        with watched(matrix.world.engine, partial(_is_alike, held)):
            assert first(matrix, alike) is not None
    assert {each.module for each in checks} >= modules_with_conditions() - ELSEWHERE
