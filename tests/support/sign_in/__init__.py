"""Played servers for the sign-in of the command: an API, Cognito, and an issuer with a device grant."""
