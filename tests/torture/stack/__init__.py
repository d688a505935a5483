"""The whole application as a test build, with a database, queues and workers that a seed may break."""
