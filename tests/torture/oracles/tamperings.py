"""What a test does past the application, and what the oracles must say of it; each leaves the next one something."""

from __future__ import annotations

from collections.abc import Iterator

from tests.torture import findings
from tests.torture.clients.ledger import Ledger
from tests.torture.models.corrections import Fold
from tests.torture.plans.volumes import VOLUME_CASES

# Of each the kind of the finding, and words of it where the kind alone would not tell.
TAMPERINGS = {
    "UPDATE exhibits SET title = CONCAT(COALESCE(title, ''), '!') WHERE import_id = :id": findings.MISPLACED,
    "UPDATE exhibits SET line_no = line_no + 99999 WHERE import_id = :id ORDER BY id DESC LIMIT 1": findings.LOST,
    "INSERT INTO import_rejections (import_id, line_no, seq, chunk_no, code, message, byte_start, byte_len) "
    "SELECT import_id, line_no, 99, 0, 'MISSING_ID', '', 0, 0 FROM exhibits WHERE import_id = :id": findings.BOTH,
    "INSERT INTO custody_periods (device_id, begin_at, end_at) "
    "SELECT device_id, begin_at, end_at FROM custody_periods ORDER BY id DESC LIMIT 1": findings.OVERLAP,
    "INSERT INTO imports (tenant_id, case_id, user_id, upload_key, bucket, object_key, size, file_name, status) "
    "SELECT tenant_id, case_id, user_id, REVERSE(upload_key), bucket, object_key, size, file_name, status "
    "FROM imports WHERE id = :id": findings.DOUBLED,
    # Dead-lettered, because whatever waits the application publishes in the meantime.
    "UPDATE outbox_events SET published = 2 ORDER BY id DESC LIMIT 1": findings.UNFINISHED,
    "INSERT INTO taggings (exhibit_id, tag_id, user_id) SELECT e.id, t.id, '' FROM exhibits e JOIN tags t "
    "ON t.case_id = e.case_id WHERE t.name LIKE 'Tag 0.0' AND NOT EXISTS "
    "(SELECT 1 FROM taggings x WHERE x.exhibit_id = e.id AND x.tag_id = t.id) "
    "ORDER BY e.id DESC LIMIT 1": findings.MISPLACED,
    "UPDATE exhibits SET version = version + 1 WHERE version > 1": findings.LOST,
    "UPDATE exhibits SET version = version + 1 WHERE import_id = :id ORDER BY id LIMIT 1": findings.LOST,
    "DELETE FROM exhibit_changes WHERE action = 'tagged' ORDER BY exhibit_id DESC LIMIT 1": findings.LOST,
    "INSERT INTO exhibit_changes (exhibit_id, version, action, user_id, changes) "
    "SELECT MIN(exhibit_id), 999, 'tagged', '', '{}' FROM exhibit_changes": findings.DOUBLED,
    "UPDATE imports SET imported = imported + 1 WHERE case_id = "
    "(SELECT MAX(id) FROM cases WHERE name = 'Twins') LIMIT 1": findings.DOUBLED,
    "UPDATE outbox_events SET sequence = (SELECT last_sequence FROM outbox_state) ORDER BY id DESC LIMIT 2": (
        findings.DOUBLED
    ),
    "INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, payload, published) "
    "SELECT aggregate_type, aggregate_id, event_type, payload, 1 FROM outbox_events "
    "WHERE event_type = 'import.started' ORDER BY id DESC LIMIT 1": findings.DOUBLED,
}

