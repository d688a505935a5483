"""`exhibit-ingest preview` of a folder or zip: which files its load files name, before anything is sent."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import FileRefusedError, InvalidInputError
from core.volumes.path_tally import list_figures
from exhibit_ingest.preview.volume_paths import tally_volume
from exhibit_ingest.printable import shorten_printable
from exhibit_ingest.volumes.arguments import name_arguments
from exhibit_ingest.volumes.path_lines import describe_archives, describe_paths
from local.errors import LocalError


def preview_volume(source: Path, options: dict[str, Any], settings: Mapping[str, str], *, as_json: bool) -> bool:
    """Print how the paths of the volume are found, or why it cannot be imported; return whether it can."""
    try:
        tally, load_files, archives = tally_volume(source, options, settings)
    except FileRefusedError as refused:
        return _print_error(source, str(refused.code), name_arguments(str(refused)), as_json=as_json)
    except (InvalidInputError, LocalError) as invalid:
        return _print_error(source, None, name_arguments(str(invalid)), as_json=as_json)
    paths = list_figures(tally)
    if as_json:
        found = {"load_files": load_files, "paths": paths}
        print(json.dumps({"file": str(source), "preview": found, "error": None}, ensure_ascii=False, indent=2))
        return True
    print(f"{shorten_printable(source.name, 100)}: {', '.join(shorten_printable(each, 200) for each in load_files)}")
    for line in (*describe_paths(paths, is_imported=False, with_all=True), *describe_archives(paths, archives)):
        print(line)
    if not paths:
        print("The load files name no file.")
    return True


def _print_error(source: Path, code: str | None, message: str, *, as_json: bool) -> bool:
    if as_json:
        error = {"code": code, "message": message}
        print(json.dumps({"file": str(source), "preview": None, "error": error}, ensure_ascii=False, indent=2))
    else:
        reason = shorten_printable(f"{code}: {message}" if code else message, 4_000)
        print(f"exhibit-ingest: {source.name} cannot be imported: {reason}", file=sys.stderr)
    return False
