"""Purges of cases: their phases, the digests of what they destroy, and the certificate."""
