"""Locks, semaphores, idempotency keys, and how values are made to fit their columns; no rules of one subject."""
