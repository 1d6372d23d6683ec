"""Reading what an earlier stage wrote into the results folder of a study."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from pydantic import ValidationError

from scalestudy.errors import UserError
from scalestudy.record.document import read_document
from scalestudy.registry.files import RESULTS
from scalestudy.study.plan import Plan

if TYPE_CHECKING:
    from scalestudy.publish.numbers.book import Book
    from scalestudy.publish.results import Results


def plan_of(results: Path) -> Plan:
    """Plan of a results folder; UserError names the file where it is missing or not a plan."""
    path = results / RESULTS["plan"]
    try:
        return Plan.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise UserError(f"{path}: no such plan; `scalestudy stage plan --results {results}` makes it") from None
    except ValidationError as error:
        raise UserError(f"{path}: not a plan of this version: {error.errors()[0]['msg']}") from None


def table_of(results: Path, name: str) -> pd.DataFrame:
    """A table of a results folder, by what it holds (registry/files.py); UserError if it is missing or empty."""
    path = results / RESULTS[name]
    again = f"`scalestudy stage aggregate --results {results}`"
    try:
        # Nothing but an empty field is missing: a variant may be called null, and a workload nan.
        return pd.read_csv(path, keep_default_na=False, na_values=[""])
    except FileNotFoundError:
        raise UserError(f"{path}: no such table; {again} makes it") from None
    except pd.errors.EmptyDataError:
        raise UserError(f"{path}: empty; run {again} again") from None


def json_of(results: Path, name: str) -> Any:
    """Content of a JSON file of a results folder; UserError names it where it is missing or cut short."""
    return read_json(results / RESULTS[name])


def read_json(path: Path) -> Any:
    """Content of a JSON file of an earlier stage; UserError names it where it is missing or cut short."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: missing; an earlier stage makes it") from None
    except ValueError as error:
        raise UserError(f"{path}: not JSON: {error}") from None


def book_of(results: Path) -> Book:
    """The numbers of a study, by key."""
    from scalestudy.publish.numbers.book import Book
    from scalestudy.publish.numbers.model import NumbersFile

    return Book(read_document(results / RESULTS["numbers"], NumbersFile))


def results_of(results: Path) -> Results:
    """What documents are made from."""
    from scalestudy.publish.results import Results

    tables = {name: table_of(results, name) for name in ("summary", "runs", "forecasts", "factors")}
    facts = {name: json_of(results, name) for name in ("findings", "traces", "environment")}
    return Results(**tables, **facts)
