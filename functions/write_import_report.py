"""SQS, fed by SNS: the finished import's rejected rows, report and warnings, to S3."""

from __future__ import annotations

from shell.invocation import sqs_handler
from shell.report_ops import write_report

lambda_handler = sqs_handler(write_report)
