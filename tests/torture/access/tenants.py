"""A tenant with one of everything, by way of the API and of uploads; every text of it holds the tenant's mark.

Two tenants of it share whatever two tenants may share: a case's name, control numbers, a custodian, a tag, a device's
number, a prefix, a volume, idempotency keys. Ids tell whose they are: `claim_ids` gives each tenant a range of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import process_volume
from shell.aws import clients
from shell.settings import settings
from tests.support.application.driver import World, call, request_messages, taken_from
from tests.support.productions.runs import execute
from tests.torture.access.calls import ApiRequest, ApiResponse, put, send_as
from tests.torture.access.failed_work import fail_work
from tests.torture.access.openapi_places import places
from tests.torture.access.paged_lists import lists_of
from tests.torture.access.used_keys import use_key

SHARED_CASE, SHARED_DEVICE, SHARED_PREFIX, SHARED_VOLUME = "Smith v. Jones", 100, "SMITH", "VOL001"
SHARED_TAG, SHARED_HOLDER, SHARED_PROFILE = "Hot", "Ada", "Standard"

_FILTERED = (
    "UPDATE exhibits AS e JOIN cases AS c ON c.id = e.case_id SET e.document_date = '2020-01-01', "
    "e.confidentiality = :mark WHERE c.tenant_id = :tenant AND e.control_number = 'S-0001'"
)
_UNUSED_PREFIX = "INSERT INTO bates_sequences (case_id, prefix, digits, next_number) VALUES (:case, :prefix, 4, 1)"


@dataclass
class Tenant:
    """Who it is, and the ids and names of what it has.

    `year` is when it holds devices, `digits` are those of its prefix, `more` rows come first in its files: what is the
    same of two tenants belongs to neither.
    """

    mark: str
    year: int
    digits: int
    more: int = 0
    ids: dict[str, Any] = field(default_factory=dict)
    cursors: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The tenant's id."""
        return f"{self.mark.lower()}-tenant"

    @property
    def user(self) -> str:
        """The tenant's user."""
        return f"{self.mark}-user"

    @property
    def case(self) -> str:
        """A case that no other tenant has one of the name of."""
        return f"{self.mark} v. Doe"

    @property
    def new_cases(self) -> list[str]:
        """A case that the tenant has beside the others, without anything in it, and one that it may create."""
        return [f"{self.mark} v. Poe", f"{self.mark} v. Roe"]

    @property
    def device(self) -> int:
        """The number of a device that no other tenant has one of."""
        return self.year * 1_000_003

    def key(self, route: str) -> str:
        """An idempotency key that this tenant has used on the route."""
        return f"{self.mark}-{route.replace(' ', '-')}"


def create_tenant(world: World, tenant: Tenant) -> Tenant:
    """Make everything, by the API but for what no request makes: a stuck production, answers under keys."""
    for case in (SHARED_CASE, tenant.case):
        tenant.ids[f"loaded in {case}"] = load(world, tenant, case)
        world.query(_FILTERED, mark=tenant.mark, tenant=tenant.name)
        listed = done(tenant, "GET /exhibits", {"query:case": case})["items"]
        tenant.ids["exhibits"] = [each["id"] for each in listed]
        numbering = {"query": {}, "prefix": SHARED_PREFIX, "digits": tenant.digits, "startAt": tenant.year * 10}
        tenant.ids["confirmed"] = _produce(tenant, case, numbering)
    for count in range(1, tenant.more + 2):
        tagged = {"body:exhibitIds": tenant.ids["exhibits"][:count], "body:tags": [f"{tenant.mark} Privileged"]}
        done(tenant, "POST /taggings", tagged)
    for count in range(tenant.more + 2):
        job = {"body:case": tenant.case, "body:query": {}, "body:add": [f"{tenant.mark} Job {count}"]}
        tenant.ids["job"] = done(tenant, "POST /tagging-jobs", job)["id"]
    # They stay as they are, so that one can be cancelled.
    world.chunk_messages()
    listed = done(tenant, "GET /exhibits", {"query:case": tenant.case})["items"]
    tenant.ids["versions"] = [each["version"] for each in listed]
    tenant.ids["empty case"] = done(tenant, "POST /cases", {"body:name": tenant.new_cases[0]})["id"]
    _purge(world, tenant)
    tenant.ids["case"] = done(tenant, "GET /cases/similar", {"query:name": tenant.case})["exact"]["id"]
    named = {"t": tenant.name, "u": tenant.user, "n": f"{tenant.mark} Lovelace"}
    world.query("INSERT INTO users (tenant_id, user_id, name) VALUES (:t, :u, :n)", **named)
    tenant.ids["awaiting"] = _announce(tenant, tenant.case)[0]
    tenant.ids["cancelled"] = _cancelled(world, tenant)
    tenant.ids["checked"] = _checked(world, tenant)
    _send_volumes(world, tenant)
    _send_beginning(world, tenant)
    _put_files(world, tenant)
    _try_undo(world, tenant)
    _set_pages(world, tenant)
    _hold(tenant)
    done(tenant, "PUT /devices/{deviceId}", {"path:deviceId": tenant.device * 10, "body:label": f"{tenant.mark} disk"})
    _keep_profiles(tenant)
    _put_into_states(world, tenant)
    for route, values in lists_of(tenant, SHARED_DEVICE).items():
        tenant.cursors[route] = done(tenant, route, {"query:limit": 1, **values})["next"]
        assert tenant.cursors[route], f"{route} has no second page"
    return tenant


