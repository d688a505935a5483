"""What the tests of the console need: a browser, a window that tells every violation, and axe."""
