"""What tests of `shell.utils` share: effects, failing units, appends and semaphores."""
