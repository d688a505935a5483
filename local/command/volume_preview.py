"""`exhibit-ingest preview` of a folder or zip: which files its load files name, before anything is sent."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from core.codes import FileFailure
from core.errors import FileRefusedError, InvalidInputError
from core.volumes.path_tally import list_figures
from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.importing.options import read_options
from exhibit_ingest.option_advice import advise_option
from exhibit_ingest.printable import shorten_printable
from exhibit_ingest.volumes.arguments import build_settings, name_arguments
from exhibit_ingest.volumes.path_lines import describe_archives, describe_paths
from local.command.volume_paths import tally_volume


def preview_volume(options: argparse.Namespace) -> bool:
    """Print how the paths of the volume are found, or why it cannot be imported; return whether it can."""
    source, as_json = options.file, options.json
    document = read_options(options)
    try:
        tally, load_files, archives = tally_volume(source, document, build_settings(options))
    except FileRefusedError as refused:
        if refused.code is FileFailure.BAD_OPTIONS:
            raise WrongUsageError(" ".join(filter(None, (str(refused), advise_option(str(refused)))))) from refused
        return _print_error(source, str(refused.code), name_arguments(str(refused)), as_json=as_json)
    except (InvalidInputError, CommandError) as invalid:
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
