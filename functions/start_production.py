"""`production.requested`, from SQS: starts the execution that makes the production."""

from shell.invocation import sqs_handler
from shell.production_start_ops import start_production

lambda_handler = sqs_handler(start_production)
