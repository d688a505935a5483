"""A browser and the local S3: what a page of the console may send, and what it sees of the answers.

The requests are those of Chromium: an Origin, preflights, no signature in a preflight.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Queue
from typing import Any

import pytest
import urllib3

from local.services.aws import LocalAws
from local.services.processes import Processes
from local.template.reader import Template
from local.time_scale import TimeScale
from shell.aws import clients
from shell.aws.presigned_urls import (
    UPLOAD_HEADERS,
    build_checksum_headers,
    create_multipart_upload,
    presign_complete,
    presign_get,
    presign_part,
    presign_put,
)
from shell.settings import settings
from tests.support.application.cleared_caches import forget_caches

ORIGIN = "http://127.0.0.1:8700"
OTHER = "https://evil.example"
TEMPLATE = Path(__file__).parents[3] / "template.yaml"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalAws]:
    """A server with the bucket of the template."""
    processes = Processes()
    folder = tmp_path_factory.mktemp("aws")
    aws = LocalAws(processes, folder / "aws.log", TimeScale(), folder / "objects")
    try:
        aws.launch()
        aws.create_resources(Template.load(TEMPLATE))
        aws.await_start()
        yield aws
    finally:
        processes.stop()


@pytest.fixture
def bucket(server: LocalAws, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The template's bucket, with an empty environment otherwise; the functions' code signs URLs for it."""
    deployed = Template.load(TEMPLATE).environment("ImportsApiFunction", server.endpoint)
    for key, value in {**deployed, **server.environment()}.items():
        monkeypatch.setenv(key, value)
    forget_caches()
    name = settings().bucket
    yield name
    forget_caches()


def send(method: str, url: str | None, body: bytes | None = None, **headers: str) -> urllib3.BaseHTTPResponse:
    named = {name.replace("_", "-"): value for name, value in {"Origin": ORIGIN, **headers}.items()}
    assert url is not None
    return urllib3.request(method, url, body=body, headers=named, retries=False)


def preflight(url: str, method: str, *names: str, origin: str = ORIGIN) -> urllib3.BaseHTTPResponse:
    answered = {"Access_Control_Request_Headers": ",".join(names)} if names else {}
    return send("OPTIONS", url, None, Origin=origin, Access_Control_Request_Method=method, **answered)


def exposed(response: urllib3.BaseHTTPResponse) -> set[str]:
    return {each.strip() for each in response.headers["Access-Control-Expose-Headers"].split(",")}


def is_visible(response: urllib3.BaseHTTPResponse, origin: str = ORIGIN) -> bool:
    return response.headers.get("Access-Control-Allow-Origin") == origin


def test_a_page_uploads_a_file_in_one_request(bucket: str) -> None:
    data = b"DOCID\nABC-1\n"
    digest = hashlib.sha256(data).digest()
    url = presign_put(bucket, "imports/t/c/one/a.dat", len(data), digest)
    headers = {**UPLOAD_HEADERS, **build_checksum_headers(digest)}
    answered = preflight(url, "PUT", "if-none-match", "x-amz-checksum-sha256", "content-type")
    assert answered.status == 200
    assert is_visible(answered)
    assert answered.headers["Access-Control-Allow-Headers"] == "if-none-match, x-amz-checksum-sha256, content-type"
    put = send("PUT", url, data, Content_Type="application/octet-stream", **headers)
    assert (put.status, is_visible(put)) == (200, True)
    assert {"ETag", "x-amz-checksum-sha256"} <= exposed(put)
    assert put.headers["x-amz-checksum-sha256"] == base64.b64encode(digest).decode()
    # That the file is there already is no network error to the page.
    again = send("PUT", url, data, Content_Type="application/octet-stream", **headers)
    assert (again.status, is_visible(again)) == (412, True)


