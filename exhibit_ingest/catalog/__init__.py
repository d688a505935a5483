"""What a stack holds, for the command: cases, imports, documents with their files and history, custodians and tags."""
