"""Retry a dead-lettered chunk once; if it fails again, reject its rows so that the import completes."""

from __future__ import annotations

from shell.imports.chunks.failed_chunks import settle_failed_chunk
from shell.lambda_handlers import sqs_handler

lambda_handler = sqs_handler(settle_failed_chunk)
