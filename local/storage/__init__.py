"""What the local S3 and SQS keep on disk, and moto's backends on top of it."""
