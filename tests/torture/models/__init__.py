"""What the documentation says of overlays, undos, volumes, corrections and held imports; no product code."""
