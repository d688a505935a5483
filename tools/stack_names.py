"""Names that a stack can have: its name is part of those of the bucket, the proxy, the roles and the log groups."""

from __future__ import annotations

import re

# CloudFormation cuts the names that it makes of roles to 64 characters, and keeps 25 of the stack's name: of a longer
# one, a role's name would not begin with <stack>-, by which deploy/deploy-role.yaml knows it. The bucket would have
# room for 26: a bucket's name has at most 63 characters (Amazon S3 User Guide, "General purpose bucket naming rules"),
# and -<account>-<region>-evidence are 37 in the regions with the longest names, such as ap-southeast-1.
LONGEST_STACK_NAME = 25
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
