"""List the files of an exhibit with signed URLs, which never show another tenant's file or run what evidence holds."""
