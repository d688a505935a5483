"""Correct rejected rows in place: show them as cells, and import corrected ones.

Guaranteed: a correction is an import like any other, with history and undo; its source is a request.
"""
