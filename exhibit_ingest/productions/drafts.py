"""The request of a production, from the options and from what the case has; and its check, for people.

Guaranteed: nothing is produced and no number is taken.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from exhibit_ingest.catalog.filters import collect_filters
from exhibit_ingest.catalog.named_documents import check_names, read_numbers
from exhibit_ingest.client.api import Api
from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.productions.arguments import DEFAULT_DIGITS
from exhibit_ingest.session.output import clean, format_count
from exhibit_ingest.session.pages import iterate

MOST_CONTROL_NUMBERS = 10_000
_VOLUME = re.compile(r"VOL([0-9]{3,9})")
_NAMED = 10


@dataclass(frozen=True)
class Draft:
    """The body of a request, and what the API says that the production would be."""

    body: dict[str, Any]
    check: dict[str, Any]

    @property
    def is_blocked(self) -> bool:
        """Whether a finding refuses the production."""
        return any(each["blocks"] for each in self.check["findings"])


def build_selection(options: argparse.Namespace) -> dict[str, Any]:
    """Return the members of the request that select documents; raise WrongUsageError unless they do so in one way."""
    is_named = check_names(options)
    families = {"includeFamilies": True} if options.include_families else {}
    if not is_named:
        return {"query": collect_filters(options), **families}
    numbers = read_numbers(options)
    if len(numbers) > MOST_CONTROL_NUMBERS:
        raise WrongUsageError(
            f"These are more than {MOST_CONTROL_NUMBERS:,} control numbers. Tag these documents, then use --tag."
        )
    return {"controlNumbers": numbers, **families}


def build_draft(api: Api, options: argparse.Namespace, selection: dict[str, Any]) -> Draft:
    """Return the request and its check; pages are numbered as the options say, or where documents have pages.

    Raises CommandError.
    """
    body = {
        "case": options.case,
        "volume": options.volume or _choose_volume(api, options.case),
        "prefix": options.prefix,
        "digits": options.digits or _find_digits(api, options.case, options.prefix),
        **selection,
    }
    if options.start is not None:
        body["startAt"] = options.start
    if options.properties:
        body["properties"] = options.properties
    by_page = options.number_pages
    if options.slip_sheets and by_page is False:
        raise WrongUsageError("--slip-sheets needs numbers of pages: omit --no-number-pages.")
    if by_page is None and not options.slip_sheets:
        check = _check(api, body)
        if not check["withPages"]:
            return Draft(body, check)
    elif by_page is False:
        return Draft(body, _check(api, body))
    body |= {"numbering": "page", "slipSheets": options.slip_sheets}
    return Draft(body, _check(api, body))


def _check(api: Api, body: dict[str, Any]) -> dict[str, Any]:
    return api.request("POST", "/productions/check", body)


def _choose_volume(api: Api, case: str) -> str:
    """Return the name after the last volume of the case that is named like VOL001."""
    names = (_VOLUME.fullmatch(each["volume"]) for each in iterate(api, "/productions", case=case))
    return f"VOL{max((int(name[1]) for name in names if name), default=0) + 1:03}"


def _find_digits(api: Api, case: str, prefix: str) -> int:
    """Return the digits of the prefix in the case, which a production cannot change."""
    prefixes = iterate(api, "/bates-prefixes", case=case)
    return next((int(each["digits"]) for each in prefixes if each["prefix"] == prefix), DEFAULT_DIGITS)


def describe_draft(draft: Draft) -> Iterator[tuple[str, str]]:
    """Yield names and values of a draft, for people."""
    body, check = draft.body, draft.check
    yield "volume", clean(body["volume"])
    families = f", with {format_count(check['families'], 'family', 'families')} of two or more"
    yield "documents", f"{check['documents']:,}{families if check['families'] else ''}"
    unit = "one for each page" if body.get("numbering") == "page" else "one for each document"
    last = clean(check["expectedLastBates"]) or "more than the digits allow"
    numbers = f"{clean(check['firstBates'])} to {last}: {format_count(check['expectedNumbers'], 'number')}, {unit}"
    if check["numbers"] is None:
        documents = format_count(check["uncountedImages"], "document")
        numbers += f", if the images of {documents} have the pages that their load file lists"
    yield "numbers", numbers
    yield "with pages", format_count(check["withPages"], "document")
    unchecked = f", {check['uncheckedFiles']:,} of them not looked up" if check["uncheckedFiles"] else ""
    yield "files", f"{check['files']:,}{unchecked}"


def describe_findings(findings: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a line for each finding: the code, the documents, what to do."""
    for each in findings:
        named = [clean(number, 80) for number in each["controlNumbers"][:_NAMED]]
        more = f" and {each['count'] - len(named):,} more" if each["count"] > len(named) else ""
        refusal = " (refuses the production)" if each["blocks"] else ""
        documents = f"{format_count(each['count'], 'document')}: {', '.join(named)}{more}"
        yield f"  {clean(each['code'])}{refusal}, {documents}. {clean(each['message'], 1000)}"
