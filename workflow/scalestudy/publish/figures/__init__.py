"""Figures: a tidy frame is made from a study's tables, the figure is drawn from it, and its CSV is that frame.

tidy.py has the columns; drawers/ makes and draws the frames, a module for each form of figure. A drawer loads when
its figure is drawn: a document that shows a figure needs its name alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from scalestudy.registry.figures import FIGURES as ENTRIES
from scalestudy.registry.figures import OF_STUDY, OF_WORKLOAD
from scalestudy.study.plan import Plan

if TYPE_CHECKING:
    from scalestudy.publish.figures.tidy import Drawer

FIGURES = [entry.name for entry in OF_WORKLOAD]
"""The names of the figures of a workload."""


def drawing(name: str) -> Drawer:
    """The drawer of a figure: called with plan, workload and frames, or, for the whole study, plan and frames."""
    module, _, drawer = next(entry.drawer for entry in ENTRIES if entry.name == name).partition(".")
    return getattr(importlib.import_module(f"{__name__}.drawers.{module}"), drawer)


def study_figures(plan: Plan) -> list[str]:
    """The names of the figures of the study as a whole: it gives their strategies the same work."""
    return [entry.name for entry in OF_STUDY if plan.compares(*entry.strategies)]
