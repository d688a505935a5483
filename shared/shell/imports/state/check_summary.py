"""Read the result of a check for the API."""

from __future__ import annotations

from datetime import UTC
from pathlib import PurePosixPath

from core.contracts.imports.checks import ChangedColumn, CheckedCode, CheckResult, UpdateExample
from core.imports.check_summary import judge_check, read_summaries
from core.imports.check_updates import Updates, describe_rows
from core.imports.report_files import build_deficiency_keys, build_findings_key
from shell.tables.import_checks import ImportChecks


def describe_check(check: ImportChecks | None) -> CheckResult | None:
    """Return a finished check as the API represents it, with the names of the files that are written; else None."""
    if check is None or check.finished_at is None:
        return None
    summaries = read_summaries(check.findings or "[]")
    updates = Updates.read(check.updates)
    key = build_findings_key(check.import_id, check.generation)
    table, written_text = build_deficiency_keys(check.import_id, check.generation)
    has_deficiencies = bool(check.report_written) and check.deficiencies_generation == check.generation
    return CheckResult(
        status=judge_check(summaries),
        would_import=check.would_import,
        would_update=check.would_update,
        unchanged=check.unchanged,
        would_reject=check.would_reject,
        new_custodians=check.new_custodians,
        new_tags=check.new_tags,
        changed_columns=[ChangedColumn(column=name, rows=rows) for name, rows in describe_rows(updates.rows)],
        examples=[UpdateExample(**each._asdict()) for each in updates.examples],
        findings=[CheckedCode(**vars(each)) for each in summaries],
        deficiencies=PurePosixPath(table).name if has_deficiencies else None,
        deficiencies_text=PurePosixPath(written_text).name if has_deficiencies else None,
        report=PurePosixPath(key).name if check.report_written else None,
        finished_at=check.finished_at.replace(tzinfo=UTC),
    )
