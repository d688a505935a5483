"""Private servers of a test run: MySQL, moto, Redis, one with TLS, and a proxy that records."""
