"""The models of imports in the API: announcing, options, states, checks, corrections, undos, reports."""
