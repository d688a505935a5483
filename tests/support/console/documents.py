"""Documents of cases for the tests of their panel, and what the tests do there."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Locator, Page, expect

from local.stack import LocalStack
from samples.volume import VolumeSpec
from tests.support.console.browser import Window
from tests.support.console.matters import HOSTILE_NAMES, find_case, load_file, load_volume, quote, request

HEADER = "Control Number,Title,Custodian,Tags,Parent ID,Document Date,Date Sent,Bates Beg,Bates End,Notes,Reviewer"
LONG = " ".join(f"word{number:04}" for number in range(450))[:4_000]
COLUMNS = 2_000


def build_family(letter: str = "D") -> str:
    """A letter with two attachments, one of which says more than fits."""
    rows = (
        f"{letter}-0001,Board minutes Q3,Ada;Ben,Hot,,2019-12-31,2019-12-30 14:05:00,SMITH0000001,SMITH0000003,,Eve",
        f'{letter}-0002,budget.xlsx,Ada,,{letter}-0001,2019-12-31,,SMITH0000004,SMITH0000004,"{LONG}",',
        f"{letter}-0003,site plan,Ada,,{letter}-0001,2019-12-30,,SMITH0000005,SMITH0000005,seen,Eve",
        f"{letter}-0004,A letter of its own,Cleo,Hot,,2018-03-04,,,,,",
    )
    return "\n".join((HEADER, *rows)) + "\n"


def build_wide() -> str:
    """One document with 2,000 columns that feed no field, some with hostile texts."""
    names = [f"Column {number:04}" for number in range(COLUMNS)]
    cells = [HOSTILE_NAMES[number % 3] if number % 50 == 0 else f"value {number}" for number in range(COLUMNS)]
    return f"{','.join(['Control Number', *names])}\n{','.join(['W-1', *map(quote, cells)])}\n"


def load_family(stack: LocalStack, case: str) -> int:
    """Import the family; returns the id of the case."""
    load_file(stack, case, build_family())
    return find_case(stack, case)


def load_sample(stack: LocalStack, case: str) -> int:
    """Import a volume with natives, texts and images, some of which are missing; returns the id of the case."""
    load_volume(stack, case, VolumeSpec("VOL001", "VOL", families=2))
    return find_case(stack, case)


def find_document(stack: LocalStack, case_id: int, number: str) -> dict[str, Any]:
    """Return a document as the API does."""
    found = request(stack, "GET", f"/exhibits?caseId={case_id}&controlNumber={number}")["items"]
    return dict(request(stack, "GET", f"/exhibits/{found[0]['id']}"))


def change(stack: LocalStack, exhibit_id: int, **fields: Any) -> None:
    """Change a document as another user does, over the version that is there."""
    version = request(stack, "GET", f"/exhibits/{exhibit_id}")["version"]
    status, raw = stack.request_api("local", "ben", "PATCH", f"/exhibits/{exhibit_id}", fields, f'"{version}"')
    assert status == 200, raw


def open_document(window: Window, case_id: int, exhibit_id: int) -> Locator:
    """Open a document beside the list, and return its panel."""
    window.go(f"cases/{case_id}/documents?open={exhibit_id}")
    panel = window.page.get_by_role("complementary")
    expect(panel).to_be_visible()
    return panel


def edit(page: Page) -> Locator:
    """Begin to edit the open document, and return its form."""
    page.get_by_role("complementary").get_by_role("button", name="Edit").click()
    form = page.get_by_role("form", name="Edit the document")
    expect(form).to_be_visible()
    return form
