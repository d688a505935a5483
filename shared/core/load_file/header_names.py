"""The header names that mean a field, from the products and specifications that docs/load-files.md lists.

A synonym is a whole name; a pattern says how names are put together: `Beg Bates`, `Bates Begin No.`, `ProdBegDoc#`.
Both are compared with case-folded letters and digits alone, patterns with "number" in place of the sign #.
"""

from __future__ import annotations

import re
from functools import cache

from core.exhibit_dates import EVENT_DATES
from core.exhibit_fields import TEXT_FIELDS

# The columns that hold the times of dates whose own column may hold the day alone.
TIME_FIELDS = {
    "document_date": "document_time",
    **{date: date.replace("date", "time") for date in EVENT_DATES},
}
# In order of preference: the first name in the file wins. `custodians`, `tags` and the text may have several columns.
SYNONYMS: dict[str, tuple[str, ...]] = {
    "control_number": (
        *("controlnumber", "controlno", "ctrlnumber", "docid", "documentid", "docidentifier", "documentidentifier"),
        *("itemid", "upi"),
    ),
    "bates_begin": (
        *("begdoc", "begindoc", "begbates", "beginbates", "batesbeg", "batesbegin", "batesstart", "startbates"),
        *("begdocno", "firstbates", "batescontrol", "prodbeg", "prodbegin", "begprod", "beginproduction"),
        *("begno", "begnum", "beginnumber", "batesnumber", "batesno", "bates"),
    ),
    "bates_end": (
        *("enddoc", "endbates", "batesend", "batesstop", "enddocno", "lastbates", "endbatescontrol", "prodend"),
        *("endprod", "endproduction", "endno", "endnum", "endnumber"),
    ),
    "parent_control_number": (
        *("parentid", "parentdocid", "parentdocumentid", "parentcontrolnumber", "attachmentparent", "parentbates"),
        *("parentbeg", "parent"),
    ),
    # For Logikcull, "Begin Attach" is the first attachment, and "Begin Family" the first document of the family.
    "family_begin": (
        *("begfamily", "beginfamily", "begingroup", "begattach", "begattatch", "begatty", "batesbeginattach"),
        *("beginattach", "prodbegattach", "attachbeg", "batesbegattach", "beginningattachmentnumber"),
        *("beginnumberattach", "startingbatesoffamily"),
    ),
    # None is a name of family_begin, from which a parent is stored: rows of files imported before stay equal.
    "family_range": (
        *("attachrange", "attrange", "attachmentrange", "familyrange", "famlyrng", "batesattachrange"),
        *("begattrange", "begattachrange", "beginattrange", "beginattachrange", "attrangebeg", "attachrangebeg"),
        *("familystart", "attachstart", "firstattach", "batesattachbeg", "begrange"),
    ),
    "family_group": (
        *("groupidentifier", "familyid", "familyidentifier", "familygroup", "familygroupid", "familygroupidentifier"),
        *("groupid", "attachmentgroup", "attachmentgroupid", "attachgroup", "attachgroupid", "attachgroupidentifier"),
    ),
    "family_members": (
        *("attachmentids", "attachids", "attachmentdocids", "attachdocids", "attachmentdocumentids", "childids"),
        *("childdocids", "childrenids", "attachmentcontrolnumbers", "childcontrolnumbers", "attachmentbates"),
    ),
    **{text.name: text.names for text in TEXT_FIELDS},
    "document_date": ("documentdate", "docdate", "date"),
    "date_sent": ("datesent", "sentdate", "datetimesent"),
    "date_received": ("datereceived", "receiveddate"),
    "date_created": ("datecreated", "createddate", "creationdate"),
    "date_modified": ("datelastmodified", "lastmodifieddate", "datemodified", "modifieddate"),
    "document_time": ("documenttime", "doctime", "time"),
    "time_sent": ("timesent", "senttime"),
    "time_received": ("timereceived", "receivedtime"),
    "time_created": ("timecreated", "createdtime", "creationtime"),
    "time_modified": ("timelastmodified", "lastmodifiedtime", "timemodified", "modifiedtime"),
    "custodians": (
        *("custodian", "custodians", "custdian", "mastercustodian", "allcustodians", "dupcustodian"),
        *("dupcustodians", "dupecustodian", "dupecustodians", "duplicatecustodian", "duplicatecustodians"),
        *("othercustodians", "cust"),
    ),
    "tags": ("tags", "tag", "issues", "issue", "issuetags", "coded", "coding"),
    # A column whose cells are paths is none of these: see `core.texts.cells`.
    "extracted_text": ("extractedtext", "ocr", "ocrtext", "fulltext", "bodytext", "doctext", "documenttext"),
}
_WORDS = {
    "begin": r"(?:beg(?:in(?:ning)?)?|start(?:ing)?|first)",
    "end": r"(?:end(?:ing)?|stop|last)",
    "number": r"(?:numbers?|num|no|nbr|nr)",
    "kind": r"(?:bates|doc(?:ument)?|control|ctrl|cntrl|prod(?:uction)?)",
    "prod": r"(?:prod(?:uction)?)?",
    "doc": r"doc(?:ument)?",
    "family": r"(?:family|fam|group|attach(?:ment)?s?|attch|atty|att)",
    "copies": r"(?:all|dup(?:e|licates?)?|dedup(?:ed?|lication)?|master|primary|main|other|additional|file|doc)?",
    "date": r"date(?:and)?(?:time)?",
}
# {edge} is a word for the first or last page, {short} one that also comes after the kind of number: "Doc Beg".
_RANGE = (
    r"{kind}?{edge}(?:{kind}{{1,2}}(?:{number}|id|range|page)?|{number})",
    r"{kind}{{1,2}}(?:{number}|id|range)?{short}{number}?|(?:bates|control){edge}{number}?",
)
_DATE = r"(?:e?mail|file|{doc})?(?:{date}{event}|{event}(?:on)?{date})(?:utc|gmt)?"
_EVENTS = {
    "sent": "sent",
    "received": "(?:received|rcvd|recd)",
    "created": "(?:created?|creation|crtd)",
    "modified": "(?:last)?(?:mod(?:ified|ification)?|saved|svd)",
}
_FORMS: dict[str, tuple[str, ...]] = {
    "control_number": (r"(?:{doc})?(?:control|ctrl|cntrl|ctl)(?:{number}|id)", "dcn"),
    "bates_begin": (
        *(form.replace("{edge}", "{begin}").replace("{short}", "beg(?:in)?") for form in _RANGE),
        r"(?:prod(?:uced|uction)?)?bates(?:control)?(?:{number}|id|label|stamp)?",
    ),
    "bates_end": tuple(form.replace("{edge}", "{end}").replace("{short}", "end") for form in _RANGE),
    "parent_control_number": (
        r"(?:attach(?:ment)?)?parent{begin}?(?:{kind}|item|record){{0,2}}(?:{number}|id|bates|{begin})?",
    ),
    "family_begin": (
        r"{kind}{{0,2}}beg(?:in(?:ning)?)?{kind}?(?:of)?{family}(?:id|bates)?",
        r"{prod}{family}{kind}?beg(?:in)?{kind}?",
    ),
    "family_range": (r"{prod}{kind}?{family}range(?:{begin}|all)?", r"{prod}{begin}{family}range"),
    "family_group": (r"(?:relativity)?(?:(?:family|fam)(?:group)?|group)(?:id|identifier)",),
    "family_members": (r"(?:attach(?:ment)?s?|attch|child(?:ren)?)(?:doc(?:ument)?|control|bates|item)?ids",),
    **{text.name: (*text.patterns, *text.doubtful) for text in TEXT_FIELDS},
    # The last one is the beginning of an appointment: see LAST_DATE_RANK.
    "document_date": (r"(?:master|primary|item|e?mail|{doc})?{date}", r"(?:beg(?:in)?|start)date"),
    **{f"date_{name}": (_DATE.replace("{event}", event),) for name, event in _EVENTS.items()},
    "document_time": (r"(?:master|primary|item|e?mail|{doc})?time",),
    **{f"time_{name}": (_DATE.replace("{date}", "time").replace("{event}", event),) for name, event in _EVENTS.items()},
    "custodians": (
        r"{copies}custodians?(?:names?|list|all|other|dup(?:e|licates?)?)?",
        r"(?:all|dup(?:e|licates?)?|other|master|primary)custs?|custdn|custodn",
    ),
    "tags": (r"(?:review|{doc}|all|user)?tags?(?:names?|list|paths?)?", r"issue(?:codes?|names?)"),
    "extracted_text": (r"(?:ocr|extracted|full)(?:text)?[0-9]{{1,3}}",),
}
# A column with this rank is the document date only in a file without any other date.
LAST_DATE_RANK = len(SYNONYMS["document_date"]) + 1
# The id in some files and something else in others: used if no other column can be the id.
_FALLBACK_IDS = (
    r"(?:{doc}|exhibit|ex|rec(?:ord)?|item|unique(?:{doc})?|evidence|image)(?:id|identifier|key|{number})"
    r"|(?:relativity|nuix|everlaw|disco|logikcull|reveal|zylab)(?:{doc}|control)?(?:id|{number})"
    r"|id|identifier|uid|uuid|(?:item|{doc})?guid|artifactid|fileid|imagetag|exhibit"
)
# Columns that state families and stay properties: a production may hand them over, beside the families of its own.
FAMILY_PROPERTIES = ("family_range", "family_group", "family_members")
# Relativity names the fields of a production after it: "Production::Begin Bates".
PRODUCTION_FIELDS = frozenset({"bates_begin", "bates_end", "family_begin", "family_range"})


@cache
def compile_patterns() -> dict[str, tuple[re.Pattern[str], ...]]:
    """Return the patterns of each field, in order of preference; compiled at first use, because it takes 8 ms."""
    return {field: tuple(re.compile(form.format(**_WORDS)) for form in forms) for field, forms in _FORMS.items()}


@cache
def compile_fallback_id() -> re.Pattern[str]:
    """Return the pattern of names that may be an id."""
    return re.compile(_FALLBACK_IDS.format(**_WORDS))


def normalise_name(name: str) -> str:
    """Return the form of a header name in which names are compared: case-folded letters and digits alone."""
    return "".join(character for character in name.casefold() if character.isalnum())
