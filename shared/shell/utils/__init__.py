"""Shared helpers and coordination primitives (locks, semaphores, idempotency); no domain rules."""
