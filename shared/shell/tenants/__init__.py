"""Tenants: their rows, first use, what their status lets start, and their limits."""
