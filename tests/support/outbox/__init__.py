"""Events for the outbox, and publishers that are killed."""
