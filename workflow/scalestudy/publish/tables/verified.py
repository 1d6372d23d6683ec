"""The table of advice that was tried: a group of rows for each piece, a row for each quantity."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.papers import paper_of
from scalestudy.publish.tables.layout import set_table
from scalestudy.publish.views.facts import study_view
from scalestudy.publish.views.verified import verified_view
from scalestudy.registry.tables import VERIFICATION, VERIFICATION_ABOUT
from scalestudy.registry.verified import SIDES
from scalestudy.study.plan import Plan
from scalestudy.verify.model import VerificationFile


def verified_table_view(
    plan: Plan, summary: pd.DataFrame, numbers: NumbersFile, found: VerificationFile
) -> dict[str, Any]:
    """Values for report/templates/table.tex."""
    tried = verified_view(found, plan.study, numbers.numbers)["tried"]
    groups = [
        {
            "title": f"{one['where']}: {one['change']} {one['verdict'].capitalize()}.",
            "rows": [_row(row) for row in one["rows"]],
        }
        for one in tried
    ]
    return {
        "name": VERIFICATION,
        "study": study_view(plan, summary),
        "about": VERIFICATION_ABOUT,
        "ratios": False,
        **set_table(
            [[side.capitalize()] for side in SIDES],
            [group for group in groups if group["rows"]],
            repeated=0,
            paper=paper_of(plan),
        ),
    }


def _row(row: dict[str, Any]) -> dict[str, Any]:
    cells = [{"value": cell.value, "limits": cell.limits} for cell in row["cells"].values()]
    return {"variant": row["header"], "partial": "", "unsteady": False, "cells": cells}
