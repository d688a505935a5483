"""Check what a production would be, before it is requested: families, files, pages and Bates numbers.

Guaranteed: nothing is written, no number is taken. The findings are those of the reservation, and missing loose files,
which the reservation does not look for; whatever was not looked at is counted.
Not guaranteed: that the production has the same findings later. Image files whose pages were never counted are counted
when the numbers are reserved, not here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from core.caller import Caller
from core.contracts.productions import NewProduction, ProductionCheck
from core.errors import InvalidInputError
from core.productions.bates import BatesFormat
from core.productions.findings import FindingCode, group_findings
from core.productions.volume import resolve_source_key
from shell.aws.clients import S3_CONNECTIONS
from shell.aws.s3 import find_current_version
from shell.db.session import session
from shell.exhibits.cases import get_case_id
from shell.productions.bates_sequences import check_available, list_overlapping
from shell.productions.commands import format_selection
from shell.productions.page_images import CountedFile, get_stored_count
from shell.productions.preparation import prepare_documents
from shell.productions.queries import describe_finding
from shell.productions.selection import SelectedExhibit
from shell.productions.sources import SourceFile
from shell.settings import settings
from shell.tables.productions import Productions
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

# Each takes a request to S3, and an answer has to come within half a minute.
MAX_LOOKUPS = 2_000


def check_production(caller: Caller, body: NewProduction) -> ProductionCheck:
    """Return what the production would be now.

    Raises NotFoundError for a case or exhibits that the tenant does not have, NothingToProduceError, InvalidInputError
    for documents that cannot be numbered, SequenceExhaustedError and WrongStateError as the request of a production.
    """
    production = _build_production(caller, body)
    prepared = prepare_documents(production, _get_stored_counts)
    numbers = sum(each.numbers for each in prepared.exhibits)
    bates_format = BatesFormat(body.prefix, body.digits)
    first, last, overlapping = _read_numbers(production, bates_format, numbers)
    missing, unchecked = _find_missing_files(caller.tenant_id, body.case, prepared.exhibits)
    found = [*prepared.found, *((FindingCode.FILE_MISSING, each) for each in missing)]
    found += ((FindingCode.BATES_OVERLAP, each) for each in overlapping)
    return ProductionCheck(
        documents=len(prepared.exhibits),
        numbers=None if prepared.uncounted else numbers,
        first_bates=bates_format.format_number(first),
        last_bates=None if prepared.uncounted else bates_format.format_number(last),
        findings=[describe_finding(each) for each in group_findings(found)],
        uncounted_images=prepared.uncounted,
        unchecked_files=unchecked,
    )


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _build_production(caller: Caller, body: NewProduction) -> Productions:
    """Return the production as its request would record it, in no session."""
    with session() as reading:
        case_id = get_case_id(reading, caller, body.case)
    return Productions(
        tenant_id=caller.tenant_id,
        case_id=case_id,
        selection=format_selection(body),
        slip_sheets=int(body.slip_sheets),
        **body.model_dump(include={"volume", "prefix", "digits", "start_at", "numbering"}),
    )


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_numbers(production: Productions, bates_format: BatesFormat, count: int) -> tuple[int, int, list[int]]:
    """Return the first and last number, and the exhibits that have one of them already."""
    with session() as reading:
        numbers = check_available(reading, production.case_id, bates_format, count, production.start_at)
        return *numbers, list_overlapping(reading, production.case_id, bates_format, numbers)


def _get_stored_counts(files: Sequence[str], known: Mapping[int, SourceFile]) -> dict[str, CountedFile]:
    return {file: get_stored_count(file, known) or CountedFile(None, None) for file in files}


def _find_missing_files(tenant_id: str, case: str, exhibits: Sequence[SelectedExhibit]) -> tuple[set[int], int]:
    """Return the exhibits of which a loose file is missing, and how many loose files were not looked up.

    Raises StorageUnavailableError.
    """
    paths = [(each.exhibit_id, path) for each in exhibits for path in each.files.values() if isinstance(path, str)]
    with ThreadPoolExecutor(S3_CONNECTIONS) as pool:
        found = pool.map(partial(_is_there, tenant_id, case), (path for _, path in paths[:MAX_LOOKUPS]))
    missing = {exhibit_id for (exhibit_id, _), there in zip(paths, found, strict=False) if not there}
    return missing, max(0, len(paths) - MAX_LOOKUPS)


def _is_there(tenant_id: str, case: str, path: str) -> bool:
    try:
        find_current_version(settings().bucket, resolve_source_key(tenant_id, case, path))
    # No such object, or a path that leads out of the case's files.
    except InvalidInputError:
        return False
    return True
