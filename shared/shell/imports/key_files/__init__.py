"""Keys of a file on disk and in S3, which find repeated ones in memory that does not grow with the file."""
