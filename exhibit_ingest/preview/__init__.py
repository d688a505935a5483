"""Previews of load files on this machine: read with the code of the functions, without any server."""
