"""What tries to break every promise of the application, and counts what it did.

Seeds (`__main__`, `make torture`): `plan` and `file_plans` draw what happens, `arena` is what it happens to, `seeds`
plays and judges.
  who asks for things: `actors`, `checking`, `profiling`, `handing_on`, `rush` by `clients`, into the `ledger`
  what goes wrong: `conductor` and `points` in a `worker`, `troubles` of servers, `unruly` queues, the `faulty_proxy`
  what must be true: `imports_oracle`, `checks_oracle`, `profiles_oracle`, `events_oracle`, `requests_oracle`, each with
  its `findings`
  what it is without one protection: `hunt`, with the `switches_*` that `switching` turns
Other programs: `counted` deadlocks and lost COMMITs, `recovery` times, `mutated_files`, `hostile` lines of a gigabyte.
Tests alone: `access_*` of other tenants' things and bad tokens, `hostile_*` values and requests.
"""
