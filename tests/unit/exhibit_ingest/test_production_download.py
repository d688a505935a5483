"""The download of a volume, from an API and a storage that lie, fail and expire."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from exhibit_ingest.client.api import Api
from exhibit_ingest.errors import CommandError
from exhibit_ingest.productions.download import Downloaded, download_volume
from exhibit_ingest.session.session import Session

FILES = {
    "MANIFEST.csv": b"path,size,sha256\n",
    "DATA/VOL001.dat": b"dat",
    "NATIVES/A.eml": b"native of A",
    "TEXT/A.txt": b"",
}


class Played:
    """An API with a production, and the storage of its files; URLs are valid until `expire` is called."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.served = dict(files)
        self.generation = 0
        self.requests: Counter[str] = Counter()
        self.refused = 0

    @property
    def production(self) -> dict[str, Any]:
        manifest = hashlib.sha256(FILES["MANIFEST.csv"]).hexdigest()
        return {"id": 4, "status": "confirmed", "volume": "VOL001", "manifestSha256": manifest}

    def request(self, method: str, path: str) -> dict[str, Any]:
        """A page of two files, by the number of the first one."""
        self.requests[path] += 1
        url = httpx.URL(path)
        assert (method, url.path) == ("GET", "/productions/4/files")
        first = int(url.params.get("after", 0))
        listed = list(self.files.items())[first : first + 2]
        following = str(first + 2) if first + 2 < len(self.files) else None
        return {"items": [self._describe(*each) for each in listed], "next": following}

    def _describe(self, path: str, content: bytes) -> dict[str, Any]:
        digest = hashlib.sha256(content).hexdigest()
        return {
            "path": path,
            "size": len(content),
            "sha256": digest,
            "url": f"http://s3/{self.generation}?{path}",
        }

    def serve(self, request: httpx.Request) -> httpx.Response:
        path = request.url.query.decode()
        self.requests[path] += 1
        if int(request.url.path[1:]) < self.generation:
            self.refused += 1
            return httpx.Response(403)
        return httpx.Response(200, stream=httpx.ByteStream(self.served[path]))


def download(played: Played, folder: Path) -> Downloaded:
    """Download the production of a played API."""
    session = Session(cast(Api, played), "played", {}, folder)
    with httpx.Client(transport=httpx.MockTransport(played.serve)) as storage:
        session.__dict__["storage"] = storage
        return download_volume(session, played.production, folder, lambda _: None)


def found(folder: Path) -> dict[str, bytes]:
    return {
        each.relative_to(folder).as_posix(): each.read_bytes() for each in sorted(folder.rglob("*")) if each.is_file()
    }


def test_all_files_arrive_and_only_what_lacks_is_got_again(tmp_path: Path) -> None:
    played = Played(FILES)
    done = download(played, tmp_path)
    assert found(tmp_path / "VOL001") == FILES
    assert (done.files, done.downloaded, done.bytes) == (4, 4, sum(map(len, FILES.values())))
    (tmp_path / "VOL001" / "NATIVES" / "A.eml").write_bytes(b"native of B")
    again = download(played, tmp_path)
    assert (again.files, again.downloaded, again.downloaded_bytes, again.already_there) == (4, 1, 11, 3)
    assert found(tmp_path / "VOL001") == FILES
    assert {path: played.requests[path] for path in FILES} == {**dict.fromkeys(FILES, 1), "NATIVES/A.eml": 2}


def test_urls_that_have_expired_are_requested_again(tmp_path: Path) -> None:
    class Expiring(Played):
        def serve(self, request: httpx.Request) -> httpx.Response:
            if request.url.query == b"NATIVES/A.eml" and not self.refused:
                self.generation += 1
            return super().serve(request)

    played = Expiring(FILES)
    assert download(played, tmp_path).downloaded == len(FILES)
    assert found(tmp_path / "VOL001") == FILES
    assert played.refused >= 1


def test_other_bytes_than_the_manifest_has_never_get_the_name_of_the_file(tmp_path: Path) -> None:
    played = Played(FILES)
    played.served["NATIVES/A.eml"] = b"native of X"
    with pytest.raises(CommandError, match=r"A\.eml arrived with other bytes"):
        download(played, tmp_path)
    assert found(tmp_path / "VOL001") == {path: body for path, body in FILES.items() if path != "NATIVES/A.eml"}
    assert played.requests["NATIVES/A.eml"] == 3


def test_a_file_without_an_end_is_given_up(tmp_path: Path) -> None:
    played = Played(FILES)
    played.served["NATIVES/A.eml"] = b"native of A" * 100
    with pytest.raises(CommandError, match=r"A\.eml is longer than the 11 bytes"):
        download(played, tmp_path)
    assert "NATIVES/A.eml" not in found(tmp_path / "VOL001")


@pytest.mark.parametrize("path", ["../outside", "/etc/outside", "DATA/../../outside", "C:\\outside", "a/..\\outside"])
def test_a_path_out_of_the_folder_is_refused_before_a_file_of_its_page_is_written(tmp_path: Path, path: str) -> None:
    played = Played({**FILES, path: b"evil"})
    with pytest.raises(CommandError, match="could lead out of the folder"):
        download(played, tmp_path / "in")
    assert found(tmp_path) == {f"in/VOL001/{name}": body for name, body in FILES.items()}
    assert played.requests[path] == 0


def test_a_volume_whose_name_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    played = Played(FILES)
    session = Session(cast(Api, played), "played", {}, tmp_path)
    with pytest.raises(CommandError, match="could lead out of the folder"):
        download_volume(session, {**played.production, "volume": "../VOL001"}, tmp_path / "in", lambda _: None)
    assert played.requests == {}


def test_the_manifest_is_that_of_the_production(tmp_path: Path) -> None:
    played = Played({**FILES, "MANIFEST.csv": b"another"})
    with pytest.raises(CommandError, match="the volume was changed"):
        download(played, tmp_path)
    assert found(tmp_path) == {}


def test_only_a_confirmed_production_is_downloaded(tmp_path: Path) -> None:
    played = Played(FILES)
    session = Session(cast(Api, played), "played", {"tenantId": "t"}, tmp_path)
    with pytest.raises(CommandError, match=r"has the status running.* productions show 4"):
        download_volume(session, {**played.production, "status": "running"}, tmp_path, lambda _: None)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "VOL001").mkdir()
    (tmp_path / "VOL001" / "DATA").write_bytes(b"a file")
    with pytest.raises(CommandError, match="cannot be written"):
        download(Played(FILES), tmp_path)


def test_an_interrupted_download_leaves_whole_files_alone(tmp_path: Path) -> None:
    played = Played(FILES)
    session = Session(cast(Api, played), "played", {}, tmp_path)

    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    with httpx.Client(transport=httpx.MockTransport(played.serve)) as storage:
        session.__dict__["storage"] = storage
        with pytest.raises(KeyboardInterrupt):
            download_volume(session, played.production, tmp_path, interrupt)
    assert found(tmp_path / "VOL001").items() <= FILES.items()
    assert download(played, tmp_path).files == len(FILES)
    assert found(tmp_path / "VOL001") == FILES
