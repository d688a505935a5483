"""SQS, the chunks' dead-letter queue: try once more, then count the rows as rejected, so that the import finishes."""

from __future__ import annotations

from shell.invocation import sqs_handler
from shell.settling_ops import settle_failed_chunk

lambda_handler = sqs_handler(settle_failed_chunk)
