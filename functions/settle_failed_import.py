"""SQS, the import requests' dead-letter queue: try once more, then record the import as failed, with the reason."""

from __future__ import annotations

from shell.failed_import_ops import settle_failed_imports
from shell.invocation import sqs_handler

lambda_handler = sqs_handler(settle_failed_imports)
