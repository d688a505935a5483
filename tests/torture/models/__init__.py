"""What the documentation says of overlays, undos, volumes, corrections, holds and purges; no product code."""
