"""What the documentation says of overlays, undos and volumes, folded over the rows of files; no product code."""
