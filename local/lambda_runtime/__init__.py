"""Run handlers as Lambda does: AWS's runtime client, timeouts and durable executions."""
