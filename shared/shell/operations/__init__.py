"""Show what of a tenant runs, waits and failed, and retry its events that could not be published.

Guaranteed: nothing of another tenant is read or changed; a call takes a constant number of statements, each of which
reads a bounded number of rows of an index, however much a tenant has.
"""
