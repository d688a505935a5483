"""What the local S3 has answered is there after the server was killed: objects, versions, uploads in parts."""

from __future__ import annotations

import base64
import hashlib
import socket
import zlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from botocore.exceptions import ClientError

from tests.support.aws.killed_server import KilledServer

pytestmark = pytest.mark.slow
PART = b"p" * 5 * 1024 * 1024


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KilledServer]:
    running = KilledServer(tmp_path_factory.mktemp("server"))
    yield running
    running.close()


def put(server: KilledServer, key: str, body: bytes, **given: Any) -> str:
    return str(server.aws.s3.put_object(Bucket=server.bucket, Key=key, Body=body, **given)["VersionId"])


def get(server: KilledServer, key: str, **given: Any) -> bytes:
    return server.aws.s3.get_object(Bucket=server.bucket, Key=key, **given)["Body"].read()


def list_keys(server: KilledServer, **given: Any) -> list[str]:
    return [each["Key"] for each in server.aws.s3.list_objects_v2(Bucket=server.bucket, **given).get("Contents", [])]


def test_an_object_is_served_as_before_with_all_its_versions(server: KilledServer) -> None:
    digest = base64.b64encode(hashlib.sha256(b"second").digest()).decode()
    first = put(server, "natives/ä", b"first")
    second = put(
        server,
        "natives/ä",
        b"second",
        ChecksumSHA256=digest,
        ContentType="text/plain",
        Metadata={"source": "a"},
        Tagging="kind=native",
    )
    before: Any = server.aws.s3.head_object(Bucket=server.bucket, Key="natives/ä", ChecksumMode="ENABLED")
    server.restart()
    after: Any = server.aws.s3.head_object(Bucket=server.bucket, Key="natives/ä", ChecksumMode="ENABLED")
    compared = ("VersionId", "ETag", "LastModified", "ContentType", "Metadata", "ChecksumSHA256", "ContentLength")
    assert {name: after[name] for name in compared} == {name: before[name] for name in compared}
    assert (after["VersionId"], after["ChecksumSHA256"], after["ContentType"]) == (second, digest, "text/plain")
    tags = server.aws.s3.get_object_tagging(Bucket=server.bucket, Key="natives/ä")["TagSet"]
    assert tags == [{"Key": "kind", "Value": "native"}]
    assert get(server, "natives/ä", VersionId=first) == b"first"
    assert get(server, "natives/ä", Range="bytes=1-3") == b"eco"


def test_a_marker_hides_and_the_deletion_of_a_version_deletes_its_file(server: KilledServer) -> None:
    version = put(server, "file", b"bytes")
    server.aws.s3.delete_object(Bucket=server.bucket, Key="file")
    server.restart()
    assert (list_keys(server), get(server, "file", VersionId=version), len(server.list_files())) == ([], b"bytes", 1)
    listed = server.aws.s3.list_object_versions(Bucket=server.bucket)
    found = [*listed["Versions"], *listed["DeleteMarkers"]]
    doomed: Any = {"Objects": [{"Key": each["Key"], "VersionId": each["VersionId"]} for each in found]}
    server.aws.s3.delete_objects(Bucket=server.bucket, Delete=doomed)
    assert server.list_files() == []
    server.restart()
    assert server.aws.s3.list_object_versions(Bucket=server.bucket).get("Versions", []) == []


def test_a_copy_has_the_bytes_of_its_source_after_the_source_has_gone(server: KilledServer) -> None:
    version = put(server, "source", b"bytes", Metadata={"secret": "s"})
    copied = server.aws.s3.copy_object(
        Bucket=server.bucket,
        Key="copy",
        CopySource={"Bucket": server.bucket, "Key": "source", "VersionId": version},
        MetadataDirective="REPLACE",
        ChecksumAlgorithm="SHA256",
        Metadata={"own": "o"},
    )
    assert len(server.list_files()) == 1
    server.aws.s3.delete_object(Bucket=server.bucket, Key="source", VersionId=version)
    server.restart()
    assert get(server, "copy") == b"bytes"
    head = server.aws.s3.head_object(Bucket=server.bucket, Key="copy", ChecksumMode="ENABLED")
    digest = base64.b64encode(hashlib.sha256(b"bytes").digest()).decode()
    assert (head["Metadata"], head["ChecksumSHA256"]) == ({"own": "o"}, digest)
    assert copied["CopyObjectResult"]["ChecksumSHA256"] == digest


def test_an_upload_in_parts_goes_on_and_its_object_consists_of_them(server: KilledServer) -> None:
    location: Any = {"Bucket": server.bucket, "Key": "large"}
    created = server.aws.s3.create_multipart_upload(**location, ChecksumAlgorithm="CRC32", ChecksumType="FULL_OBJECT")
    upload: Any = location | {"UploadId": created["UploadId"]}
    server.aws.s3.upload_part(**upload, PartNumber=1, Body=b"an earlier attempt")
    first = server.aws.s3.upload_part(**upload, PartNumber=1, Body=PART)["ETag"]
    server.restart()
    second = server.aws.s3.upload_part(**upload, PartNumber=2, Body=b"end")["ETag"]
    listed = server.aws.s3.list_parts(**upload)["Parts"]
    assert [(each["PartNumber"], each["Size"], each["ETag"]) for each in listed] == [
        (1, len(PART), first),
        (2, 3, second),
    ]
    parts: Any = {"Parts": [{"PartNumber": 1, "ETag": first}, {"PartNumber": 2, "ETag": second}]}
    wrong = base64.b64encode(zlib.crc32(b"else").to_bytes(4)).decode()
    with pytest.raises(ClientError, match="BadDigest"):
        server.aws.s3.complete_multipart_upload(**upload, MultipartUpload=parts, ChecksumCRC32=wrong)
    crc32 = base64.b64encode(zlib.crc32(PART + b"end").to_bytes(4)).decode()
    done = server.aws.s3.complete_multipart_upload(**upload, MultipartUpload=parts, ChecksumCRC32=crc32)
    server.restart()
    again = server.aws.s3.complete_multipart_upload(**upload, MultipartUpload=parts, ChecksumCRC32=crc32)
    assert again["ETag"] == done["ETag"]
    head = server.aws.s3.head_object(**location, ChecksumMode="ENABLED")
    assert (head["VersionId"], head["ChecksumCRC32"]) == (done["VersionId"], crc32)
    assert get(server, "large", Range=f"bytes={len(PART) - 1}-") == b"pend"
    assert len(server.list_files()) == 2


