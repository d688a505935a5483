"""Write the report files of a completed or cancelled import to S3: rejected rows, report and warnings."""

from __future__ import annotations

from shell.imports.reports import write_report
from shell.lambda_handlers import sqs_handler

lambda_handler = sqs_handler(write_report, lambda config: config.import_reports_queue_url)
