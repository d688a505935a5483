"""Start the import of an uploaded or retried load file: register it, split it and queue its chunks."""

from __future__ import annotations

from shell.imports.start import start_imports
from shell.lambda_handlers import sqs_handler

lambda_handler = sqs_handler(start_imports, lambda config: config.import_requests_queue_url)
