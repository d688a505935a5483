"""What functions ask AWS for around volumes, beyond what their own events make them do."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Iterator, Mapping

import boto3
import pytest
import requests
from botocore.config import Config

from core.contracts.imports.announcements import SINGLE_PUT_BYTES
from core.contracts.imports.uploads import MIN_BYTES_IN_PARTS
from core.errors import StorageUnavailableError
from shell.aws import clients, new_objects
from tests.artifact.document_effects import wait_for_executions
from tests.artifact.event_sender import HTTP_S, Api, Sender
from tests.artifact.import_effects import DONE
from tests.artifact.observed_stack import Watched
from tests.integration.volumes.volume_requests import build_zip, create, request, upload_zip, work_messages
from tests.support.application.driver import Message, completion_messages, request_messages, sqs_event
from tests.support.productions.runs import ask, put_documents, status_of
from tests.support.volumes.stored_files import pdf, tiff

PART = 5 * 1024 * 1024
DAT = b"Control Number,Title,Native Path\r\nA-1,One,NATIVES\\1.txt\r\nA-2,Two,NATIVES\\2.txt\r\n"
OPT = b"A-1,VOL,IMAGES\\1.tif,Y,,,1\r\nA-2,VOL,IMAGES\\2.pdf,Y,,,2\r\n"
FILES = {
    "DATA/load.dat": DAT,
    "DATA/load.opt": OPT,
    "IMAGES/1.tif": tiff(),
    "IMAGES/2.pdf": pdf(2),
    "NATIVES/1.txt": b"native one",
    "NATIVES/2.txt": b"native two",
}


def put(url: str, data: bytes, headers: Mapping[str, str], method: str = "PUT") -> requests.Response:
    """Send what the API has signed."""
    reply = requests.request(method, url, data=data, headers=headers, timeout=HTTP_S)
    assert reply.ok, reply.text
    return reply


def _deliver(sender: Sender, function: str, messages: Iterable[Message]) -> None:
    for message in messages:
        assert sender.stack.invoke(function, sqs_event(message)) == DONE, message


def work_off(sender: Sender) -> None:
    """Deliver everything that waits for volumes and imports, until nothing is left."""
    world = sender.world
    while True:
        waiting = {
            "ProcessVolumeFunction": work_messages(),
            "StartImportFunction": [each for each in request_messages() if "import_id" in each],
            "ImportChunkFunction": world.chunk_messages(),
            "CompleteImportFunction": completion_messages(),
        }
        if not any(waiting.values()):
            return
        for function, messages in waiting.items():
            _deliver(sender, function, messages)


def _import_ids(sender: Sender) -> list[int]:
    return [row[0] for row in sender.world.query("SELECT id FROM imports ORDER BY id")]


def _upload(sender: Sender, api: Api) -> int:
    """A folder, whose files are put where the API says."""
    volume_id = int(api.call("POST", "/volumes", {"case": "Case", "name": "VOL001"})["id"])
    declared = [
        {"path": path, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()} for path, data in FILES.items()
    ]
    for item in api.call("POST", f"/volumes/{volume_id}/files", declared)["items"]:
        put(item["upload"]["url"], FILES[item["path"]], item["upload"]["headers"])
    return volume_id


def a_volume_is_imported_undone_and_deleted(sender: Sender) -> None:
    """Files, rows with links, pages; then the images and rows are undone, and no object is left."""
    api = Api(sender.stack)
    volume_id = _upload(sender, api)
    api.call("POST", f"/volumes/{volume_id}/import", {})
    work_off(sender)
    assert sender.world.query("SELECT kind, status FROM imports ORDER BY id") == [
        ("rows", "completed"),
        ("images", "completed"),
    ]
    for import_id in _import_ids(sender):
        assert sender.send("write_import_report", importId=import_id) == DONE
    for import_id in reversed(_import_ids(sender)):
        api.call("POST", f"/imports/{import_id}/undo", {"dryRun": False})
        work_off(sender)
    assert sender.world.query("SELECT COUNT(*) FROM exhibits") == [(0,)]
    api.call("DELETE", f"/volumes/{volume_id}")
    work_off(sender)
    assert sender.world.query("SELECT status FROM volumes") == [("deleted",)]
    left = clients.s3().list_object_versions(Bucket=sender.world.bucket, Prefix=f"volumes/tenant/Case/{volume_id}/")
    assert "Versions" not in left
    # URLs that were given out before live no longer: the purge has the worker look once more.
    sender.world.query("UPDATE volumes SET finished_at = NOW(6) - INTERVAL 2 HOUR")
    sender.send("purge_expired")
    work_off(sender)
    assert sender.world.query("SELECT status FROM volumes") == [("deleted",)]


def a_volume_is_checked_and_then_imported(sender: Sender) -> None:
    """A preview reads its load file, too."""
    api = Api(sender.stack)
    volume_id = _upload(sender, api)
    api.call("POST", f"/volumes/{volume_id}/import", {"dryRun": True, "imageLoadFile": "DATA/load.opt"})
    work_off(sender)
    rows = _import_ids(sender)[0]
    assert api.call("GET", f"/imports/{rows}/preview")["rows"]
    api.call("POST", f"/imports/{rows}/run", {"acknowledgeWarnings": True})
    work_off(sender)
    assert sender.world.query("SELECT status FROM imports WHERE kind = 'rows'") == [("completed",)]


def a_zip_that_is_not_there_is_missed(sender: Sender) -> None:
    """When its import is requested, and when its directory is read."""
    volume_id = create(archive={"fileName": "VOL001.zip", "size": 10})
    assert Api(sender.stack).answer("POST", f"/volumes/{volume_id}/import", {}).status_code == 409
    volume_id = upload_zip(sender.world)
    request(volume_id)
    [(key, version)] = sender.world.query(
        "SELECT archive_key, archive_version_id FROM volumes WHERE id = :v", v=volume_id
    )
    clients.s3().delete_object(Bucket=sender.world.bucket, Key=key, VersionId=version)
    _deliver(sender, "ProcessVolumeFunction", work_messages())
    assert sender.world.query("SELECT status FROM volumes WHERE id = :v", v=volume_id) == [("failed",)]


def a_production_is_checked_whose_files_are_missing(sender: Sender) -> None:
    """One is there, one is not."""
    put_documents(sender.world, ["A", "B"])
    clients.s3().delete_object(Bucket=sender.world.bucket, Key="files/tenant/Case/TEXT/B.txt")
    body = {"case": "Case", "volume": "OUT001", "prefix": "ACME", "digits": 7, "query": {}}
    checked = Api(sender.stack).call("POST", "/productions/check", body)
    assert [each["code"] for each in checked["findings"]] == ["FILE_MISSING"]


def a_zip_is_expanded_beside_what_is_there(sender: Sender) -> None:
    """An entry that another worker has written is compared, by its checksum, or byte by byte without one."""
    raw = build_zip(FILES)
    api = Api(sender.stack)
    archive = {"fileName": "VOL001.zip", "size": len(raw)}
    made = api.call("POST", "/volumes", {"case": "Case", "name": "VOL001", "archive": archive})
    put(made["upload"]["url"], raw, made["upload"]["headers"])
    bare = boto3.client("s3", config=Config(request_checksum_calculation="when_required"))
    bare.put_object(Bucket=sender.world.bucket, Key=made["prefix"] + "NATIVES/1.txt", Body=b"native one")
    api.call("POST", f"/volumes/{made['id']}/import", {})
    work_off(sender)
    assert sender.world.query("SELECT status FROM volumes") == [("ready",)]
    assert sender.world.query("SELECT COUNT(*) FROM exhibits WHERE page_set_id IS NOT NULL") == [(2,)]
    check = {"case": "Case", "volume": "OUT001", "prefix": "ACME", "digits": 7, "numbering": "page", "query": {}}
    assert api.call("POST", "/productions/check", check)["documents"] == 2
    production = ask(numbering="page", volume="OUT001")
    assert sender.send("start_production", productionId=production) == DONE
    wait_for_executions(sender)
    assert status_of(sender.world, production) == "confirmed"
    api.call("DELETE", "/volumes/" + str(_put_unused(sender)))
    work_off(sender)


def _put_unused(sender: Sender) -> int:
    """A zip that is not imported."""
    return upload_zip(sender.world, build_zip({"DATA/load.dat": DAT}), name="VOL002")


def a_large_file_of_a_volume_is_sent_in_parts(sender: Sender) -> None:
    """By the addresses of its parts; S3 lets the last part, here the only one that is sent, be small."""
    api = Api(sender.stack)
    volume_id = int(api.call("POST", "/volumes", {"case": "Case", "name": "VOL001"})["id"])
    declared = [{"path": "NATIVES/1.txt", "size": SINGLE_PUT_BYTES + 1}]
    [item] = api.call("POST", f"/volumes/{volume_id}/files", declared)["items"]
    last = item["upload"]["parts"][-1]
    etag = put(last["url"], b"x", {}).headers["ETag"]
    part = f"<Part><PartNumber>{last['number']}</PartNumber><ETag>{etag}</ETag></Part>"
    body = f"<CompleteMultipartUpload>{part}</CompleteMultipartUpload>"
    put(item["upload"]["completeUrl"], body.encode(), item["upload"]["headers"], "POST")


def uploads_are_resumed(sender: Sender) -> None:
    """Of a zip, a file of a volume and a load file, the only part is sent, listed and completed."""
    api, size = Api(sender.stack), MIN_BYTES_IN_PARTS
    named = {"case": "Case", "name": "VOL001"}
    archive = {"fileName": "VOL001.zip", "size": size, "inParts": True}
    zipped = api.call("POST", "/volumes", {**named, "archive": archive})["id"]
    folder = api.call("POST", "/volumes", named)["id"]
    api.call("POST", f"/volumes/{folder}/files", [{"path": "1.pst", "size": size, "inParts": True}])
    imported = api.call("POST", "/imports", {"case": "Case", **archive})["id"]
    paths = (f"/volumes/{zipped}/upload", f"/volumes/{folder}/upload?path=1.pst", f"/imports/{imported}/upload")
    for path in paths:
        [part] = api.call("GET", path)["upload"]["parts"]
        etag = put(part["url"], bytes(size), {}).headers["ETag"]
        awaited = api.call("GET", path)
        assert [each["size"] for each in awaited["parts"]] == [size]
        body = f"<Part><PartNumber>1</PartNumber><ETag>{etag}</ETag></Part>"
        body = f"<CompleteMultipartUpload>{body}</CompleteMultipartUpload>"
        put(awaited["upload"]["completeUrl"], body.encode(), awaited["upload"]["headers"], "POST")
        assert api.call("GET", path)["state"] == "stored"


def work_that_failed_goes_back_once(sender: Sender) -> None:
    """The listing of a volume, which fails at the second time."""
    volume_id = upload_zip(sender.world, b"no zip")
    request(volume_id)
    [message] = work_messages()
    for redrive in (0, 1):
        redriven = sqs_event({**message, "redrive": redrive})
        assert sender.stack.invoke("HandleFailedImportFunction", redriven) == DONE
    assert sender.world.query("SELECT status FROM volumes") == [("failed",)]


def write_large_entries(watched: Watched) -> None:
    """An entry in parts, and one whose bytes end half-way."""
    data, bucket = bytes(3 * PART), watched.sender.world.bucket
    with watched.acting_as("ProcessVolumeFunction"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(new_objects, "PART_BYTES", PART)
        key = "volumes/tenant/Case/1/large.bin"
        assert new_objects.put_new_in_parts(bucket, key, [data], len(data), zlib.crc32(data))
        with pytest.raises(StorageUnavailableError):
            new_objects.put_new_in_parts(bucket, key, _breaking(data), len(data), zlib.crc32(data))


def _breaking(data: bytes) -> Iterator[bytes]:
    yield data
    raise StorageUnavailableError
