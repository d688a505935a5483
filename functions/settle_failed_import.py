"""Retry a dead-lettered import request once; if it fails again, record the import as failed, with the reason."""

from __future__ import annotations

from shell.imports.failed_imports import settle_failed_imports
from shell.lambda_handlers import sqs_handler

lambda_handler = sqs_handler(settle_failed_imports)
