"""Record who held a device and when; no two periods of one device overlap."""
