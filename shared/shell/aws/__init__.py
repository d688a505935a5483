"""Clients, presigned URLs and thin wrappers of S3, SQS, SNS, Secrets Manager and Lambda; no business rules."""
