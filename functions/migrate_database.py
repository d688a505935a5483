"""CloudFormation, on every deployment: the schema's migrations."""

from __future__ import annotations

from shell.invocation import plain_handler
from shell.migration_ops import migrate

lambda_handler = plain_handler(migrate)