def test_a_page_uploads_parts_and_reads_their_etags(bucket: str) -> None:
    key, sizes = "imports/t/c/parts/a.dat", (5 << 20, 7)
    upload = create_multipart_upload(bucket, key)
    tags = []
    for number, size in enumerate(sizes, start=1):
        url = presign_part(bucket, key, upload, number, size)
        assert preflight(url, "PUT", "content-type").status == 200
        part = send("PUT", url, bytes([number]) * size, Content_Type="application/octet-stream")
        assert is_visible(part)
        assert "ETag" in exposed(part)
        tags.append(f"<Part><PartNumber>{number}</PartNumber><ETag>{part.headers['ETag']}</ETag></Part>")
    body = f"<CompleteMultipartUpload>{''.join(tags)}</CompleteMultipartUpload>".encode()
    url = presign_complete(bucket, key, upload)
    assert preflight(url, "POST", "if-none-match", "content-type").status == 200
    done = send("POST", url, body, Content_Type="application/xml", **UPLOAD_HEADERS)
    assert (done.status, is_visible(done)) == (200, True)
    assert clients.s3().head_object(Bucket=bucket, Key=key)["ContentLength"] == sum(sizes)


def test_a_page_reads_a_range_and_sees_which(bucket: str) -> None:
    clients.s3().put_object(Bucket=bucket, Key="reports/a.csv", Body=b"0123456789")
    url = presign_get(bucket, "reports/a.csv")
    assert preflight(url, "GET", "range").status == 200
    got = send("GET", url, Range="bytes=2-4")
    assert (got.status, got.data, is_visible(got)) == (206, b"234", True)
    assert got.headers["Content-Range"] == "bytes 2-4/10"
    assert "Content-Range" in exposed(got)


def test_a_refusal_is_visible_to_the_page(bucket: str) -> None:
    url = presign_put(bucket, "imports/t/c/refused/a.dat", 3)
    refused = send("PUT", url, b"four", **UPLOAD_HEADERS)
    assert (refused.status, is_visible(refused)) == (403, True)
    wrong = hashlib.sha256(b"other").digest()
    url = presign_put(bucket, "imports/t/c/refused/a.dat", 3, wrong)
    refused = send("PUT", url, b"abc", **UPLOAD_HEADERS, **build_checksum_headers(wrong))
    assert (refused.status, is_visible(refused)) == (400, True)
    missing = send("GET", presign_get(bucket, "reports/none.csv"))
    assert (missing.status, is_visible(missing)) == (404, True)


@pytest.mark.parametrize(
    ("method", "names", "origin"),
    [
        ("PUT", ("if-none-match",), OTHER),
        ("DELETE", (), ORIGIN),
        ("PUT", ("x-amz-acl",), ORIGIN),
    ],
)
def test_what_no_rule_allows_is_refused(bucket: str, method: str, names: tuple[str, ...], origin: str) -> None:
    url = presign_put(bucket, "imports/t/c/other/a.dat", 3)
    answered = preflight(url, method, *names, origin=origin)
    assert (answered.status, "Access-Control-Allow-Origin" in answered.headers) == (403, False)
    assert b"AccessForbidden" in answered.data


def test_another_origin_sees_nothing(bucket: str) -> None:
    url = presign_put(bucket, "imports/t/c/unseen/a.dat", 3)
    put = send("PUT", url, b"abc", Origin=OTHER, **UPLOAD_HEADERS)
    assert (put.status, "Access-Control-Allow-Origin" in put.headers) == (200, False)


def test_without_the_rule_a_browser_cannot_upload(server: LocalAws, bucket: str) -> None:
    """The negative control: moto by itself allows every origin, whatever the template says."""
    rules: Any = server.s3.get_bucket_cors(Bucket=bucket)["CORSRules"]
    server.s3.delete_bucket_cors(Bucket=bucket)
    try:
        url = presign_put(bucket, "imports/t/c/norule/a.dat", 3)
        assert preflight(url, "PUT", "if-none-match").status == 403
        put = send("PUT", url, b"abc", **UPLOAD_HEADERS)
        assert "Access-Control-Allow-Origin" not in put.headers
    finally:
        server.s3.put_bucket_cors(Bucket=bucket, CORSConfiguration={"CORSRules": rules})


@pytest.mark.parametrize("content_type", [FORM, f"{FORM}; charset=utf-8", "multipart/form-data; boundary=x"])
@pytest.mark.parametrize("data", [b"a=1&b=2", b"Action=SendMessage&Version=2009-04-15", b"\xfe\xff\x00not text"])
def test_a_body_with_the_content_type_of_a_form_is_kept(bucket: str, content_type: str, data: bytes) -> None:
    key = f"imports/t/c/{hashlib.sha256(content_type.encode() + data).hexdigest()}/a.dat"
    put = send("PUT", presign_put(bucket, key, len(data)), data, Content_Type=content_type, **UPLOAD_HEADERS)
    assert put.status == 200
    stored = clients.s3().get_object(Bucket=bucket, Key=key)
    assert stored["Body"].read() == data
    assert stored["ContentType"] == content_type


