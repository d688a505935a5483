"""What an AWS account and region must offer before the template can be deployed; `python -m tools.preflight --help`."""
