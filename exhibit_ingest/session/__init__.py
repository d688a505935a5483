"""One stack and its user, for the time of a command: the API, the storage behind its URLs, a folder for files."""
