"""`exhibit-ingest rejections`: list rejected rows of an import, save them, import corrected ones, discard the rest."""
