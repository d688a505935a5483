"""Rules of an import: upload keys, spelling of names, progress, report files."""
