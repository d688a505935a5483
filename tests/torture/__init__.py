"""What tries to break every promise of the application, and counts what it did.

Seeds (`__main__`, `make torture`): `plan`, `file_plans`, `overlay_plans`, `volume_plans` draw what happens, `arena` is
what it happens to, `seeds` plays and judges.
  who asks for things: `actors`, `checking`, `profiling`, `overlaying`, `volume_sending`, `handing_on`, `rush` by
  `clients`, into the `ledger`
  what goes wrong: `point_faults`, by the `conductor` at the `points` in a `worker`, `troubles` of servers, `unruly`
  queues, the `faulty_proxy`
  what must be true: `imports_oracle`, `checks_oracle`, `profiles_oracle`, `events_oracle`, `requests_oracle`,
  `history_oracle`, each with its `findings`; by the `overlay_replay` of an `overlay_case` with `overlay_model` and
  `undo_model` the `overlays_oracle` and `undos_oracle`, and by the `volume_replay` of a `volume_case` with
  `volume_model` the `volumes_oracle` and `volume_files_oracle`; `tamperings` prove what they see
  what it is without one protection: `hunt`, with the `switches_*` that `switching` turns
Other programs: `counted` deadlocks and lost COMMITs, `recovery` times, `mutated_files`, `hostile` lines of a gigabyte.
Tests alone: `access_*` of other tenants' things and bad tokens, `hostile_*` values and requests.
"""
