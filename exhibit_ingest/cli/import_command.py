"""`exhibit-ingest import` and `check`: what the arguments request, of load files or of volumes."""

from __future__ import annotations

import argparse
from pathlib import Path

from exhibit_ingest.errors import CommandError, WrongUsageError
from exhibit_ingest.import_request import ImportRequest
from exhibit_ingest.importing.checks import check_corrections, check_load_file, check_name, check_readable
from exhibit_ingest.importing.options import read_options
from exhibit_ingest.session.output import format_json
from exhibit_ingest.session.session import Context
from exhibit_ingest.volumes.arguments import check_volume_arguments, is_volume


def run(options: argparse.Namespace, context: Context) -> int:
    """Import or check the files, print the results, and return the exit code.

    With --json, an error is printed as JSON too. Raises CommandError, and KeyboardInterrupt after the imports that run
    are cancelled.
    """
    try:
        request = build_request(options)
        if check_volume_arguments(options):
            from exhibit_ingest.importing.volume_files import import_volumes

            return import_volumes(request, options, context)
        from exhibit_ingest.importing.files import import_files

        return import_files(request, options, context)
    except CommandError as exc:
        if not options.json:
            raise
        member = "checks" if options.command == "check" else "imports"
        print(format_json({member: [], "error": str(exc)}))
        return exc.exit_code


def build_request(options: argparse.Namespace) -> ImportRequest:
    """Return the request of the arguments. Raises WrongUsageError."""
    for name in ("case", "tenant", "user"):
        if (value := getattr(options, name)) is not None:
            check_name(name, value)
    check_volume_arguments(options)
    for file in options.files:
        _check_file(file, options.case)
    is_check = options.command == "check"
    if options.corrects is not None:
        check_corrections(options.files, options.corrects, options.profile)
    if is_check and options.expect and options.expect.bates:
        raise WrongUsageError("--expect bates=... is compared by `import`: a check does not know the Bates numbers")
    return ImportRequest(
        files=options.files,
        case=options.case,
        options=read_options(options),
        workers=options.workers,
        json=options.json,
        is_check=is_check,
        create_case=options.create_case,
        profile=options.profile,
        save_profile=options.save_profile,
        corrects=options.corrects,
        limit_rate=options.limit_rate,
        expected=options.expect,
    )


def _check_file(file: Path, case: str) -> None:
    if file.is_dir():
        return
    if is_volume(file):
        check_readable(file)
    else:
        check_load_file(file, case)