def test_an_aborted_upload_leaves_nothing_and_is_unknown(server: KilledServer) -> None:
    location: Any = {"Bucket": server.bucket, "Key": "large"}
    location["UploadId"] = server.aws.s3.create_multipart_upload(**location)["UploadId"]
    server.aws.s3.upload_part(**location, PartNumber=1, Body=b"part")
    server.aws.s3.abort_multipart_upload(**location)
    assert server.list_files() == []
    with pytest.raises(ClientError, match="NoSuchUpload"):
        server.aws.s3.upload_part(**location, PartNumber=1, Body=b"part")
    assert server.list_files() == []


def test_an_upload_to_a_bucket_that_is_missing_is_refused(server: KilledServer) -> None:
    with pytest.raises(ClientError, match="NoSuchBucket"):
        server.aws.s3.create_multipart_upload(Bucket="no-such-bucket", Key="large")


def send_half(server: KilledServer) -> socket.socket:
    """Begin to send an object, and stay in the middle of it."""
    url = server.aws.s3.generate_presigned_url("put_object", Params={"Bucket": server.bucket, "Key": "half"})
    address = urlsplit(url)
    connection = socket.create_connection((address.hostname, address.port))
    head = f"PUT {address.path}?{address.query} HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Length: 4000000\r\n\r\n"
    connection.sendall(head.encode() + bytes(2_000_000))
    return connection


def test_half_a_body_leaves_nothing_when_the_server_is_killed(server: KilledServer) -> None:
    with send_half(server):
        # An answer to another request: the server runs, and has the half or is about to read it.
        put(server, "whole", b"w")
        server.restart()
    assert (list_keys(server), len(server.list_files())) == (["whole"], 1)


def test_half_a_body_leaves_nothing_when_the_client_goes_away(server: KilledServer) -> None:
    with send_half(server) as connection:
        connection.shutdown(socket.SHUT_WR)
        # The head and the body of the answer are two packets.
        assert b"IncompleteBody" in b"".join(iter(lambda: connection.recv(100_000), b""))
    assert (list_keys(server), server.list_files()) == ([], [])


def test_a_body_with_another_checksum_leaves_nothing(server: KilledServer) -> None:
    for given in ({"ChecksumSHA256": base64.b64encode(bytes(32)).decode()}, {"ChecksumCRC32": "AAAAAA=="}):
        with pytest.raises(ClientError, match="BadDigest"):
            put(server, "wrong", b"other", **given)
    assert (list_keys(server), server.list_files()) == ([], [])


def test_an_object_is_created_once_however_many_try(server: KilledServer) -> None:
    put(server, "once", b"first", IfNoneMatch="*")
    server.restart()
    with pytest.raises(ClientError, match="PreconditionFailed"):
        put(server, "once", b"second", IfNoneMatch="*")
    assert (get(server, "once"), len(server.list_files())) == (b"first", 1)


def test_listings_come_in_pages_in_the_order_of_s3(server: KilledServer) -> None:
    names = ["a/1", "a/2", "a/ü", "b/1", "b/2", "c", "ü"]
    for name in names[::-1]:
        put(server, name, b"x")
    assert list_keys(server) == names
    assert list_keys(server, Prefix="a/", StartAfter="a/1") == ["a/2", "a/ü"]
    pages: Any = server.aws.s3.get_paginator("list_objects_v2").paginate(
        Bucket=server.bucket, Delimiter="/", PaginationConfig={"PageSize": 1}
    )
    found = [each for page in pages for each in [*page.get("Contents", []), *page.get("CommonPrefixes", [])]]
    assert [each.get("Key") or each["Prefix"] for each in found] == ["a/", "b/", "c", "ü"]


def test_versions_come_in_pages_also_while_they_are_deleted(server: KilledServer) -> None:
    for number in range(3):
        put(server, "a", b"%d" % number)
        put(server, "b", b"%d" % number)
    pages: Any = server.aws.s3.get_paginator("list_object_versions")
    deleted = 0
    for page in pages.paginate(Bucket=server.bucket, PaginationConfig={"PageSize": 2}):
        for each in page.get("Versions", []):
            server.aws.s3.delete_object(Bucket=server.bucket, Key=each["Key"], VersionId=each["VersionId"])
            deleted += 1
    assert (deleted, server.list_files()) == (6, [])


def test_large_objects_are_never_in_memory(server: KilledServer) -> None:
    size = 150_000_000
    put(server, "warm", b"w")
    before = server.process.memory_info().rss
    put(server, "large", bytes(size))
    body = server.aws.s3.get_object(Bucket=server.bucket, Key="large")["Body"]
    assert sum(len(block) for block in body.iter_chunks(1_000_000)) == size
    assert get(server, "large", Range="bytes=100-199") == bytes(100)
    assert server.process.memory_info().rss - before < size / 5
