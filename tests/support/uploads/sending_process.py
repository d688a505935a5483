"""Send a file, zip or folder in a process of its own: `python -m` this module, with JSON as its argument.

It prints, in JSON, the number of the upload, the last progress, and the most memory that the process had.
"""

from __future__ import annotations

import json
import resource
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx

from exhibit_ingest.uploads.connection import Pace
from exhibit_ingest.uploads.faults import UploadFault
from exhibit_ingest.uploads.folders import list_folder
from exhibit_ingest.uploads.journal import Journal
from exhibit_ingest.uploads.local_files import find_file
from exhibit_ingest.uploads.protocols import Progress
from exhibit_ingest.uploads.uploads import Uploads

_LINUX_UNIT = 1024


class RefusedRequestError(Exception):
    """As the client's."""

    def __init__(self, response: httpx.Response) -> None:
        super().__init__(response.text)
        self.status, self.code = response.status_code, response.json().get("type", "").rpartition(":")[2]


class PlainApi:
    """Requests without a token."""

    def __init__(self, url: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=120, trust_env=False, verify=False)  # noqa: S501 - without TLS

    def request(self, method: str, path: str, json: Any = None, key: str | None = None) -> Any:
        """Send a request."""
        response = self._http.request(method, path, json=json, headers={"Idempotency-Key": key} if key else {})
        if response.is_error:
            raise RefusedRequestError(response)
        return response.json()


def main(arguments: dict[str, Any]) -> None:
    """Send; print what it took."""
    seen: list[Progress] = []
    http = httpx.Client(proxy=arguments["proxy"], trust_env=False, verify=False)  # noqa: S501 - without TLS
    uploads = Uploads(
        PlainApi(arguments["api"]),
        "local",
        Journal(Path(arguments["journal"])),
        http,
        on_progress=lambda progress: seen.__setitem__(slice(None), [progress]),
        pace=Pace(delays_s=(0.05, 0.2), attempts=30, patience_s=600),
        stall_s=arguments["stall"],
    )
    place = Path(arguments["path"])
    try:
        if place.is_dir():
            sent = uploads.send_folder(list_folder(place), {"case": "Case", "name": "V"})
        else:
            sent = uploads.send_import(find_file(place), {"case": "Case", "hold": True})
    except UploadFault as fault:
        sys.exit(f"{fault.code}: {fault}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _LINUX_UNIT
    print(json.dumps({"number": sent.number, "peak": peak, **asdict(seen[-1])}))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
