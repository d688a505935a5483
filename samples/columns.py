"""The columns of a sample file and their header names.

Guarantees: every header name is a documented synonym of the column's field, or not a synonym of any field.
Does not guarantee: a fixed case or fixed blanks and underscores in a name; importers are expected to ignore these.
"""

import enum
import random
from dataclasses import dataclass


class Role(enum.Enum):
    """The meaning of a column."""

    ID = "control_number"
    BATES_BEGIN = "bates_begin"
    BATES_END = "bates_end"
    FAMILY_BEGIN = "family_begin"
    FAMILY_END = "family_end"
    PARENT = "parent_control_number"
    CUSTODIAN = "custodian"
    ALL_CUSTODIANS = "all_custodians"
    TITLE = "title"
    FILE_NAME = "file_name"
    DOCUMENT_DATE = "document_date"
    TAGS = "tags"
    PROPERTY = "property"
    NATIVE_PATH = "native_path"
    TEXT_PATH = "text_path"


class IdStyle(enum.Enum):
    """The kind of column that holds the id; with BEGDOC the id is the first Bates number."""

    CONTROL = "control"
    DOCID = "docid"
    BEGDOC = "begdoc"


ALL_ROLES = frozenset(Role) - {Role.PROPERTY}

_FIELDS = {
    Role.FAMILY_BEGIN: "property",
    Role.FAMILY_END: "property",
    Role.CUSTODIAN: "custodians",
    Role.ALL_CUSTODIANS: "custodians",
}
_ID_NAMES = {
    IdStyle.CONTROL: ("Control Number", "CONTROLNUMBER", "CONTROL_NUMBER", "control number"),
    IdStyle.DOCID: ("DOCID", "DocID", "DOC_ID", "Doc ID"),
    IdStyle.BEGDOC: ("BEGDOC", "BEGDOC#", "BEGBATES", "Bates Begin", "Begin Bates", "BEGINBATES", "PROD_BEG"),
}
_NAMES: dict[Role, tuple[str, ...]] = {
    Role.BATES_BEGIN: ("BEGBATES", "Bates Begin", "Begin Bates", "BEGINBATES", "Bates_Start", "PROD_BEG"),
    Role.BATES_END: ("ENDBATES", "Bates End", "End Bates", "ENDDOC", "ENDDOC#", "PROD_END", "Bates_End"),
    Role.PARENT: ("PARENTID", "PARENT_DOCID", "PARENTDOCID", "Parent Document ID", "attachment_parent"),
    Role.CUSTODIAN: ("CUSTODIAN", "Custodian", "Custodian(s)", "CUSTDIAN", "Custodians", "Master Custodian"),
    Role.ALL_CUSTODIANS: ("ALL CUSTODIANS", "All Custodians", "ALLCUSTODIANS", "DUPCUSTODIAN", "Dupe Custodians"),
    Role.TITLE: ("Title", "TITLE", "Document Title"),
    Role.FILE_NAME: ("FILENAME", "File Name", "FILE_NAME", "Original Filename"),
    Role.DOCUMENT_DATE: ("Document Date", "DOCDATE", "DOC_DATE", "Doc Date"),
    Role.TAGS: ("Tags", "TAGS", "tags"),
    Role.NATIVE_PATH: ("NATIVE_PATH", "NATIVEPATH", "Native Link", "DOCLINK", "FILE_PATH"),
    Role.TEXT_PATH: ("TEXT_PATH", "TEXTPATH", "Text Link", "text_link"),
}
_FAMILY_NAMES = (
    ("BEGATTACH", "ENDATTACH"),
    ("BEGATTY", "ENDATTY"),
    ("BEGINGROUP", "ENDGROUP"),
    ("Bates Begin Attach", "Bates End Attach"),
    ("Begin Family", "End Family"),
)
_PROPERTY_NAMES = (
    "Body",
    "Email Subject",
    "Comments",
    "Summary",
    "Folder Path",
    "Author",
    "Email From",
    "Email To",
    "MD5 Hash",
    "File Size",
    "Volume",
    "Time Zone",
)
_ORDER = tuple(Role)


@dataclass(frozen=True)
class Column:
    """One column: its index (from 0), its role and its header name."""

    index: int
    role: Role
    header: str

    @property
    def field(self) -> str:
        """Return the field's name in a columns mapping."""
        return _FIELDS.get(self.role, self.role.value)


def property_name(number: int) -> str:
    """Return the header name of property column `number`, from 0."""
    return _PROPERTY_NAMES[number] if number < len(_PROPERTY_NAMES) else f"Extra Field {number + 1}"


def plan_columns(
    rng: random.Random, roles: frozenset[Role], id_style: IdStyle, id_position: int, properties: int
) -> tuple[Column, ...]:
    """Return the columns in file order; with BEGDOC ids there is only one column of first Bates numbers."""
    family = rng.choice(_FAMILY_NAMES)
    planned: list[tuple[Role, str]] = []
    for role in _ORDER:
        if role is Role.PROPERTY:
            planned += [(role, property_name(number)) for number in range(properties)]
        elif role in roles and not (role is Role.BATES_BEGIN and id_style is IdStyle.BEGDOC):
            planned.append((role, _header(rng, role, id_style, family)))
    planned.insert(id_position, planned.pop(0))
    return tuple(Column(index, role, header) for index, (role, header) in enumerate(planned))


def _header(rng: random.Random, role: Role, id_style: IdStyle, family: tuple[str, str]) -> str:
    if role is Role.ID:
        return rng.choice(_ID_NAMES[id_style])
    if role in (Role.FAMILY_BEGIN, Role.FAMILY_END):
        return family[role is Role.FAMILY_END]
    return rng.choice(_NAMES[role])
