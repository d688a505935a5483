"""Names of columns that people use: which field each one means, by its name or by the cells."""

from __future__ import annotations

from core.cells.later_names import are_paths
from core.load_file.field_mapping import map_columns
from core.load_file.layout import Layout
from tests.unit.core.file_reading import read_file

# As productions, products and review protocols write them; what a column holds decides on those in BY_CONTENT.
NAMES = {
    "text_path": (
        "Extracted Text Path; OCRTEXTPATH; FullTextPath; TEXT FILE; TextFilePath; TEXTFILELINK; Text_File; OCRLINK; "
        "TextPrecedence; Text Location; ExtractedTextFile; TXTPATH; LINK_TEXT"
    ),
    "native_path": (
        "NATIVE_FILE; NATIVEFILE; NativeFilePath; Native File Link; NATIVE_LINK; Native_Path; Document Link; DOC_LINK; "
        "DOCLINK; FILE_LINK; FILEPATH; File Path; NATIVELOCATION; Native Location; ProdNativePath; "
        "Production::Native Path; NATIVE_FILE_PATH; LINK_NATIVE; Native Document Path; NativePathFile; EDOC_LINK; "
        "NFPATH; Exported Path"
    ),
    "family_begin": (
        "BegAttach; AttachBegin; BEG_ATTACH; ATTACH_BEG; BegFamily; Prod Beg Attach; BegDocAttach; Attachment Begin"
    ),
    "family_range": (
        "Attach Start; BEGATTRANGE; AttRangeBeg; FamilyStart; First Attach; BATES_ATTACH_BEG; ATTACHRANGE; BegRange"
    ),
    "parent_control_number": (
        "ParentID; Parent Doc ID; PARENT_DOC; ParentDocument; Parent Control Number; PARENTBATES; ATTACHMENT_PARENT; "
        "PARENT_ID; Parent Item ID; Parent_BegDoc; Parent BegBates; Attach To; FAMILY_PARENT"
    ),
    "custodians": (
        "Custodian; CUSTODIANS; AllCustodian; All Custodian(s); CUSTODIAN_NAMES; Deduped Custodian; DeDupedCustodians; "
        "MasterCustodian; Primary Custodian; DEDUPE_CUSTODIANS; Custodian/Source; Document Custodian; CUST_ALL"
    ),
    "date_sent": (
        "SentDate; DATE_SENT; Date Sent (UTC); DateTimeSent; SENT_DATETIME; Email Sent Date; Sent Date & Time; "
        "SENTDATETIME; Date/Time Sent (GMT); EmailSentDateTime; SENTON; Sent On; MAIL_SENT"
    ),
    "title": "Title; DOCTITLE; Doc Title; Subject; EMAIL_SUBJECT; E-mail Subject; SUBJECT/TITLE",
    "tags": "Tags; TAG; Issue; Issues; Coding",
    "confidentiality": "Designation; Confidentiality",
    # What they mean differs from file to file, and no cell shows it: a wrong custodian is worse than a property.
    None: "Source; DATA_SOURCE; Owner; AllPaths; Responsive; Hot",
}
BY_CELLS = {
    "text_path": (
        "Extracted Text; ExtractedText; EXTRACTED_TEXT; EXTRACTEDTEXT; OCR; OCRTEXT; OCR_TEXT; Text; Full Text; "
        "FULLTEXT; Body Text"
    ),
    "native_path": "NATIVE; LINK; HYPERLINK; Relative Path",
}
PATHS = (r"VOL1\TEXT\0001\A1.txt", "./TEXT/A2.txt", "A3.txt")
TEXTS = ("From: Ann\nTo: Ben", "See report.pdf", "and/or", "https://example.com/a.htm")


def test_every_name_means_its_field() -> None:
    for field, names in NAMES.items():
        for name in names.split("; "):
            assert map_columns(["DOCID", name], {}) == ("control_number", field), name


def read_layout(name: str, cells: tuple[str, ...], other: str = "Note") -> Layout:
    """The layout of a file with a column of this name."""
    rows = [f'A{number},"{cell}",' for number, cell in enumerate(cells, start=1)]
    return read_file("\n".join([f"DOCID,{name},{other}", *rows, ""]).encode()).layout


def test_the_cells_decide_what_an_ambiguous_name_means() -> None:
    for field, names in BY_CELLS.items():
        for name in names.split("; "):
            layout = read_layout(name, PATHS)
            assert (layout.fields[1], layout.reasons[1], layout.earlier_fields[1]) == (field, "content", None), name
            is_text = field == "text_path" and name != "Text"
            other = ("extracted_text", "synonym") if is_text else (None, "property")
            for cells in (TEXTS, ("", "")):
                layout = read_layout(name, cells)
                assert ((layout.fields[1], layout.reasons[1]), layout.earlier_fields) == (other, ()), name
    assert read_layout("ParentGUID", ("", "A1")).fields[1] == "parent_control_number"
    assert read_layout("ParentGUID", ("", "f00d")).fields[1] is None


def test_a_known_name_keeps_its_field_beside_a_later_one() -> None:
    assert read_layout("Subject", ("a",), "Title").fields == ("control_number", None, "title")
    assert read_layout("Extracted Text", PATHS, "Text Path").fields == ("control_number", None, "text_path")
    assert read_layout("Document Custodian", ("Ann",), "Custodian").fields[1:] == (None, "custodians")
    assert map_columns(["DOCID", "Subject"], {"Subject": "property"}) == ("control_number", None)


def test_paths_and_names_of_files_are_no_texts() -> None:
    assert are_paths(PATHS)
    assert not are_paths(TEXTS)
    assert not any(are_paths([text]) for text in TEXTS)
    assert not are_paths([])
