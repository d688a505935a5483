"""Migrate the database schema on every deployment, as a CloudFormation custom resource."""

from __future__ import annotations

from shell.lambda_handlers import event_handler
from shell.maintenance.migrate import migrate

lambda_handler = event_handler(migrate)
