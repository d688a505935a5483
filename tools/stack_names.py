"""Names that a stack can have: its name is part of those of the bucket, the proxy and the log groups."""

from __future__ import annotations

import re

# A bucket's name has at most 63 characters (Amazon S3 User Guide, "General purpose bucket naming rules"); that of the
# stack's ends with -<account>-<region>-evidence, which are 37 in the regions with the longest names, such as
# ap-southeast-1.
LONGEST_STACK_NAME = 26
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


def explain_stack_name(name: str) -> str | None:
    """Return why a stack cannot have this name, as a sentence that says what to do, or None if it can."""
    if len(name) > LONGEST_STACK_NAME:
        return (
            f"the stack name {name} has {len(name)} characters; it can have {LONGEST_STACK_NAME}. Choose a shorter one."
        )
    if not _NAME.fullmatch(name):
        return f"the stack name {name} does not fit into a bucket's. Use lower-case letters, digits and single hyphens."
    return None
