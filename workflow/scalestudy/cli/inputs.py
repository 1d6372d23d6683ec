"""Reading what an earlier stage wrote, for all verbs alike."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from scalestudy.errors import UserError
from scalestudy.record.document import read_model
from scalestudy.study.plan import Plan


def read_plan(path: Path) -> Plan:
    """Plan from plan.json; UserError names the file where it is missing or not a plan."""
    return read_model(path, Plan, f"scalestudy plan --out {path}")


def read_table(path: Path) -> pd.DataFrame:
    """Frame from a CSV of an earlier stage; UserError names the file where it is missing or empty."""
    try:
        # Nothing but an empty field is missing: a variant may be called null, and a workload nan.
        return pd.read_csv(path, keep_default_na=False, na_values=[""])
    except FileNotFoundError:
        raise UserError(f"{path}: no such table; `scalestudy aggregate` makes it") from None
    except pd.errors.EmptyDataError:
        raise UserError(f"{path}: empty; run `scalestudy aggregate` again") from None
