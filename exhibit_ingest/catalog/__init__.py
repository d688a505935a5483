"""What a database holds, for the command: cases, imports and documents, read by the queries of the API."""
