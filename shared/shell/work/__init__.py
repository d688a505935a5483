"""Work that travels in queues: its messages, and what is done with one that failed. Knows no table."""