_FINDING = "INSERT INTO import_check_findings (import_id, code, line_no, seq, message) "
_EVENT = "INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, payload, published) "
# The same of files that were checked, one of them run and one left, and of profiles: the finding has these words.
OF_CHECKS = {
    f"{_FINDING} VALUES (:run, 'VALUE_TRUNCATED', 1, 0, '')": (findings.LOST, "findings of the check"),
    f"{_FINDING} SELECT :run, 'BATES_GAP', 2, seq, '' FROM (SELECT 0 AS seq UNION SELECT 1) AS twice": (
        findings.DOUBLED,
        "was found 2 times",
    ),
    "UPDATE import_checks SET report_written = 0 WHERE import_id = :run": (findings.LOST, "file of the findings"),
    "UPDATE imports SET custodians_created = custodians_created + 1 WHERE id = :run": (
        findings.MISPLACED,
        "and the import did",
    ),
    "INSERT INTO import_warnings (import_id, line_no, seq, chunk_no, code, message) "
    "VALUES (:run, 0, 900000, 0, 'DIFFERS_FROM_CHECK', '')": (findings.LOST, "by what the import reports"),
    f"{_EVENT} SELECT aggregate_type, aggregate_id, event_type, payload, 1 FROM outbox_events "
    "WHERE event_type = 'import.checked' AND aggregate_id = :left LIMIT 1": (
        findings.DOUBLED,
        "ended 2 times in generation",
    ),
    f"{_EVENT} VALUES ('import', :left, 'import.started', '{{\"importId\": 0}}', 1)": (
        findings.DOUBLED,
        "which was run 0 times",
    ),
    "UPDATE imports SET status = 'running' WHERE id = :left": (findings.MISPLACED, "no run was requested"),
    "UPDATE tags SET import_id = :left ORDER BY id DESC LIMIT 1": (findings.MISPLACED, "was only checked"),
    "UPDATE import_profiles SET version = version + 1 WHERE name = 'Kept'": (findings.LOST, "was answered as"),
    "INSERT INTO import_profiles (tenant_id, name, version, options, created_by, updated_by) "
    "SELECT tenant_id, 'Other', 1, options, '', '' FROM import_profiles WHERE name = 'Kept'": (
        findings.DOUBLED,
        "answered to no caller",
    ),
    "UPDATE exhibits SET title = file_name, file_name = title WHERE import_id = :profiled": (
        findings.MISPLACED,
        "has filled",
    ),
    "DELETE FROM exhibits WHERE import_id = :profiled": (findings.LOST, "has filled []"),
}

# The same of the case that is overlaid, and of one of its overlays that has rejected a row.
OF_OVERLAYS = {
    "UPDATE exhibits SET file_name = CONCAT(COALESCE(file_name, ''), '!') WHERE import_id = :first LIMIT 1": (
        findings.LOST,
        "by its history and as stored: fields file_name",
    ),
    # Perhaps of the same document: what is found of it then begins with its fields.
    "DELETE FROM taggings WHERE exhibit_id IN (SELECT id FROM exhibits WHERE import_id = :first) LIMIT 1": (
        findings.LOST,
        " tags ",
    ),
    "UPDATE imports SET updated = updated + 1, unchanged = unchanged - 1 WHERE id = :overlay": (
        findings.MISPLACED,
        "has counted",
    ),
    "DELETE FROM import_rejections WHERE import_id = :overlay LIMIT 1": (findings.LOST, "import_rejections"),
    "INSERT INTO import_warnings (import_id, line_no, seq, chunk_no, code, message) "
    "VALUES (:overlay, 2, 900, 0, 'INVALID_DATE', '')": (findings.MISPLACED, "import_warnings"),
    "UPDATE exhibit_changes SET line_no = 999 WHERE import_id = :overlay AND undo_no IS NULL LIMIT 1": (
        findings.MISPLACED,
        "which is another's",
    ),
    "UPDATE exhibit_changes SET stated = '{}' WHERE import_id = :overlay AND undo_no IS NULL LIMIT 1": (
        findings.MISPLACED,
        "states other things than the model",
    ),
    # Clients may have changed none of its documents: these changes are added.
    "INSERT INTO exhibit_changes (exhibit_id, version, action, user_id, changes) SELECT id, version + 1, 'tagged', '', "
    '\'{"tags": {"Never": {"old": false, "new": true}}}\' FROM exhibits WHERE import_id = :first ORDER BY id LIMIT 1': (
        findings.MISPLACED,
        "taggings and custodians",
    ),
    "INSERT INTO exhibit_changes (exhibit_id, version, action, user_id, changes) SELECT id, version + 2, 'edited', '', "
    '\'{"fields": {"title": {"old": "never", "new": "never"}}}\' FROM exhibits WHERE import_id = :first '
    "ORDER BY id LIMIT 1": (
        findings.LOST,
        "begins with other values",
    ),
}

