"""Volumes and their files: zips byte by byte, files in the bucket, and a reader of load files."""
