"""SQS, the chunks' dead-letter queue: try once more, then count the rows as rejected, so that the import finishes."""

from __future__ import annotations

from shell.failed_chunk_ops import settle_failed_chunk
from shell.invocation import sqs_handler

lambda_handler = sqs_handler(settle_failed_chunk)
