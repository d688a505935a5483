"""Decide how a production numbers its documents, groups them into families and writes its volume."""
