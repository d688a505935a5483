"""The report files of an import: where they are on this machine, and how they come there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from exhibit_ingest.importing.state import ImportState, to_camel

if TYPE_CHECKING:
    from exhibit_ingest.session.session import Session

_DIGEST_CHARACTERS, _AT_ONCE = 8, 4
# A table and a text of one name.
_STEMS = {"deficiencies_text": "deficiencies"}
_SAME_IMPORT = ("id", "case", "caseId", "fileName", "sha256")


@dataclass(frozen=True)
class Reports:
    """Local paths of the report files; None for a file that the import did not write."""

    rejected_rows: Path | None = None
    report: Path | None = None
    warnings: Path | None = None
    options: Path | None = None
    columns: Path | None = None
    findings: Path | None = None
    unreferenced: Path | None = None
    deficiencies: Path | None = None
    deficiencies_text: Path | None = None


def build_folder_name(session: Session, state: ImportState) -> str:
    """Return the name of the folder for the reports of an import: its id, and characters that tell it from others.

    The id alone is not unique: another stack, or a new database, can have an import with the same id.
    """
    own = [session.stack, session.me["tenantId"], *(state.details.get(name) for name in _SAME_IMPORT)]
    return f"{state.id}-{hashlib.sha256(json.dumps(own).encode()).hexdigest()[:_DIGEST_CHARACTERS]}"


def download_reports(session: Session, state: ImportState) -> Reports:
    """Download the reports of an import, read with its details, to the folder of the session and return their paths.

    Those of an earlier download are replaced. Raises CommandError and OSError.
    """
    from exhibit_ingest.session.downloads import download, make_private_folder

    files = session.api.request("GET", f"/imports/{state.id}/reports")
    found = dict(_list_files(files))
    if not found:
        return Reports()
    folder = make_private_folder(make_private_folder(session.folder / "reports") / build_folder_name(session, state))
    paths = {name: folder / file_name for name, (file_name, _) in found.items()}
    urls = [url for _, url in found.values()]
    # Most are small: the time is that of the connections.
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(partial(download, session.storage), urls, paths.values()))
    return Reports(**paths)


def _list_files(files: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the name, the file name and the URL of each report that is written."""
    for name in (each.name for each in fields(Reports)):
        if file := files.get(to_camel(name)):
            # Of the name that the API gives, only the suffix: the rest must not lead to another folder.
            yield name, (_STEMS.get(name, name) + PurePosixPath(file["fileName"]).suffix, file["url"])
