"""How a verb is told which study it is about."""

from __future__ import annotations

import argparse
from pathlib import Path


def add_study(parser: argparse.ArgumentParser) -> None:
    """--study, one file or several that are merged as Snakemake's --configfile does."""
    parser.add_argument(
        "--study",
        type=Path,
        nargs="+",
        default=[Path("config/config.yaml")],
        metavar="FILE",
        help="study file; of several, each changes what the ones before it say (default: config/config.yaml)",
    )
