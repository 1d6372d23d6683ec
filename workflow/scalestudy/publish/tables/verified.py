"""The table of tried advice: a group of rows for each piece of advice, a row for each quantity."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scalestudy.publish.numbers.model import NumbersFile
from scalestudy.publish.tables.layout import set_table
from scalestudy.publish.views.facts import study_view
from scalestudy.publish.views.verified import verified_view
from scalestudy.publish.words.labels import intervals
from scalestudy.registry.tables import VERIFICATION
from scalestudy.registry.verified import SIDES
from scalestudy.study.plan import Plan
from scalestudy.verify.model import VerificationFile


def verified_table_view(
    plan: Plan, summary: pd.DataFrame, numbers: NumbersFile, found: VerificationFile
) -> dict[str, Any]:
    """Values for report/templates/verification_table.tex. The caption has the advice for each letter."""
    tried = verified_view(found, plan.study, numbers.numbers)["tried"]
    shown = [one for one in tried if one["rows"]]
    letters = {change: _letter(at) for at, change in enumerate(dict.fromkeys(one["change"] for one in shown))}
    groups = [
        {
            "title": f"({letters[one['change']]}) {one['place']}: {one['verdict']}",
            "rows": [_row(row) for row in one["rows"]],
        }
        for one in shown
    ]
    return {
        "name": VERIFICATION,
        "study": study_view(plan, summary) | {"intervals": _intervals(plan, found)},
        "changes": [(letter, change) for change, letter in letters.items()],
        **set_table(
            [[side.capitalize()] for side in SIDES],
            groups,
            repeated=0,
        ),
    }


def _intervals(plan: Plan, found: VerificationFile) -> str:
    sides = [side for one in found.verified for side in (one.before, one.after)]
    return intervals(plan.study, {side.interval for side in sides}, [side.ends.get("ok", 0) for side in sides])


def _letter(at: int) -> str:
    """'A', 'B', ... 'Z', 'AA', ... for 0, 1, ..."""
    return (_letter(at // 26 - 1) if at >= 26 else "") + chr(ord("A") + at % 26)


def _row(row: dict[str, Any]) -> dict[str, Any]:
    cells = [{"value": cell.value, "limits": cell.limits} for cell in row["cells"].values()]
    return {"variant": row["header"], "partial": "", "unsteady": False, "cells": cells}
