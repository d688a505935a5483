"""What a case says of its documents, and what another case must say that was made of a production of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from shell.utils.document_properties import parse_properties
from tests.support.queried import Queried

_EXHIBITS = """
    SELECT exhibit.id, control_number, title, file_name, document_date, native_path, text_path, parent_control_number,
    document_properties, (
      SELECT GROUP_CONCAT(custodians.name ORDER BY custodians.name SEPARATOR '|') FROM custodian_exhibits
      JOIN custodians ON custodians.id = custodian_id WHERE exhibit_id = exhibit.id
    ) AS custodians, (SELECT COUNT(*) FROM taggings WHERE exhibit_id = exhibit.id) AS tags
    FROM exhibits AS exhibit JOIN cases ON cases.id = exhibit.case_id WHERE cases.name = :case ORDER BY control_number
"""
_NUMBERS = """
    SELECT control_number, CONCAT(prefix, LPAD(document.first_number, digits, '0')) AS bates
    FROM production_documents AS document JOIN exhibits ON exhibits.id = exhibit_id
    JOIN productions ON productions.id = production_id WHERE production_id = :p
"""
_BREAK = re.compile("\r\n|\r")


class Document(NamedTuple):
    """What is said of a document; the parent's id, and blanks for what is not said."""

    control_number: str
    texts: tuple[str, ...]
    document_date: Any
    custodians: str
    parent: str
    tags: int


def exhibits(at: Queried, case: str) -> Sequence[Any]:
    """The case's exhibits."""
    at.query("SET SESSION group_concat_max_len = 1000000")
    return at.query(_EXHIBITS, case=case)


def numbers(at: Queried, production: int) -> dict[str, str]:
    """The first Bates number of each document, by its control number."""
    return {row.control_number: row.bates for row in at.query(_NUMBERS, p=production)}


def said(row: Any, names: Sequence[str]) -> list[str]:
    """All texts of an exhibit that are handed over."""
    properties = parse_properties(row.document_properties) if row.document_properties else {}
    return [row.title or "", row.file_name or "", *(properties.get(name) or "" for name in names)]


def is_ambiguous(rows: Sequence[Any], names: Sequence[str]) -> bool:
    """Whether a cell holds the sign that readers take for a line break."""
    return any("®" in text for row in rows for text in (*said(row, names), row.custodians or ""))


def expected(rows: Sequence[Any], names: Sequence[str], bates: Mapping[str, str], marks: bool) -> list[Document]:
    """What the other case must say of the exhibits that were produced; with `marks` line breaks are LF there."""
    return sorted(
        Document(
            bates[row.control_number],
            tuple(_BREAK.sub("\n", text) if marks else text for text in said(row, names)),
            row.document_date,
            row.custodians or "",
            bates.get(row.parent_control_number or "", ""),
            0,
        )
        for row in rows
        if row.control_number in bates
    )


def found(rows: Sequence[Any], names: Sequence[str]) -> list[Document]:
    """What a case says."""
    return sorted(
        Document(
            row.control_number,
            tuple(said(row, names)),
            row.document_date,
            row.custodians or "",
            row.parent_control_number or "",
            row.tags,
        )
        for row in rows
    )
