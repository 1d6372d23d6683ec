"""Writes datapackage.json and croissant.json beside the tables that they describe."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scalestudy.deposit.croissant import croissant
from scalestudy.deposit.datapackage import data_package
from scalestudy.deposit.layout import CROISSANT, DATA_PACKAGE
from scalestudy.deposit.model import DepositFile
from scalestudy.deposit.tables import TOP, Described
from scalestudy.record.files import write_text


def write_descriptions(
    folder: Path,
    study: str,
    tables: Sequence[Described],
    about: DepositFile | None = None,
    *,
    dated: str = "",
) -> list[str]:
    """Write both files, and the schemas that tables share. Returns the names of the files.

    Croissant has the tables of the study; a data package has those of its figures and runs too.
    """
    package, schemas = data_package(folder, study, tables, about)
    of_study = [table for table in tables if table.of in TOP]
    made = {
        DATA_PACKAGE: package,
        CROISSANT: croissant(folder, study, of_study, about, dated=dated),
        **schemas,
    }
    for name, content in made.items():
        write_text(folder / name, as_json(content))
    return sorted(made)


def as_json(content: Any) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
