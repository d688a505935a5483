"""Read and change the exhibits, custodians and tags of one tenant; find or create cases."""