# The same of one of its imports that was undone.
OF_UNDOS = {
    "UPDATE import_undos SET restored = restored + 1 WHERE import_id = :undone": (findings.MISPLACED, "has counted"),
    "INSERT INTO import_undo_kept (import_id, undo_no, line_no, seq, exhibit_id, control_number, code) "
    "SELECT import_id, undo_no, 9999, 0, (SELECT MIN(id) FROM exhibits WHERE import_id = :first), '', 'IN_PRODUCTION' "
    "FROM import_undos WHERE import_id = :undone AND dry_run = 0": (findings.LOST, "IN_PRODUCTION"),
    "UPDATE exhibit_changes SET undo_no = 99 WHERE import_id = :undone AND undo_no IS NOT NULL LIMIT 1": (
        findings.MISPLACED,
        "which is another's",
    ),
    "INSERT INTO exhibit_tombstones (exhibit_id, case_id, control_number, version, import_id, line_no, undo_no) "
    "SELECT id, case_id, control_number, version, import_id, line_no, 99 FROM exhibits "
    "WHERE import_id = :first LIMIT 1": (
        findings.MISPLACED,
        "was removed by undo 99",
    ),
    f"{_EVENT} SELECT aggregate_type, aggregate_id, event_type, payload, 1 FROM outbox_events "
    "WHERE event_type = 'import.undone' ORDER BY id DESC LIMIT 1": (findings.DOUBLED, "ended 2 times, of 1"),
}

# The same of the last import of images of a volume, and of one of the imports of volumes that was undone.
_PAGE_SET = "(SELECT MIN(id) FROM page_sets WHERE import_id = :images)"
OF_VOLUMES = {
    f"UPDATE pages SET image_key = CONCAT(image_key, '!') WHERE page_set_id = {_PAGE_SET} LIMIT 1": (
        findings.MISPLACED,
        "has the pages",
    ),
    f"DELETE FROM pages WHERE page_set_id = {_PAGE_SET} LIMIT 1": (findings.LOST, "has the pages"),
    f"UPDATE exhibits SET page_set_id = NULL WHERE page_set_id = {_PAGE_SET}": (findings.LOST, "by its history"),
    "INSERT INTO page_sets (case_id, import_id, line_no, page_count, content_hash) "
    "SELECT case_id, import_id, 999, page_count, content_hash FROM page_sets WHERE import_id = :images LIMIT 1": (
        findings.MISPLACED,
        "page sets",
    ),
    "INSERT INTO pages SELECT 999999999, page_no, image_key, file_id, path, 0, 0 FROM pages LIMIT 1": (
        findings.MISPLACED,
        "belong to no page set",
    ),
    "UPDATE exhibit_changes SET line_no = 999 WHERE import_id = :images AND undo_no IS NULL LIMIT 1": (
        findings.LOST,
        "has no pages of",
    ),
    "DELETE FROM exhibit_files ORDER BY exhibit_id DESC LIMIT 1": (findings.LOST, "links of import"),
    "UPDATE exhibit_files SET rule = 5 ORDER BY exhibit_id DESC LIMIT 1": (findings.MISPLACED, "links of import"),
    "UPDATE import_chunk_files SET counts = JSON_OBJECT('unreferenced', 99) WHERE import_id = :images "
    "AND chunk_no = 0": (findings.MISPLACED, "that nothing names"),
    "UPDATE imports SET imported = imported + 1 WHERE id = :images": (findings.MISPLACED, "of the images of volume"),
    "UPDATE import_undos SET removed = removed + 1 WHERE import_id = :taken": (findings.MISPLACED, "has counted"),
    "UPDATE volumes SET units_left = -1 WHERE id = :volume": (findings.MISPLACED, "expected was"),
    "UPDATE volume_files SET sha256 = NULL WHERE sha256 IS NOT NULL LIMIT 1": (findings.MISPLACED, "and the hash None"),
    "UPDATE volume_files SET version_id = 'other' WHERE volume_id = :volume LIMIT 1": (findings.LOST, "names version"),
    "DELETE FROM volume_files WHERE volume_id = :volume ORDER BY file_no DESC LIMIT 1": (
        findings.LOST,
        "files of volume",
    ),
}

# The same of a file whose rejected rows were corrected, of one of these corrections, and of a file that was held.
OF_STEPS = {
    "UPDATE import_corrections SET status = 'pending' WHERE import_id = :corrected AND status = 'accepted' LIMIT 1": (
        findings.LOST,
        "claims of import",
    ),
    "UPDATE exhibits SET title = REVERSE(title) WHERE import_id = :correcting LIMIT 1": (
        findings.MISPLACED,
        "other values than its row",
    ),
    "UPDATE imports SET rejected = rejected - 1 WHERE id = :corrected": (
        findings.MISPLACED,
        "whose rows were corrected",
    ),
    "UPDATE imports SET unchanged = unchanged + 1 WHERE id = :correcting": (
        findings.LOST,
        "corrected rows has the counts",
    ),
    "UPDATE imports SET options_version = options_version + 1 WHERE id = :held": (
        findings.LOST,
        "that was answered is",
    ),
    "UPDATE imports SET status = 'running', wanted = 'import' WHERE id = :held": (
        findings.MISPLACED,
        "no run was requested",
    ),
}


