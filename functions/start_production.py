"""Start the durable execution of a requested production (`production.requested`)."""

from shell.lambda_handlers import sqs_handler
from shell.productions.executions import start_production

lambda_handler = sqs_handler(start_production, lambda config: config.production_requests_queue_url)