PAGE = """<!doctype html><script>
const urls = {urls};
const put = (url, body, headers) => new Promise((resolve) => {{
  const request = new XMLHttpRequest();
  let progress = 0;
  request.upload.onprogress = (event) => {{ progress = event.loaded; }};
  request.onload = () => resolve([request.status, request.getResponseHeader("ETag"), progress]);
  request.onerror = () => resolve(["network error", null, progress]);
  request.open("PUT", url);
  for (const name in headers) request.setRequestHeader(name, headers[name]);
  request.send(body);
}});
(async () => {{
  const seen = {{}};
  const file = new Blob(["DOCID\\nABC-1\\n"], {{type: "application/x-www-form-urlencoded"}});
  seen.put = await put(urls.put, file, {{"If-None-Match": "*"}});
  seen.again = await put(urls.put, file, {{"If-None-Match": "*"}});
  seen.refused = await put(urls.put, new Blob(["of another size"]), {{"If-None-Match": "*"}});
  const blobs = [new Blob([new Uint8Array(5 << 20)]), new Blob(["end"])];
  seen.parts = [await put(urls.parts[0], blobs[0]), await put(urls.parts[1], blobs[1])];
  const describe = (part, at) => `<Part><PartNumber>${{at + 1}}</PartNumber><ETag>${{part[1]}}</ETag></Part>`;
  const listed = seen.parts.map(describe);
  const body = `<CompleteMultipartUpload>${{listed.join("")}}</CompleteMultipartUpload>`;
  const complete = () => fetch(urls.complete, {{method: "POST", body, headers: {{"If-None-Match": "*"}}}});
  seen.complete = (await complete()).status;
  const range = await fetch(urls.get, {{headers: {{Range: "bytes=0-4"}}}});
  seen.range = [range.status, await range.text(), range.headers.get("Content-Range")];
  await fetch("/seen", {{method: "POST", body: JSON.stringify(seen)}});
}})();
</script>"""


class Console(ThreadingHTTPServer):
    """Serves one page, and takes what it reports."""

    def __init__(self, page: str) -> None:
        self.seen: Queue[dict[str, Any]] = Queue()
        console = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(page.encode())

            def do_POST(self) -> None:
                console.seen.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self._answer(b"")

            def _answer(self, body: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Print nothing."""

        super().__init__(("127.0.0.1", 0), Handler)


@pytest.mark.slow
def test_chromium_uploads_and_reads(bucket: str, tmp_path: Path) -> None:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed: apt-get install chromium")
    key = "imports/t/c/chromium/parts.dat"
    upload = create_multipart_upload(bucket, key)
    urls = {
        "put": presign_put(bucket, "imports/t/c/chromium/a.dat", 12),
        "parts": [presign_part(bucket, key, upload, number, size) for number, size in ((1, 5 << 20), (2, 3))],
        "complete": presign_complete(bucket, key, upload),
        "get": presign_get(bucket, "imports/t/c/chromium/a.dat"),
    }
    with Console(PAGE.format(urls=json.dumps(urls))) as console:
        threading.Thread(target=console.serve_forever, daemon=True).start()
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", f"--user-data-dir={tmp_path}"]
        # It ends with the block; a page that reports nothing fails the test instead of holding it.
        address = f"http://127.0.0.1:{console.server_port}/"
        with subprocess.Popen([program, *flags, "--remote-debugging-port=0", address], stderr=subprocess.DEVNULL) as it:
            try:
                seen = console.seen.get(timeout=60)
            finally:
                it.kill()
        console.shutdown()
    tag = hashlib.md5(b"DOCID\nABC-1\n", usedforsecurity=False).hexdigest()
    assert seen["put"] == [200, f'"{tag}"', 12]
    assert (seen["again"][0], seen["refused"][0]) == (412, 403)
    assert [part[0] for part in seen["parts"]] == [200, 200]
    assert all(part[1] for part in seen["parts"])
    assert seen["complete"] == 200
    assert seen["range"] == [206, "DOCID", "bytes 0-4/12"]
    assert clients.s3().head_object(Bucket=bucket, Key=key)["ContentLength"] == (5 << 20) + 3