def done(tenant: Tenant, route: str, values: Mapping[str, Any], *, in_list: bool = False) -> Any:
    """What was answered to a request that must succeed."""
    keyed = {"header:Idempotency-Key": f"{tenant.mark}-{json.dumps(values)}"[:255]} if route[:4] == "POST" else {}
    said: ApiResponse = send_as(ApiRequest(route, {**values, **keyed}, in_list), tenant.name, tenant.user)
    assert said.status < 300, (route, said)
    return said.json


def _purge(world: World, tenant: Tenant) -> None:
    """The purge of the empty case has begun; that of another one has ended, with its certificate."""
    named = {"t": tenant.name, "n": f"purged/{tenant.mark}"}
    world.query("INSERT INTO cases (tenant_id, name, status) VALUES (:t, :n, 'purged')", **named)
    [(tenant.ids["purged case"],)] = world.query("SELECT id FROM cases WHERE tenant_id = :t AND name = :n", **named)
    for case_id in (tenant.ids["empty case"], tenant.ids["purged case"]):
        begun = {"c": case_id, "t": tenant.name}
        world.query("INSERT INTO case_purges (case_id, tenant_id, epoch, phase) VALUES (:c, :t, 1, 'rows')", **begun)
    ended = {**begun, "d": json.dumps(done(tenant, "GET /cases/{caseId}/certificate", {"path:caseId": case_id}))}
    world.query("INSERT INTO case_changes (tenant_id, case_id, kind, details) VALUES (:t, :c, 'purged', :d)", **ended)
    world.query("UPDATE case_purges SET ended_at = NOW(6), phase = 'end' WHERE case_id = :c", **begun)


def _announce(tenant: Tenant, case: str, name: str = "awaited", **more: Any) -> tuple[int, str]:
    file_name = f"{tenant.mark} {name}.csv"
    made = done(tenant, "POST /imports", {"body:case": case, "body:fileName": file_name, **more})
    return made["id"], f"imports/{tenant.name}/{case}/{made['uploadId']}/{file_name}"


def load_file(tenant: Tenant) -> bytes:
    """Four good rows and more, two without a number, and two spellings that are not kept."""
    mark = tenant.mark
    rows = [
        "Control Number,Title,Custodian,Tags,OCR1",
        *(f"{mark}-1{each:03},{mark} draft,{SHARED_HOLDER},{SHARED_TAG}" for each in range(tenant.more)),
        f"S-0001,{mark} plan,{SHARED_HOLDER},{SHARED_TAG}",
        f"{mark}-0002,{mark} memo,{mark} Grace,{mark} Privileged",
        f",{mark} lost,{mark} Grace,",
        f"{mark}-0003,{mark} note,{mark} GRACE,",
        f",{mark} lost too,{mark} Grace,",
        f"{mark}-0004,{mark} letter,{mark} grace,",
    ]
    texts = (f"{row},{mark} text" for row in rows[1:])
    return "\r\n".join([rows[0], *texts, ""]).encode()


