"""Send files, folders and zips to any stack: over its API and presigned URLs, in parts, resumed on another day."""
