"""Requests about activities and devices, the filters of a production, and the first pages of any list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.torture.access.calls import ApiRequest
from tests.torture.access.openapi_places import places
from tests.torture.access.tenants import SHARED_CASE, SHARED_PREFIX, Tenant


def request_of(route: str, *, in_list: bool = False, **body: Any) -> ApiRequest:
    """A request with these members in its body."""
    return ApiRequest(route, {f"body:{name}": value for name, value in body.items()}, in_list)


def poll(route: str, **values: int) -> Iterator[ApiRequest]:
    """The object, and again as a client that had it once."""
    place = {f"path:{name}": value for name, value in values.items()}
    for known in ({}, {"header:If-None-Match": 'W/"0"'}):
        yield ApiRequest(route, {**place, **known})


def pages(tenant: Tenant, route: str, **values: Any) -> Iterator[ApiRequest]:
    """The whole list, its second page and, if it is read in both directions, what comes before that in reverse."""
    said = {f"{'path' if f'path:{name}' in places()[route] else 'query'}:{name}": v for name, v in values.items()}
    cursor = tenant.cursors[route]
    for after in ({}, {"query:after": cursor}):
        yield ApiRequest(route, {**said, "query:limit": 500, **after})
    if "query:before" in places()[route]:
        back = {"query:before": cursor, "query:order": "desc", "query:count": "true"}
        yield ApiRequest(route, {**said, **{name: back[name] for name in back if name in places()[route]}})


def filters_of(tenant: Tenant, case: str) -> dict[str, Any]:
    """Filters that one exhibit of the case meets."""
    numbers = {"batesFrom": f"{SHARED_PREFIX}{tenant.year * 10}", "batesTo": f"{SHARED_PREFIX}{tenant.year * 10 + 100}"}
    dates = {"dateFrom": "2020-01-01", "dateTo": "2020-01-02"}
    texts = {"controlNumber": "S-0001", "title": tenant.mark, "confidentiality": tenant.mark}
    by_import = {"importId": tenant.ids[f"loaded in {case}"], "hasNative": False, "hasText": True}
    family = {"family": "S-0001", "withoutTag": f"{tenant.mark} Absent"}
    return {**family, **numbers, **dates, **texts, **by_import}


def named_by_ids(tenant: Tenant) -> dict[str, Any]:
    """Filters that name two exhibits of the tenant's own case, and leave out one of them."""
    exhibits = tenant.ids["exhibits"]
    return {"ids": exhibits[:2], "exceptIds": exhibits[1:2]}


def activities(tenant: Tenant) -> Iterator[ApiRequest]:
    """Lists of what was done."""
    yield from pages(tenant, "GET /activities")
    for case in (SHARED_CASE, tenant.case):
        yield from pages(tenant, "GET /activities", case=case)
    one = {"object": f"import:{tenant.ids['loaded']}", "action": "import.completed"}
    yield from pages(tenant, "GET /activities", **one)
    by = {"query:user": tenant.user, "query:caseId": tenant.ids["case"], "query:from": "2020-01-01T00:00:00Z"}
    yield ApiRequest("GET /activities", by)


def operations(tenant: Tenant) -> Iterator[ApiRequest]:
    """What runs and failed, and the retry of events that could not be published."""
    yield ApiRequest("GET /operations", {})
    yield ApiRequest("POST /operations/events/retry", {})
    yield ApiRequest("POST /operations/events/{eventId}/retry", {"path:eventId": tenant.ids["event"]})


def devices(tenant: Tenant) -> Iterator[ApiRequest]:
    """Lists of devices, and a label."""
    yield from pages(tenant, "GET /devices")
    yield from pages(tenant, "GET /devices", search=str(tenant.device))
    label = {"path:deviceId": tenant.device, "body:label": f"{tenant.mark} laptop"}
    yield ApiRequest("PUT /devices/{deviceId}", label)


def exports(tenant: Tenant) -> Iterator[ApiRequest]:
    """Exports of each kind, and the one that is completed or not."""
    for case in (SHARED_CASE, tenant.case):
        linked = {
            "tag": f"{tenant.mark} Privileged",
            "tagTree": f"{tenant.mark} Privileged",
            "custodian": f"{tenant.mark} Grace",
            "hasImages": True,
        }
        family = {"parent": "S-0001", "changedByImport": tenant.ids[f"loaded in {case}"]}
        for chosen in (filters_of(tenant, case), linked, family):
            filters = {f"body:filters.{name}": value for name, value in chosen.items()}
            yield request_of("POST /exports", case=case, kind="documents", format="csv").with_values(filters)
        yield from pages(tenant, "GET /exports", case=case)
    filters = {f"body:filters.{name}": value for name, value in named_by_ids(tenant).items()}
    yield request_of("POST /exports", case=tenant.case, kind="pages", format="csv").with_values(filters)
    tags: dict[str, Any] = {"kind": "tags", "format": "jsonl", "columns": ["tag", "controlNumber"]}
    yield request_of("POST /exports", caseId=tenant.ids["case"], **tags)
    yield from pages(tenant, "GET /exports")
    yield from pages(tenant, "GET /exports", caseId=tenant.ids["case"])
    yield from poll("GET /exports/{exportId}", exportId=tenant.ids["exported"])
    yield ApiRequest("GET /exports/{exportId}/file", {"path:exportId": tenant.ids["exported"]})
    yield ApiRequest("POST /exports/{exportId}/cancel", {"path:exportId": tenant.ids["export"]})


def life_of_cases(tenant: Tenant) -> Iterator[ApiRequest]:
    """A case is renamed, closed and held, and its purge is requested and withdrawn."""
    place = {"path:caseId": tenant.ids["empty case"]}
    seen = {**place, "header:If-Match": '"1"'}
    change = {"body:name": tenant.new_cases[1], "body:status": "closed", "body:hold.reason": f"{tenant.mark} order"}
    yield ApiRequest("PATCH /cases/{caseId}", {**seen, **change})
    confirmed = {"body:confirm": tenant.new_cases[0], "body:after": "2099-01-31"}
    yield ApiRequest("POST /cases/{caseId}/purge", {**place, **confirmed})
    yield ApiRequest("DELETE /cases/{caseId}/purge", place)
