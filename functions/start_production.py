"""Start the durable execution of a requested production (`production.requested`)."""

from shell.lambda_handlers import sqs_handler
from shell.productions.executions import start_production
from shell.work.messages import ProductionMessage
from shell.work.reading import Operations, dispatch

OPERATIONS: Operations = {ProductionMessage: start_production}

lambda_handler = sqs_handler(dispatch(OPERATIONS), lambda config: config.production_requests_queue_url)
