"""SQS, fed by S3 ObjectCreated and by retries: register the import, split the file, queue its chunks."""

from __future__ import annotations

from shell.import_ops import postpone_request, start_imports
from shell.invocation import sqs_handler

lambda_handler = sqs_handler(start_imports, postpone=postpone_request)
