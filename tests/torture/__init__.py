"""Try to break every promise of the application, and count violations.

Seeds (`python -m tests.torture`, `make torture`): `plans` draw what happens, `stack` is what it happens to, `seeds`
runs a plan and judges it.
  who sends requests: `clients`, which record the answers in the `ledger`
  what goes wrong: `faults` in a worker or on the way to the database, `stack.outages` of servers, unordered queues
  what must be true: `oracles`, each with its `findings`, from `models` of what the documentation says
  what happens without one protection: `hunt`, with the switches in `protections`
Other commands: `recovery` measures how long imports stop, `mutated_files` and `image_files` damage files (`mutations`),
`hostile` streams lines of a gigabyte. `access` has tests alone: other tenants' data, roles and invalid tokens.
"""
