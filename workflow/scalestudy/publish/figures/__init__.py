"""Figures: a tidy frame is made from a study's tables, the figure is drawn from it, and its CSV is that frame.

tidy.py has the columns; drawers/ makes and draws the frames, one module per kind of figure. A drawer is imported
when its figure is drawn: a document that shows a figure needs only its registry entry.
"""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from scalestudy.record.user_cache import user_cache
from scalestudy.registry.figures import FIGURES, OF_STEP_TIMES, OF_STUDY, OF_WORKLOAD, FigureEntry
from scalestudy.study.plan import Plan

if TYPE_CHECKING:
    from scalestudy.publish.figures.tidy import Drawer

# Otherwise matplotlib would create a settings folder in the home, and settings there would change the figures.
with contextlib.suppress(RuntimeError):
    os.environ.setdefault("MPLCONFIGDIR", str(user_cache() / "matplotlib"))


def drawing(name: str) -> Drawer:
    """The drawer of a figure: called with plan, workload and frames, or, for the whole study, plan and frames."""
    module, _, drawer = FIGURES[name].drawer.partition(".")
    return getattr(importlib.import_module(f"{__name__}.drawers.{module}"), drawer)


def file_of(entry: FigureEntry, workload: str = "") -> str:
    """The name of a figure's files without suffix."""
    return f"{workload}_{entry.name}" if workload else entry.name


def figures_of(plan: Plan, *, verified: bool = False) -> Iterator[tuple[FigureEntry, str]]:
    """Every figure of a study with its workload; '' for figures of the study as a whole.

    verified: whether the study's advice was tried.
    """
    for workload in plan.study.workloads:
        found = (entry for entry in OF_WORKLOAD if not plan.study.imported or entry.name in OF_STEP_TIMES)
        yield from ((entry, workload) for entry in found)
    for entry in OF_STUDY:
        if verified if entry.of_advice else plan.compares(*entry.strategies):
            yield entry, ""
