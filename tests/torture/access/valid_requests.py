"""What a tenant may ask for of its own, for every route: each of these requests is one that succeeds.

A request says something at every place that the OpenAPI document has; `unasked` names those of which none does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.torture.access.activity_requests import (
    activities,
    devices,
    exports,
    life_of_cases,
    operations,
    pages,
    poll,
    request_of,
)
from tests.torture.access.calls import ApiRequest
from tests.torture.access.document_requests import exhibits, productions, samples, tagging_jobs
from tests.torture.access.openapi_places import places
from tests.torture.access.tenants import (
    SHARED_CASE,
    SHARED_DEVICE,
    SHARED_PROFILE,
    SHARED_VOLUME,
    Tenant,
)

OPTIONS = {
    "body:options.encoding": "utf-8",
    "body:options.delimiter": "comma",
    "body:options.qualifier": "quote",
    "body:options.newline": "none",
    "body:options.header": False,
    "body:options.cells": 3,
    "body:options.lineEnds": "lf",
    "body:options.columns": {"1": "control_number"},
    "body:options.dateOrder": "DMY",
    "body:options.timeZone": "Europe/Berlin",
    "body:options.mode": "append_overlay",
    "body:options.overlayKey": "control_number",
    "body:options.blanks": "clear",
    "body:options.multiValues": "replace",
    "body:options.missingFiles": "reject",
    "body:options.stripPrefix": "D:\\export",
    "body:options.addPrefix": "VOL001",
    "body:options.verifyHashes": True,
    "body:options.verifyImages": True,
}
# Beside a header, which the others have none of.
MORE_OPTIONS = {
    "body:options.headerLine": 1,
    "body:options.multiValueSeparator": ";",
    "body:options.nestedSeparator": "/",
    "body:options.dateFormat": {"date_sent": "%d.%m.%Y"},
}
MORE_PREVIEW = {
    "headerLine": "1",
    "multiValueSeparator": ";",
    "nestedSeparator": "/",
    "dateFormat": '{"date_sent": "%d.%m.%Y"}',
}
PREVIEW = {
    "encoding": "utf-8",
    "delimiter": "comma",
    "qualifier": "quote",
    "newline": "none",
    "header": "false",
    "cells": 4,
    "columns": '{"1": "control_number"}',
    "lineEnds": "lf",
    "dateOrder": "DMY",
    "timeZone": "Europe/Berlin",
}


def requests_of(tenant: Tenant) -> list[ApiRequest]:
    """All of them, each as a tenant would send it for the first time."""
    of_imports = [*_cases(tenant), *_imports(tenant), *_profiles(tenant)]
    found = [*of_imports, *_volumes(tenant), *samples(exhibits(tenant)), *_custody(tenant), *productions(tenant)]
    found += [*tagging_jobs(tenant), *activities(tenant), *devices(tenant), *exports(tenant)]
    found += operations(tenant)
    return [_keyed(tenant, each) for each in found]


def list_unused_places(requests: list[ApiRequest]) -> list[str]:
    """Routes and places of the OpenAPI document at which none of the requests says anything."""
    said = {(each.route, place) for each in requests for place in each.values or {""}}
    every = [(route, place) for route, known in places().items() for place in known or {""}]
    return [f"{route} {place}" for route, place in every if (route, place) not in said]


def _keyed(tenant: Tenant, request: ApiRequest) -> ApiRequest:
    if "header:Idempotency-Key" not in places()[request.route]:
        return request
    return request.with_values({"header:Idempotency-Key": tenant.key(request.route)})


def _cases(tenant: Tenant) -> Iterator[ApiRequest]:
    yield from pages(tenant, "GET /cases")
    for case in (SHARED_CASE, tenant.case):
        yield from pages(tenant, "GET /cases", prefix=case)
        yield ApiRequest("GET /cases", {"query:prefix": case, "query:search": case, "query:sort": "-lastImportAt"})
        yield ApiRequest("GET /cases/similar", {"query:name": case})
    yield ApiRequest("GET /cases/{caseId}", {"path:caseId": tenant.ids["case"]})
    for case in ("empty case", "purged case"):
        yield ApiRequest("GET /cases/{caseId}/certificate", {"path:caseId": tenant.ids[case]})
    yield ApiRequest("GET /me", {})
    yield ApiRequest("GET /users", {"query:ids": tenant.user})
    yield request_of("POST /cases", name=tenant.new_cases[1])
    yield from life_of_cases(tenant)


def _imports(tenant: Tenant) -> Iterator[ApiRequest]:
    yield ApiRequest(
        "POST /imports",
        {
            "body:case": tenant.case,
            "body:fileName": f"{tenant.mark}.csv",
            "body:size": 83,
            "body:inParts": True,
            "body:dryRun": True,
            "body:hold": True,
            "body:createCase": False,
            **OPTIONS,
        },
    )
    for given in ({}, MORE_OPTIONS):
        yield request_of("POST /imports", case=SHARED_CASE, fileName="production.dat").with_values(given)
    # An error file of a volume.
    named = {"id": tenant.ids["volume"], "loadFile": f"{tenant.mark}.csv", "imageLoadFile": f"{tenant.mark}.opt"}
    volume = {f"body:options.volume.{name}": value for name, value in named.items()}
    yield request_of("POST /imports", case=tenant.case, fileName="rejected_rows.csv").with_values(volume)
    yield request_of("POST /imports", case=tenant.case, fileName="rejected_rows.csv", corrects=tenant.ids["loaded"])
    for profile in (SHARED_PROFILE, f"Profile of {tenant.mark}"):
        yield request_of("POST /imports", case=tenant.case, fileName="production.dat", profile=profile)
    yield from pages(tenant, "GET /imports")
    yield from pages(tenant, "GET /imports", caseId=tenant.ids["case"])
    for case in (SHARED_CASE, tenant.case):
        yield from pages(tenant, "GET /imports", case=case, status="completed_with_rejections")
    loaded = tenant.ids["loaded"]
    yield from pages(tenant, "GET /imports", ids=f"{loaded},{tenant.ids['checked']}")
    yield from poll("GET /imports/{importId}", importId=loaded)
    yield from poll("GET /imports/{importId}/progress", importId=loaded)
    for what in ("bates", "codes", "reports"):
        yield ApiRequest(f"GET /imports/{{importId}}/{what}", {"path:importId": loaded})
    for what, code in (("rejections", "MISSING_ID"), ("warnings", "VALUE_TRUNCATED")):
        yield from pages(tenant, f"GET /imports/{{importId}}/{what}", importId=loaded)
        yield from pages(tenant, f"GET /imports/{{importId}}/{what}", importId=loaded, code=code, column="Title")
    rows = {"importId": tenant.ids["loaded"], "code": "MISSING_ID", "open": "true"}
    yield from pages(tenant, "GET /imports/{importId}/rejected-rows", **rows)
    yield from pages(tenant, "GET /imports/{importId}/rejections", importId=tenant.ids["loaded"], open="true")
    # Behind the header, one line for each row of `load_file`.
    cells, line = [f"{tenant.mark}-0009", "", "", "", ""], tenant.more + 4
    corrected = {"body:rows.line": line, "body:rows.cells": cells, "body:rows.version": 1, "body:discard": [line + 2]}
    yield ApiRequest("POST /imports/{importId}/corrections", {"path:importId": tenant.ids["loaded"], **corrected})
    for state in ("awaiting", "loaded"):
        yield ApiRequest("GET /imports/{importId}/upload", {"path:importId": tenant.ids[state]})
    yield from pages(tenant, "GET /imports/{importId}/findings", importId=tenant.ids["checked"])
    yield from pages(tenant, "GET /imports/{importId}/findings", importId=tenant.ids["checked"], code="MISSING_ID")
    run = {"body:acceptRejections": True, "body:acknowledgeWarnings": True, "body:requireUnchanged": True}
    seen = {"header:If-Match": '"1"'}
    yield ApiRequest("POST /imports/{importId}/run", {"path:importId": tenant.ids["checked"], **seen, **run})
    held = {**seen, "body:acceptRejections": True, "body:acknowledgeWarnings": True, "body:requireUnchanged": False}
    yield ApiRequest("POST /volumes/{volumeId}/run", {"path:volumeId": tenant.ids["held volume"], **held})
    yield ApiRequest("POST /imports/{importId}/check", {"path:importId": tenant.ids["checked"], **seen})
    awaiting = {"path:importId": tenant.ids["awaiting"], **seen}
    for options in (OPTIONS, MORE_OPTIONS, volume, {"body:profile": SHARED_PROFILE}):
        yield ApiRequest("PUT /imports/{importId}/options", {**awaiting, **options})
    undone = {"path:importId": tenant.ids["loaded"]}
    yield ApiRequest("GET /imports/{importId}/undo", undone)
    yield from pages(tenant, "GET /imports/{importId}/undo/kept", importId=tenant.ids["loaded"])
    yield ApiRequest("POST /imports/{importId}/undo", {**undone, "body:dryRun": True})
    for what, state in (("cancel", "awaiting"), ("retry", "cancelled")):
        yield ApiRequest(f"POST /imports/{{importId}}/{what}", {"path:importId": tenant.ids[state]})


def _volumes(tenant: Tenant) -> Iterator[ApiRequest]:
    for case in (SHARED_CASE, tenant.case):
        yield request_of("POST /volumes", case=case, name=f"{tenant.mark} VOL")
        zipped: dict[str, Any] = {"archive.fileName": f"{tenant.mark}.zip", "archive.size": 83}
        zipped["archive.inParts"] = True
        yield request_of("POST /volumes", case=case, name=SHARED_VOLUME, **zipped)
        yield from pages(tenant, "GET /volumes", case=case)
    yield from pages(tenant, "GET /volumes")
    yield from poll("GET /volumes/{volumeId}", volumeId=tenant.ids["volume"])
    yield from pages(tenant, "GET /volumes/{volumeId}/files", volumeId=tenant.ids["volume"])
    awaited = {"path:volumeId": tenant.ids["open volume"], "query:path": f"{tenant.mark}/3.txt"}
    yield ApiRequest("GET /volumes/{volumeId}/upload", awaited)
    yield ApiRequest("GET /volumes/{volumeId}/upload", {"path:volumeId": tenant.ids["open zip"]})
    said = {"path": f"{tenant.mark}/2.txt", "size": 1, "sha256": "0" * 64, "inParts": True}
    yield from pages(tenant, "GET /volumes", caseId=tenant.ids["case"])
    yield request_of("POST /volumes", case=tenant.case, name=SHARED_VOLUME, createCase=False)
    declared = {f"body:{name}": value for name, value in said.items()}
    yield ApiRequest("POST /volumes/{volumeId}/files", {"path:volumeId": tenant.ids["open volume"], **declared}, True)
    chosen = {"body:loadFile": f"{tenant.mark}.csv", "body:imageLoadFile": f"{tenant.mark}.opt", "body:dryRun": True}
    chosen |= {"body:hold": True}
    one = {"path:volumeId": tenant.ids["open zip"], "body:zipNames": "cp437", **chosen}
    for options in (OPTIONS, MORE_OPTIONS):
        yield ApiRequest("POST /volumes/{volumeId}/import", {**one, **options})
    for profile in (SHARED_PROFILE, f"Profile of {tenant.mark}"):
        yield ApiRequest(
            "POST /volumes/{volumeId}/import", {"path:volumeId": tenant.ids["open zip"], "body:profile": profile}
        )
    yield ApiRequest("DELETE /volumes/{volumeId}", {"path:volumeId": tenant.ids["open volume"]})


def _profiles(tenant: Tenant) -> Iterator[ApiRequest]:
    preview = ApiRequest("GET /imports/{importId}/preview", {"path:importId": tenant.ids["loaded"]})
    yield preview
    for options in (PREVIEW, MORE_PREVIEW):
        yield preview.with_values({f"query:{name}": value for name, value in options.items()})
    for name in (SHARED_PROFILE, f"Profile of {tenant.mark}"):
        yield preview.with_values({"query:profile": name})
    early = ApiRequest("GET /previews/{previewId}", {"path:previewId": tenant.ids["preview"]})
    yield early
    for options in (PREVIEW, MORE_PREVIEW):
        yield early.with_values({f"query:{name}": value for name, value in options.items()})
    for name in (SHARED_PROFILE, f"Profile of {tenant.mark}"):
        yield early.with_values({"query:profile": name})
    for case in (SHARED_CASE, tenant.case):
        yield request_of("POST /previews", case=case, fileName=f"{tenant.mark}.csv", size=83)
    made = {"body:importId": tenant.ids["loaded"], "body:headerFingerprint": tenant.ids["fingerprint"]}
    yield ApiRequest("POST /profiles", {"body:name": f"{tenant.mark} new", **made})
    for content in (OPTIONS, MORE_OPTIONS):
        yield ApiRequest("POST /profiles", {"body:name": f"{tenant.mark} new", **content})
    for narrowed in ({}, {"name": SHARED_PROFILE}, {"headerFingerprint": tenant.ids["fingerprint"]}):
        yield from pages(tenant, "GET /profiles", **narrowed)
    one = {"path:profileId": tenant.ids["profile"]}
    yield ApiRequest("GET /profiles/{profileId}", one)
    own = {**one, "header:If-Match": '"1"'}
    for content in (made, OPTIONS, MORE_OPTIONS):
        yield ApiRequest("PUT /profiles/{profileId}", {**own, "body:name": f"Profile of {tenant.mark}", **content})
    yield ApiRequest("DELETE /profiles/{profileId}", own)


def _custody(tenant: Tenant) -> Iterator[ApiRequest]:
    holder, own = tenant.ids["custodian"], {"path:periodId": tenant.ids["period"]}
    # The other tenant holds its device of the same number then.
    begin, end = (f"{year}-02-15T00:00:00Z" for year in (2024, 2027))
    said = {
        "deviceId": tenant.device + 1,
        "begin": begin,
        "end": end,
        "custodianId": holder,
        "note": f"{tenant.mark} x",
    }
    yield request_of("POST /custody-periods", in_list=True, **said)
    free = {"begin": f"{4049 - tenant.year}-01-10T00:00:00Z", "end": f"{4049 - tenant.year}-03-20T00:00:00Z"}
    yield request_of("POST /custody-periods", in_list=True, **{**said, **free, "deviceId": SHARED_DEVICE})
    span = {"query:from": "2020-01-01T00:00:00Z", "query:to": "2030-01-01T00:00:00Z"}
    for device in (SHARED_DEVICE, tenant.device):
        for page in pages(tenant, "GET /custody-periods", deviceId=device):
            yield page.with_values(span)
        yield from pages(tenant, "GET /custody-changes", deviceId=device)
    yield ApiRequest("GET /custody-periods/{periodId}", own)
    change = {"body:begin": f"{tenant.year}-05-02T00:00:00Z", "body:end": f"{tenant.year}-09-01T00:00:00Z"}
    change |= {"body:custodianId": holder, "body:note": f"{tenant.mark} corrected", "header:If-Match": '"1"'}
    yield ApiRequest("PATCH /custody-periods/{periodId}", {**own, **change})
    yield ApiRequest("DELETE /custody-periods/{periodId}", {**own, "header:If-Match": '"1"'})
    given = {"deviceId": tenant.device, "at": "2026-06-01T00:00:00Z", "custodianId": holder, "note": f"{tenant.mark} y"}
    yield request_of("POST /custody-transfers", **given, fromPeriodId=tenant.ids["period"], end="2026-07-01T00:00:00Z")
    shared = {"deviceId": SHARED_DEVICE, "at": f"{tenant.year}-03-10T00:00:00Z", "custodianId": holder}
    yield request_of("POST /custody-transfers", **shared, end=f"{tenant.year}-03-20T00:00:00Z")
