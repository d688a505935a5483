"""The steps of the trial, in order: each does what a user does; SmokeError where the stack answers otherwise."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any

import boto3

from tools.smoke.alarm_mail import check_alarm_mail
from tools.smoke.client import Api, SmokeError, send
from tools.smoke.trial import Trial

CASE, VOLUME, DEVICE = "Smoke", "VOL001", 1
IMPORT_S, PRODUCTION_S = 300.0, 600.0
TEXT = b"The text of the first document.\n"
HEADER = "Control Number,Title,Custodian,Tags,Text Path"
# The third row has the id of the first one, and is rejected.
ROWS = (
    ("SMOKE-1", "Plan", "Ada", "Responsive", r"TEXT\SMOKE-1.txt"),
    ("SMOKE-2", "Memo", "Grace", "", ""),
    ("SMOKE-1", "Letter", "Ada", "", ""),
)
CORRECTED = "SMOKE-3"


def expect(what: str, expected: object, found: object) -> None:
    """Raise SmokeError unless both are equal."""
    if expected != found:
        raise SmokeError(f"{what}: expected {expected!r}, got {found!r}")


def log_in(trial: Trial) -> None:
    """The API refuses requests without a token and accepts one with it."""
    Api(trial.target["ApiUrl"], "none").call("GET", "/imports", expect=401)
    trial.admin = trial.log_in(trial.tenant, "admin")
    expect("imports of a new tenant", [], trial.admin.get("/imports")["items"])


def import_file(trial: Trial) -> None:
    """A load file that is uploaded by URL is imported, and its faulty row rejected with line and reason."""
    lines = [HEADER, *(",".join(row) for row in ROWS)]
    state = _import(trial, "load.csv", "\r\n".join([*lines, ""]).encode(), None)
    trial.import_id = state["id"]
    expect("status", "completed_with_rejections", state["status"])
    expect("rows imported and rejected", (2, 1), (state["imported"], state["rejected"]))
    rejections = trial.admin.get(f"/imports/{state['id']}/rejections")["items"]
    expect("rejected line and code", [(4, "DUPLICATE_ID")], [(each["line"], each["code"]) for each in rejections])


def reload_rejected_rows(trial: Trial) -> None:
    """The rejected row, corrected, is imported with the options of the first file."""
    reports = trial.admin.get(f"/imports/{trial.import_id}/reports")
    rejected, options = _fetch(reports["rejectedRows"]["url"]), _fetch(reports["options"]["url"])
    expect("rejected rows with the id", 1, rejected.count(b"SMOKE-1"))
    state = _import(trial, "corrected.csv", rejected.replace(b"SMOKE-1", CORRECTED.encode()), options)
    expect("status of the corrected rows", "completed", state["status"])


def find_documents(trial: Trial) -> None:
    """Every row is there, with every value."""
    found = trial.admin.get(f"/exhibits?case={CASE}")["items"]
    trial.exhibits = {each["controlNumber"]: each["id"] for each in found}
    rows = [*ROWS[:2], (CORRECTED, *ROWS[2][1:])]
    expect("control numbers", [row[0] for row in rows], list(trial.exhibits))
    for number, title, custodian, tag, path in rows:
        exhibit = trial.admin.get(f"/exhibits/{trial.exhibits[number]}")
        values = (exhibit["title"], exhibit["custodians"], exhibit["tags"], exhibit["textPath"] or "")
        expect(f"values of {number}", (title, [custodian], [tag] if tag else [], path), values)


def tag(trial: Trial) -> None:
    """A tag is set once, whatever is repeated."""
    body = {"exhibitIds": [trial.exhibits[CORRECTED]], "tags": ["Responsive"]}
    made = [trial.admin.call("POST", "/taggings", body).json["created"] for _ in range(2)]
    expect("taggings created by a request and its repetition", [1, 0], made)


def record_custody(trial: Trial) -> None:
    """Custody is recorded, an overlap refused, and a record removed by an administrator."""
    period = {"deviceId": DEVICE, "begin": "2026-01-05T09:00:00Z", "end": "2026-01-05T17:00:00Z"}
    (made,) = trial.admin.call("POST", "/custody-periods", [period], expect=201).json["items"]
    trial.admin.call("POST", "/custody-periods", [period | {"begin": "2026-01-05T16:00:00Z"}], expect=409)
    headers = {"If-Match": f'"{made["version"]}"'}
    trial.admin.call("DELETE", f"/custody-periods/{made['id']}", headers=headers)
    changes = trial.admin.get(f"/custody-changes?deviceId={DEVICE}")["items"]
    expect("changes of custody", ["added", "removed"], [each["action"] for each in changes])


def produce(trial: Trial) -> None:
    """The tagged documents are produced: consecutive numbers, and the bytes of their files."""
    s3, bucket = boto3.client("s3"), trial.target["Bucket"]
    s3.put_object(Bucket=bucket, Key=f"files/{trial.tenant}/{CASE}/TEXT/SMOKE-1.txt", Body=TEXT)
    request = {"case": CASE, "query": {"tag": "Responsive"}, "volume": VOLUME, "prefix": "SMOKE", "digits": 7}
    production = trial.admin.call("POST", "/productions", request, expect=202).json["id"]
    path, under_way = f"/productions/{production}", ("requested", "running", "cancelling")
    ended = trial.admin.wait_for(path, lambda found: found["status"] not in under_way, PRODUCTION_S)
    expect("status of the production", "confirmed", ended["status"])
    numbers = [each["batesBegin"] for each in trial.admin.get(f"{path}/documents")["items"]]
    expect("Bates numbers", ["SMOKE0000001", "SMOKE0000002"], numbers)
    listed = s3.list_objects_v2(Bucket=bucket, Prefix=ended["folder"]).get("Contents", [])
    texts = [each["Key"] for each in listed if each["Key"].endswith(".txt")]
    expect("texts in the volume", 1, len(texts))
    copied = s3.get_object(Bucket=bucket, Key=texts[0])["Body"].read()
    expect("hash of the text", hashlib.sha256(TEXT).hexdigest(), hashlib.sha256(copied).hexdigest())


def keep_others_out(trial: Trial) -> None:
    """Another tenant finds nothing, and a viewer changes nothing."""
    stranger, viewer = trial.log_in(f"{trial.tenant}-other", "admin"), trial.log_in(trial.tenant, "viewer")
    stranger.call("GET", f"/imports/{trial.import_id}", expect=404)
    stranger.call("GET", f"/exhibits/{trial.exhibits[CORRECTED]}", expect=404)
    viewer.call("GET", f"/imports/{trial.import_id}")
    viewer.call("POST", "/imports", {"case": CASE, "fileName": "load.csv"}, expect=403)


# A step that had nothing to check returns why.
STEPS: Sequence[tuple[str, Callable[[Trial], str | None]]] = (
    ("log in", log_in),
    ("import a file", import_file),
    ("correct and reload", reload_rejected_rows),
    ("find documents", find_documents),
    ("tag", tag),
    ("custody", record_custody),
    ("produce", produce),
    ("keep others out", keep_others_out),
    ("alarm e-mail", check_alarm_mail),
)


def _import(trial: Trial, name: str, content: bytes, options: bytes | None) -> Any:
    """Announce and upload a file, and return the state of its import once it has ended and has its reports."""
    body: dict[str, Any] = {"case": CASE, "fileName": name, "size": len(content)}
    if options is not None:
        body["options"] = json.loads(options)
    made = trial.admin.call("POST", "/imports", body, expect=201).json
    # urllib would announce the file as a form.
    headers = {"Content-Type": "application/octet-stream", **made["upload"]["headers"]}
    put = send("PUT", made["upload"]["url"], content, headers)
    expect("status of the upload", 200, put.status)
    again = send("PUT", made["upload"]["url"], content, headers)
    expect("status of a second upload", 412, again.status)
    state = trial.admin.wait_for(f"/imports/{made['id']}", _has_ended, IMPORT_S)
    if state["failureCode"]:
        raise SmokeError(f"the import failed with {state['failureCode']}: {state['failureMessage']}")
    return state


def _has_ended(state: Any) -> bool:
    completed = str(state["status"]).startswith("completed")
    return bool(state["finishedAt"]) and (not completed or state["reports"] is not None)


def _fetch(url: str) -> bytes:
    response = send("GET", url, None, {})
    expect("status of a report", 200, response.status)
    return response.body
