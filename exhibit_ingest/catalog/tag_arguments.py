"""The arguments and help texts of `tag` and `untag`."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from exhibit_ingest.catalog.document_arguments import Add
from exhibit_ingest.catalog.filters import add_filters
from exhibit_ingest.catalog.named_documents import add_names

TAG = """\
{what} documents of a case: those that are named, those that a file names, or all that match filters. If one of the
named documents is not in the case, nothing is changed. Filters change all documents that match, after a question with
their number, or with --yes. The command waits for the stack. Ctrl-C cancels the rest; what is done stays."""
EPILOG = """\
examples:
  exhibit-ingest {name} Hot SMITH0000017 SMITH0000018 --case "Smith v. Jones"
  exhibit-ingest {name} Hot --from-file numbers.txt --case "Smith v. Jones"
  exhibit-ingest {name} 'Privileged\\Attorney-Client' --custodian "Ada Lovelace" --no-images --case "Smith v. Jones"
  exhibit-ingest {name} Reviewed --all --case "Smith v. Jones" --yes

--json prints {{"tagging": {{"tag", "documents", "{count}", "job_id", "status", "remaining"}}}}: how many documents were
reached, and how many of them {changed}. "remaining" are documents that matched at the end and were added or changed
meanwhile: run the command again for them. It does not ask: confirm filters with --yes.

exit status: 0 success; 1 failure; 2 wrong usage, or there is no such case or document{or_tag}"""


def add_tag_commands(add: Add, finish: Callable[[argparse.ArgumentParser], None]) -> None:
    """Add the commands; `finish` adds the arguments that all commands have."""
    for name, summary, texts in (
        (
            "tag",
            "tag documents",
            {"what": "Tags", "done": "tagged", "count": "created", "changed": "did not have the tag", "or_tag": ""},
        ),
        (
            "untag",
            "take a tag off documents",
            {
                "what": "Takes a tag off",
                "done": "changed",
                "count": "removed",
                "changed": "had the tag",
                "or_tag": " or tag",
            },
        ),
    ):
        parser = add(name, summary, TAG.format(**texts), EPILOG.format(name=name, **texts))
        parser.takes_words_anywhere = True
        parser.add_argument("name", metavar="TAG", help=r"name of the tag; of a nested one the path: Hot\Really Hot")
        add_names(parser)
        parser.add_argument("--yes", action="store_true", help="do not ask before all that match are changed")
        add_filters(parser)
        finish(parser)