def _cancelled(world: World, tenant: Tenant) -> int:
    import_id, key = _announce(tenant, tenant.case, "cancelled")
    done(tenant, "POST /imports/{importId}/cancel", {"path:importId": import_id})
    put(world, key, load_file(tenant))
    return import_id


def _checked(world: World, tenant: Tenant) -> int:
    import_id, key = _announce(tenant, tenant.case, "checked", **{"body:dryRun": True})
    put(world, key, load_file(tenant).replace(b"letter", b"other letter"))
    return import_id


def _send_volumes(world: World, tenant: Tenant) -> None:
    """A volume that is ready, one whose import is held, one that takes files, and a zip that is uploaded."""
    named = {"body:case": tenant.case, "body:name": SHARED_VOLUME}
    for name, request in (("held volume", "hold"), ("volume", "dryRun")):
        made = done(tenant, "POST /volumes", {**named, "body:name": SHARED_VOLUME if name == "volume" else name})
        for path in (f"{tenant.mark}.csv", f"{tenant.mark}/1.txt", f"{tenant.mark}/2.txt"):
            clients.s3().put_object(Bucket=world.bucket, Key=made["prefix"] + path, Body=load_file(tenant))
        tenant.ids[name] = made["id"]
        body = {f"body:{request}": request == "hold"}
        done(tenant, "POST /volumes/{volumeId}/import", {"path:volumeId": made["id"], **body})
    for message in taken_from(settings().volume_work_queue_url):
        assert call(process_volume.lambda_handler, message)
    held = done(tenant, "GET /volumes/{volumeId}", {"path:volumeId": tenant.ids["held volume"]})
    tenant.ids["held"] = held["imports"][0]["id"]
    tenant.ids["open volume"] = done(tenant, "POST /volumes", {**named, "body:name": f"{tenant.mark} open"})["id"]
    declared = {"path:volumeId": tenant.ids["open volume"], "body:path": f"{tenant.mark}/3.txt", "body:size": 3}
    done(tenant, "POST /volumes/{volumeId}/files", declared, in_list=True)
    zipped = {"body:archive.fileName": f"{tenant.mark}.zip", "body:archive.size": 4}
    made = done(tenant, "POST /volumes", {**named, **zipped})
    tenant.ids["open zip"] = made["id"]
    key = f"archives/{tenant.name}/{tenant.case}/{made['id']}/{tenant.mark}.zip"
    clients.s3().put_object(Bucket=world.bucket, Key=key, Body=b"zip!")


def _send_beginning(world: World, tenant: Tenant) -> None:
    """The beginning of a file that is not uploaded."""
    data = load_file(tenant)
    named = {"body:case": tenant.case, "body:fileName": f"{tenant.mark}.csv", "body:size": len(data)}
    tenant.ids["preview"] = done(tenant, "POST /previews", named)["id"]
    clients.s3().put_object(Bucket=world.bucket, Key=f"previews/{tenant.name}/{tenant.ids['preview']}", Body=data)


def _put_files(world: World, tenant: Tenant) -> None:
    """The files of pages, and those that a PATCH of `valid_requests` names: a production without them is refused."""
    pages = (f"{tenant.mark}-{page}.tif" for page in range(1, tenant.more + 3))
    for name in (f"{tenant.mark} nativePath", f"{tenant.mark} textPath", *pages):
        key = f"files/{tenant.name}/{tenant.case}/{name}"
        clients.s3().put_object(Bucket=world.bucket, Key=key, Body=b"file")


def _try_undo(world: World, tenant: Tenant) -> None:
    """A dry run of an undo, which keeps the documents that have Bates numbers."""
    done(tenant, "POST /imports/{importId}/undo", {"path:importId": tenant.ids["loaded"], "body:dryRun": True})
    for message in request_messages():
        world.finish(message)


