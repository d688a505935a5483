"""The arguments of an import that changes existing documents."""

from __future__ import annotations

import argparse

from core.load_mode import Blanks, Mode, MultiValues, OverlayKey


def add_overlay_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the mode of an import and the options of an overlay."""
    parser.add_argument(
        "--mode",
        choices=[each.value for each in Mode],
        help="append: create documents; overlay: change existing ones; append_overlay: both (default: append)",
    )
    parser.add_argument(
        "--overlay-key",
        choices=[each.value for each in OverlayKey],
        help="the field that names the document of a row in an overlay (default: control_number)",
    )
    parser.add_argument(
        "--blanks",
        choices=[each.value for each in Blanks],
        help="a blank cell keeps the stored value or clears it (default: keep)",
    )
    parser.add_argument(
        "--multi-values",
        choices=[each.value for each in MultiValues],
        help="custodians and tags are added to those of the document or replace them (default: merge)",
    )
