"""Check what a production would be, before it is requested: families, files, pages and Bates numbers.

Guaranteed: nothing is written, no number is taken. The findings are those of the reservation, by the same code
(`shell.productions.preparation`); whatever was not looked at is counted. A request that would be blocked is refused.
The tags are looked at here alone.
Not guaranteed: that the production has the same findings later. Image files whose pages were never counted are counted
when the numbers are reserved, not here, and so is a request for very many documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set

from sqlalchemy import select

from core.caller import Caller
from core.contracts.common import ProductionFinding
from core.contracts.productions import NewProduction, ProductionCheck
from core.errors import ProductionRefusedError
from core.named_lists import format_names
from core.productions.bates import BatesFormat
from core.productions.findings import FindingCode, GroupedFinding, group_findings, says_privileged
from shell.db.session import session
from shell.db.value_lists import split_values
from shell.exhibits.cases import get_case_id
from shell.productions.bates_sequences import check_available, list_overlapping
from shell.productions.commands import format_selection
from shell.productions.page_images import CountedFile, get_stored_count
from shell.productions.preparation import NOTHING_TAKEN, PreparedDocuments, prepare_documents
from shell.productions.queries import describe_findings
from shell.productions.selection import count_selected
from shell.productions.sources import SourceFile
from shell.tables.custodians_tags import Tags
from shell.tables.links import Taggings
from shell.tables.productions import Productions
from shell.utils.db_helpers import force_index, rerun_if_unknown, retry_on_db_conflict

# Each takes a request to S3, and an answer has to come within half a minute.
MAX_CHECK_LOOKUPS = 2_000
# More documents are not prepared twice: their production is refused by its first steps, before it has numbers.
MAX_DOCUMENTS_AT_ONCE = 10_000


def check_production(caller: Caller, body: NewProduction) -> ProductionCheck:
    """Return what the production would be now.

    Raises NotFoundError for a case or exhibits that the tenant does not have, NothingToProduceError, InvalidInputError
    for documents that cannot be numbered, SequenceExhaustedError and WrongStateError as the request of a production.
    """
    production = _build_production(caller, body)
    prepared = _prepare(production)
    numbers = sum(each.numbers for each in prepared.exhibits)
    bates_format = BatesFormat(body.prefix, body.digits)
    first, last, overlapping = _read_numbers(production, bates_format, numbers)
    expected = last + prepared.listed
    privileged = _find_privileged(production, {each.exhibit_id for each in prepared.exhibits})
    found = [
        *prepared.found,
        *((FindingCode.BATES_OVERLAP, each) for each in overlapping),
        *((FindingCode.PRIVILEGED_TAG, each) for each in privileged),
    ]
    return ProductionCheck(
        documents=len(prepared.exhibits),
        families=_count_families(prepared),
        with_pages=sum(each.has_pages for each in prepared.exhibits),
        files=sum(each.objects for each in prepared.exhibits),
        numbers=None if prepared.uncounted else numbers,
        expected_numbers=numbers + prepared.listed,
        first_bates=bates_format.format_number(first),
        last_bates=None if prepared.uncounted else bates_format.format_number(last),
        expected_last_bates=bates_format.format_number(expected) if expected <= bates_format.last else None,
        findings=_describe(production, group_findings(found)),
        uncounted_images=prepared.uncounted,
        unchecked_files=prepared.unchecked,
    )


def refuse_blocked_production(caller: Caller, body: NewProduction) -> None:
    """Raise ProductionRefusedError if the check of a production of at most 10,000 documents finds what blocks it.

    Raises what `check_production` raises for documents that cannot be produced.
    """
    production = _build_production(caller, body)
    if _count(production) > MAX_DOCUMENTS_AT_ONCE:
        return
    blocking = [each for each in _prepare(production).findings if each.blocks]
    if blocking:
        found = _describe(production, blocking)
        named = (f"{each.code} ({format_names(each.control_numbers, each.count)}): {each.message}" for each in found)
        raise ProductionRefusedError(" ".join((*named, NOTHING_TAKEN)), found)


def _prepare(production: Productions) -> PreparedDocuments:
    return prepare_documents(production, _get_stored_counts, MAX_CHECK_LOOKUPS)


def _count_families(prepared: PreparedDocuments) -> int:
    sizes = Counter(prepared.families.places[each.control_number].root for each in prepared.exhibits)
    return sum(size > 1 for size in sizes.values())


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_privileged(production: Productions, exhibit_ids: Set[int]) -> list[int]:
    """Return those of the exhibits that have a tag of which the name says privileged.

    The taggings of these exhibits are read, however many others of the case have such a tag.
    """
    with session() as reading:
        tags = reading.execute(select(Tags.id, Tags.name).where(Tags.case_id == production.case_id))
        named = {row.id for row in tags if says_privileged(row.name)}
        found = set[int]()
        for batch in split_values(sorted(exhibit_ids)) if named else ():
            taggings = select(Taggings.exhibit_id, Taggings.tag_id).where(Taggings.exhibit_id.in_(batch))
            rows = reading.execute(force_index(taggings, Taggings, "PRIMARY"))
            found.update(row.exhibit_id for row in rows if row.tag_id in named)
        return sorted(found)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _describe(production: Productions, findings: Sequence[GroupedFinding]) -> list[ProductionFinding]:
    with session() as reading:
        return describe_findings(reading, production.case_id, findings)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _count(production: Productions) -> int:
    with session() as reading:
        return count_selected(reading, production.case_id, production.selection)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _build_production(caller: Caller, body: NewProduction) -> Productions:
    """Return the production as its request would record it, in no session."""
    with session() as reading:
        case_id = get_case_id(reading, caller, body.case)
        selection = format_selection(reading, case_id, body)
    return Productions(
        tenant_id=caller.tenant_id,
        case_id=case_id,
        selection=selection,
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
