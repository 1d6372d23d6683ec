"""Reading what an earlier stage wrote, for all verbs alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import ValidationError

from scalestudy.errors import UserError
from scalestudy.study.plan import Plan

ADDED = {"comprehensive_summary.csv": "protocol", "runs.csv": "protocol"}
"""Table -> a column that it has since release 0.2."""


def read_plan(path: Path) -> Plan:
    """Plan from plan.json; UserError names the file where it is missing or not a plan."""
    try:
        return Plan.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise UserError(f"{path}: no such plan; `scalestudy plan --out {path}` makes it") from None
    except ValidationError as error:
        raise UserError(f"{path}: not a plan of this version: {error.errors()[0]['msg']}") from None


def read_table(path: Path) -> pd.DataFrame:
    """Frame from a CSV of an earlier stage; UserError names the file where it is missing or empty."""
    column = ADDED.get(path.name)
    try:
        # Nothing but an empty field is missing: a variant may be called null, and a workload nan.
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    except FileNotFoundError:
        raise UserError(f"{path}: no such table; `scalestudy aggregate` makes it") from None
    except pd.errors.EmptyDataError:
        raise UserError(f"{path}: empty; run `scalestudy aggregate` again") from None
    if column and column not in frame:
        raise UserError(
            f"{path}: no column {column}, so scalestudy 0.1 wrote it; `scalestudy aggregate` writes it again"
            " from the runs, and nothing is measured again"
        )
    return frame


def read_json(path: Path) -> Any:
    """Content of a JSON file of an earlier stage; UserError names it where it is missing or cut short."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: missing; an earlier stage makes it") from None
    except ValueError as error:
        raise UserError(f"{path}: not JSON: {error}") from None
