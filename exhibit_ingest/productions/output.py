"""Productions for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from exhibit_ingest.catalog.values import format_time
from exhibit_ingest.productions.drafts import describe_findings
from exhibit_ingest.productions.following import format_show
from exhibit_ingest.program import format_command
from exhibit_ingest.session.output import clean, format_count
from exhibit_ingest.session.session import Session
from exhibit_ingest.session.tables import Column

LIST_COLUMNS = (
    Column("number", is_number=True),
    Column("case", least=8, rank=1),
    Column("volume"),
    Column("status"),
    Column("Bates numbers"),
    Column("documents", is_number=True, rank=3),
    Column("requested", rank=2),
    Column("by", least=8, rank=4),
)
CROSSWALK_COLUMNS = (
    Column("control number"),
    Column("first number"),
    Column("last number"),
    Column("pages", is_number=True),
    Column("status", rank=1),
)


def build_row(production: dict[str, Any]) -> dict[str, str]:
    """Return the cells of a production in a list."""
    count = production["documents"]
    return {
        "number": str(production["id"]),
        "case": production["case"],
        "volume": production["volume"],
        "status": production["status"],
        "Bates numbers": describe_range(production),
        "documents": "" if count is None else f"{count:,}",
        "requested": format_time(production["createdAt"]),
        "by": production["createdByName"] or production["createdBy"],
    }


def describe_range(production: dict[str, Any]) -> str:
    """Return the first and the last number; empty before they are reserved."""
    return " - ".join(each for each in (production["firstBates"], production["lastBates"]) if each)


def describe_facts(production: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield names and values of a production."""
    unit = "page" if production["numbering"] == "page" else "document"
    yield "case", clean(production["case"])
    yield "volume", clean(production["volume"])
    yield "status", f"{clean(production['status'])}{', to be cancelled' if production['cancelRequested'] else ''}"
    yield "numbers", clean(describe_range(production) or f"{production['prefix']}, not reserved yet") + f", each {unit}"
    if production["documents"] is not None:
        yield "documents", f"{production['documents']:,}"
    if production["manifestSha256"]:
        yield "MANIFEST.csv", f"SHA-256 {clean(production['manifestSha256'])}"
    by = production["createdByName"] or production["createdBy"]
    yield "requested", f"{format_time(production['createdAt'])} by {clean(by)}"
    for step in production["steps"]:
        total = f", {step['done'] or 0:,} of {step['total']:,} documents" if step["total"] else ""
        reason = f": {clean(step['reason'], 1000)}" if step["reason"] else ""
        yield f"step {clean(step['name'])}", f"{clean(step['status'])}{total}{reason}"


def describe_outcome(production: dict[str, Any], session: Session) -> Iterator[str]:
    """Yield sentences: the result of the production, its warnings, and what to do next."""
    name = f"Production {production['id']} of {clean(production['case'])!r}, volume {clean(production['volume'])}"
    if production["status"] == "confirmed":
        documents = format_count(production["documents"], "document")
        yield f"{name}: {documents}, {clean(describe_range(production))}."
        yield f"SHA-256 of MANIFEST.csv: {clean(production['manifestSha256'])}"
    else:
        yield f"{name}: {clean(production['status'])}"
    yield from describe_next(production, session)


def describe_next(production: dict[str, Any], session: Session) -> Iterator[str]:
    """Yield sentences: why it has its status, its warnings, and what to do next."""
    number, names = str(production["id"]), session.name_options()
    yield from describe_findings(production["warnings"])
    if production["reason"]:
        step = f" at the step {clean(production['failedStep'])}" if production["failedStep"] else ""
        yield f"It failed{step}: {clean(production['reason'], 1000)}"
    yield from (f"Left to do: {clean(each, 1000)}" for each in production["remainingActions"])
    match production["status"]:
        case "confirmed":
            yield f"To download it: {format_command('productions', 'download', number, 'FOLDER', *names)}"
        case "cancelled":
            yield "Its files are deleted, and the numbers that it had are void."
        case "needs_attention":
            yield f"Then go on with it: {format_command('productions', 'retry', number, *names)}"
        case _:
            yield f"To see how far it is: {format_show(session, production['id'])}"
