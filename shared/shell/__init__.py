"""The imperative shell: gathers from MySQL, S3, SQS and SNS, lets `core` decide, and applies what it decided."""
