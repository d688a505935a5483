"""Support of the tests of tenants."""
