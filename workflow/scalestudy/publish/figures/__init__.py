"""Figures: a tidy frame is made from a study's tables, the figure is drawn from it, and its CSV is that frame.

tidy.py has the columns; drawers/ makes and draws the frames, a module for each form of figure. A drawer loads when
its figure is drawn: a document that shows a figure needs its name alone.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from scalestudy.registry.figures import OF_STUDY, OF_WORKLOAD
from scalestudy.study.plan import Plan

if TYPE_CHECKING:
    from scalestudy.publish.figures.tidy import Drawer

FIGURES = {entry.name: entry.drawer for entry in OF_WORKLOAD}
"""The name of each figure of a workload -> its drawer."""
STUDY_FIGURES = {entry.name: entry.drawer for entry in OF_STUDY}


def drawing(name: str) -> Drawer:
    """The drawer of a figure: called with plan, workload and frames, or, for the whole study, plan and frames."""
    module, _, drawer = (FIGURES | STUDY_FIGURES)[name].partition(".")
    return getattr(importlib.import_module(f"{__name__}.drawers.{module}"), drawer)


def study_figures(plan: Plan) -> list[str]:
    """The names of STUDY_FIGURES that this study has: it gives their strategies the same work."""
    return [entry.name for entry in OF_STUDY if plan.compares(*entry.strategies)]