# The same of a case that was closed and opened again.
OF_CASES = {
    "UPDATE cases SET version = version + 1 WHERE id = :kept": (findings.LOST, "answered was"),
    "UPDATE case_changes SET kind = 'renamed' WHERE case_id = :kept LIMIT 1": (findings.LOST, "changes of cases"),
    "UPDATE activities SET action = 'case.reopened' WHERE case_id = :kept AND action = 'case.closed' "
    "ORDER BY id LIMIT 1": (findings.MISPLACED, "let in"),
    "INSERT INTO custodians (case_id, name) VALUES (:kept, 'Never 0')": (findings.MISPLACED, "a closed case refused"),
}


# The same of a case that was purged; what is left of it would be the next one's.
OF_PURGES = {
    "UPDATE case_changes SET details = '{}' WHERE case_id = :purged AND kind = 'purged'": (
        findings.MISPLACED,
        "another certificate",
    ),
    "INSERT INTO tags (case_id, name) VALUES (:purged, 'Left')": (findings.MISPLACED, "rows in tags"),
    "INSERT INTO case_purge_counts (case_id, kind, name, total, size, digest) "
    "VALUES (:purged, 'rows', 'tags', 1, 0, '')": (findings.MISPLACED, "rows in case_purge_counts"),
    "INSERT INTO case_changes (tenant_id, case_id, kind, details) "
    "SELECT tenant_id, id, 'purge_begun', '{}' FROM cases WHERE id = :purged": (findings.DOUBLED, "purge_begun"),
    "UPDATE cases SET name = 'Purged 0' WHERE id = :purged": (findings.MISPLACED, "under the name"),
}


# The same of a file that was imported again.
OF_REPEATS = {
    "DELETE FROM import_rejections WHERE import_id = :repeated": (findings.LOST, "of the same file again"),
    "UPDATE imports SET unchanged = unchanged + 1 WHERE id = :repeated": (findings.MISPLACED, "has the counts"),
    "UPDATE exhibits SET import_id = :repeated WHERE case_id = (SELECT case_id FROM imports WHERE id = :repeated) "
    "LIMIT 1": (findings.LOST, "documents of Repeated"),
}


def list_tamperings() -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each statement with the kind of the finding that it must lead to, and words of it."""
    yield from ((tampering, (kind, "")) for tampering, kind in TAMPERINGS.items())
    yield from OF_CHECKS.items()
    yield from OF_STEPS.items()
    yield from OF_CASES.items()
    yield from OF_PURGES.items()
    yield from OF_REPEATS.items()
    yield from OF_OVERLAYS.items()
    yield from OF_UNDOS.items()
    yield from OF_VOLUMES.items()


def list_ids(ledger: Ledger) -> dict[str, int]:
    """Return the ids that the statements name, of a seed whose plan has them all."""
    first, *overlays = [each.import_id for each in ledger.overlays]
    ids = {"id": ledger.uploads[0].import_id, "profiled": min(ledger.profiled), "first": first, "overlay": overlays[0]}
    ids["undone"] = max(each.import_id for each in ledger.undos if not each.is_dry_run)
    ids |= list_volume_ids(ledger) | list_step_ids(ledger)
    ids["kept"] = max(case_id for case_id, kind in ledger.cases.changes if kind == "reopened")
    ids["repeated"] = ledger.repeats[1].import_id
    ids["purged"] = ledger.purges[0].case_id
    return ids | {"run" if each.is_run else "left": each.upload.import_id for each in ledger.checks}


def list_volume_ids(ledger: Ledger) -> dict[str, int]:
    """Return those of the second case with volumes, which has had an undo, and has documents in the end."""
    course = ledger.volumes[VOLUME_CASES[1]]
    last = list(course.runs)[-1]
    return {"images": last.images, "volume": last.sent.volume_id, "taken": course.undos[-1].import_id}


def list_step_ids(ledger: Ledger) -> dict[str, int]:
    """Return those of a file whose rows were corrected, of one of these corrections, and of a file that was held."""
    course = next(iter(ledger.corrections.values()))
    fold = Fold(course)
    list(fold.run())
    correcting = next(import_id for import_id, _, _ in fold.list_documents())
    return {"corrected": course.import_id, "correcting": correcting, "held": ledger.held[0].import_id}
