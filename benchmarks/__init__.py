"""Benchmarks that design decisions are based on; nothing here is deployed."""
