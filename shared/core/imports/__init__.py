"""Rules of an import: overlays, undos, upload keys, spelling of names, progress, report files."""