def _set_pages(world: World, tenant: Tenant) -> None:
    """Two pages of the tenant's first document, and as many more as the tenant has of everything."""
    exhibit, pages = tenant.ids["exhibits"][0], [*range(1, tenant.more + 3)]
    world.query(
        "INSERT INTO page_sets (case_id, import_id, line_no, page_count, content_hash) "
        "SELECT case_id, :i, 1, :n, REPEAT('h', 32) FROM exhibits WHERE id = :e",
        i=tenant.ids["loaded"],
        n=len(pages),
        e=exhibit,
    )
    [(page_set,)] = world.query("SELECT id FROM page_sets WHERE import_id = :i", i=tenant.ids["loaded"])
    insert = "INSERT INTO pages (page_set_id, page_no, image_key, path, page_in_file, rotation) VALUES"
    for page in pages:
        key = f"{tenant.mark}-{page}"
        world.query(f"{insert} (:s, :p, :k, :path, 0, 0)", s=page_set, p=page, k=key, path=f"{key}.tif")
    world.query("UPDATE exhibits SET page_set_id = :s WHERE id = :e", s=page_set, e=exhibit)


def _produce(tenant: Tenant, case: str, numbering: Mapping[str, Any]) -> int:
    said = {"case": case, "volume": SHARED_VOLUME, **numbering}
    made = done(tenant, "POST /productions", {f"body:{name}": value for name, value in said.items()})
    execute(made["id"])
    return int(made["id"])


def _keep_profiles(tenant: Tenant) -> None:
    """A profile of a name that the other tenant has too, and one of its own; both for the header of the load file."""
    for name in (SHARED_PROFILE, f"Profile of {tenant.mark}"):
        made = done(tenant, "POST /profiles", {"body:name": name, "body:importId": tenant.ids["loaded"]})
        tenant.ids["profile"], tenant.ids["fingerprint"] = made["id"], made["headerFingerprint"]


def _hold(tenant: Tenant) -> None:
    named = {"body:case": tenant.case, "body:name": f"{tenant.mark} Lab"}
    tenant.ids["custodian"] = done(tenant, "POST /custodians", named)["id"]
    periods = [(SHARED_DEVICE, 1, 2), (SHARED_DEVICE, 3, 4), (tenant.device, 5, None)]
    for device, begin, end in periods:
        said = {
            "body:deviceId": device,
            "body:begin": f"{tenant.year}-0{begin}-01T00:00:00Z",
            "body:end": end and f"{tenant.year}-0{end}-01T00:00:00Z",
            "body:custodianId": tenant.ids["custodian"],
            "body:note": f"{tenant.mark} safe",
        }
        [made] = done(tenant, "POST /custody-periods", said, in_list=True)["items"]
        tenant.ids["period"] = made["id"]


def _put_into_states(world: World, tenant: Tenant) -> None:
    for state, change in (("requested", ""), ("stuck", "status = 'needs_attention', is_open = 0")):
        said = {"body:case": tenant.case, "body:volume": f"{tenant.mark}-{state}", "body:query": {}}
        numbering = {"body:prefix": f"{tenant.mark}-P", "body:digits": 6}
        tenant.ids[state] = done(tenant, "POST /productions", {**said, **numbering})["id"]
        if change:
            world.query(f"UPDATE productions SET {change} WHERE id = :id", id=tenant.ids[state])
    for state, kind in (("export", "tags"), ("exported", "documents")):
        exported = {"body:caseId": tenant.ids["case"], "body:kind": kind, "body:format": "csv"}
        tenant.ids[state] = done(tenant, "POST /exports", exported)["id"]
    completed = "UPDATE exports SET status = 'completed', started_at = NOW(6), finished_at = NOW(6) WHERE id = :id"
    world.query(completed, id=tenant.ids["exported"])
    world.query(_UNUSED_PREFIX, case=tenant.ids["case"], prefix=f"A-{tenant.mark}-")
    failed = _announce(tenant, tenant.case, "failed")[0]
    made = done(tenant, "POST /volumes", {"body:case": tenant.case, "body:name": f"{tenant.mark} failed"})
    tenant.ids["event"] = fail_work(world, tenant, failed, made["id"])
    for route, known in places().items():
        if "header:Idempotency-Key" in known:
            use_key(world, tenant, route)


def load(world: World, tenant: Tenant, case: str) -> int:
    """Announce and put a load file; the import's id."""
    import_id, key = _announce(tenant, case, "loaded")
    put(world, key, load_file(tenant))
    tenant.ids["loaded"] = import_id
    return import_id
