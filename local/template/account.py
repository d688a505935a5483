"""The account and the region of everything on this machine."""

ACCOUNT_ID = "123456789012"
REGION = "us-east-1"
