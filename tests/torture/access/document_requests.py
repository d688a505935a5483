"""Requests about documents and productions that a tenant may send of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from core.pagination import decode_cursor, encode_cursor
from tests.torture.access.activity_requests import filters_of, named_by_ids, pages, poll, request_of
from tests.torture.access.calls import ApiRequest
from tests.torture.access.openapi_places import places
from tests.torture.access.tenants import (
    SHARED_CASE,
    SHARED_HOLDER,
    SHARED_PREFIX,
    SHARED_TAG,
    Tenant,
)

DATES = [f"body:{name}" for name in ("documentDate", "dateSent", "dateReceived", "dateCreated", "dateModified")]
OF_EXHIBITS = (
    "batesBegin",
    "batesEnd",
    "parentControlNumber",
    "title",
    "confidentiality",
    "fileName",
    "nativePath",
    "textPath",
)


def samples(requests: Iterable[ApiRequest]) -> Iterator[ApiRequest]:
    """The requests, and each one for a page of exhibits as one for a sample of them too."""
    route = "GET /exhibits/keys"
    for request in requests:
        yield request
        if request.route == "GET /exhibits" and "query:before" not in request.values:
            known = {place: value for place, value in request.values.items() if place in places()[route]}
            if "query:after" in known:
                # A sample goes on after a number and a count.
                [number] = decode_cursor(known["query:after"], (str,))
                known["query:after"] = encode_cursor(number, 0)
            yield ApiRequest(route, {**known, "query:every": 1})


def exhibits(tenant: Tenant) -> Iterator[ApiRequest]:
    """Lists, documents, their changes, files and pages, and tags."""
    mark, exhibits = tenant.mark, tenant.ids["exhibits"]
    for route in ("GET /exhibits", "GET /custodians", "GET /tags", "GET /productions"):
        yield from pages(tenant, route, caseId=tenant.ids["case"])
    for name in (f"{mark} Grace", SHARED_HOLDER):
        yield ApiRequest("GET /custodians", {"query:search": name, "query:count": "true"})
    for case, custodian, tag, number in (
        (SHARED_CASE, SHARED_HOLDER, SHARED_TAG, "S-0001"),
        (tenant.case, f"{mark} Grace", f"{mark} Privileged", f"{mark}-0002"),
    ):
        families = {"parent": number}, {"family": number}, {"changedByImport": tenant.ids["loaded"]}
        for narrowed in (
            {},
            {"custodian": custodian},
            {"tag": tag},
            {"tagTree": tag},
            {"controlNumber": number},
            *families,
        ):
            yield from pages(tenant, "GET /exhibits", case=case, **narrowed)
        for page in pages(tenant, "GET /exhibits", case=case, title=mark, hasNative="false", hasText="false"):
            yield page.with_values({"query:importId": tenant.ids["loaded"], "query:hasImages": "false"})
        listed = {"order": "desc", "count": "true", "include": "custodians,tags", "withoutTag": tag}
        for place in ({"from": number}, {"before": tenant.cursors["GET /exhibits"]}):
            values = {"case": case, **listed, **place}
            yield ApiRequest("GET /exhibits", {f"query:{name}": value for name, value in values.items()})
        ranges = {"dateFrom": "2019-12-31", "dateTo": "2020-01-01", "batesFrom": f"{mark}1", "batesTo": f"{mark}2"}
        yield from pages(tenant, "GET /exhibits", case=case, confidentiality=mark, **ranges)
        yield from pages(tenant, "GET /custodians", case=case)
        yield ApiRequest("GET /custodians", {"query:case": case, "query:search": custodian})
        yield from pages(tenant, "GET /tags", case=case)
        yield ApiRequest("GET /tags", {"query:case": case, "query:search": tag})
        yield request_of("POST /custodians", case=case, name=f"{mark} Room")
    by_ids = {name: ",".join(map(str, ids)) for name, ids in named_by_ids(tenant).items()}
    yield from pages(tenant, "GET /exhibits", case=tenant.case, **by_ids)
    one = {"path:exhibitId": exhibits[0]}
    yield ApiRequest("GET /exhibits/{exhibitId}", one)
    yield ApiRequest("GET /exhibits/{exhibitId}/text", {**one, "query:start": 0})
    yield ApiRequest("GET /exhibits/{exhibitId}/files", {**one, "query:fromPage": 1, "query:download": "true"})
    for what in ("changes", "pages", "files"):
        yield from pages(tenant, f"GET /exhibits/{{exhibitId}}/{what}", exhibitId=exhibits[0])
    texts = {f"body:{name}": f"{mark} {name}" for name in OF_EXHIBITS} | dict.fromkeys(DATES, "2019-12-31T23:59:59")
    matching = {"header:If-Match": f'"{tenant.ids["versions"][0]}"'}
    properties = {"body:properties": {f"{mark} From": f"{mark} Ada"}}
    yield ApiRequest("PATCH /exhibits/{exhibitId}", {**one, **texts, **properties, **matching})
    held_by = {"body:custodians": [f"{mark} Room", SHARED_HOLDER]}
    for method in ("POST", "DELETE"):
        yield ApiRequest(f"{method} /exhibits/{{exhibitId}}/custodians", {**one, **held_by})
    for method in ("POST", "DELETE"):
        yield request_of(f"{method} /taggings", exhibitIds=exhibits[:2], tags=[f"{mark} Privileged", SHARED_TAG])


def tagging_jobs(tenant: Tenant) -> Iterator[ApiRequest]:
    """Tagging jobs: requested, listed and cancelled."""
    tags: dict[str, Any] = {"add": [f"{tenant.mark} Job", SHARED_TAG], "remove": [f"{tenant.mark} Privileged"]}
    for case, holder, tag in (
        (SHARED_CASE, SHARED_HOLDER, SHARED_TAG),
        (tenant.case, f"{tenant.mark} Grace", f"{tenant.mark} Privileged"),
    ):
        query = {f"body:query.{name}": value for name, value in filters_of(tenant, case).items()}
        linked = {"body:query.custodian": holder, "body:query.tag": tag, "body:query.tagTree": tag}
        yield request_of("POST /tagging-jobs", case=case, **tags).with_values(query | linked)
        yield from pages(tenant, "GET /tagging-jobs", case=case)
    query = {f"body:query.{name}": value for name, value in named_by_ids(tenant).items()}
    yield request_of("POST /tagging-jobs", case=tenant.case, **tags).with_values(query)
    yield from pages(tenant, "GET /tagging-jobs")
    yield from pages(tenant, "GET /tagging-jobs", caseId=tenant.ids["case"])
    yield from poll("GET /tagging-jobs/{jobId}", jobId=tenant.ids["job"])
    yield ApiRequest("POST /tagging-jobs/{jobId}/cancel", {"path:jobId": tenant.ids["job"]})


def _filtered(tenant: Tenant, numbering: dict[str, Any]) -> Iterator[ApiRequest]:
    chosen = [(case, filters_of(tenant, case)) for case in (SHARED_CASE, tenant.case)]
    for case, query in (*chosen, (tenant.case, named_by_ids(tenant))):
        filters = {f"body:query.{name}": value for name, value in query.items()}
        for route in ("POST /productions", "POST /productions/check"):
            yield request_of(route, case=case, **numbering).with_values(filters)


def productions(tenant: Tenant) -> Iterator[ApiRequest]:
    """Productions, their documents and files, and the prefixes of a case."""
    mark = tenant.mark
    numbering: dict[str, Any] = {
        "volume": f"{mark}-V",
        "prefix": SHARED_PREFIX,
        "digits": tenant.digits,
        "numbering": "document",
    }
    for case, holder, tag in (
        (SHARED_CASE, SHARED_HOLDER, SHARED_TAG),
        (tenant.case, f"{mark} Grace", f"{mark} Privileged"),
    ):
        query = {"body:query.custodian": holder, "body:query.tag": tag, "body:query.tagTree": tag}
        for route in ("POST /productions", "POST /productions/check"):
            yield request_of(route, case=case, **numbering, properties=[f"{mark} From"]).with_values(query)
    yield from _filtered(tenant, numbering)
    named = {**numbering, "prefix": f"{mark}-N", "startAt": 7, "exhibitIds": tenant.ids["exhibits"][:2]}
    named |= {"numbering": "page", "slipSheets": True}
    for route in ("POST /productions", "POST /productions/check"):
        yield request_of(route, **named, case=tenant.case)
        by_numbers = {name: value for name, value in named.items() if name != "exhibitIds"}
        by_numbers |= {"controlNumbers": [f"{mark}-0002"], "includeFamilies": True}
        yield request_of(route, **by_numbers, case=tenant.case)
    yield from pages(tenant, "GET /productions")
    for case in (SHARED_CASE, tenant.case):
        yield from pages(tenant, "GET /productions", case=case)
    one = "/productions/{productionId}"
    yield from poll(f"GET {one}", productionId=tenant.ids["confirmed"])
    for list_ in ("documents", "files"):
        yield from pages(tenant, f"GET {one}/{list_}", productionId=tenant.ids["confirmed"])
    for case in (SHARED_CASE, tenant.case):
        yield from pages(tenant, "GET /bates-prefixes", case=case)
    yield from pages(tenant, "GET /bates-prefixes", caseId=tenant.ids["case"])
    for what, state in (("cancel", "requested"), ("retry", "stuck")):
        yield ApiRequest(f"POST {one}/{what}", {"path:productionId": tenant.ids[state]})
