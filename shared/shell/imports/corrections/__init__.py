"""Correct rejected rows in place: show them as cells, and import corrected ones.

Guaranteed: a correction is an import like any other, with history and undo; its source is a request or an uploaded
file. Which lines are open, taken, corrected or discarded is decided in `shell.imports.state.claims`.
"""
