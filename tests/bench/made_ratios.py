"""Makes pages that print speedups or efficiencies beside measurements, and plants an error in one of them.

Where a ratio stands, how it is called and how it is written are chosen independently: in a column, in a row, in
brackets or behind a sign, in a list, in a table of its own. A planted error is 13 to 30 % of the ratio.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench.made_pages import (
    FURTHER,
    LABELS,
    MODELS,
    OF_DEVICES,
    OF_NODES,
    SENTENCES,
    TITLES,
    Measured,
    Page,
    devices,
    measured,
    table,
)

SPEEDUPS = (
    *("Speedup", "Speed-up", "Speedup (x)", "Speedup vs 1 GPU", "speedup", "Scaling", "Scaling factor"),
    *("Relative speed", "Relative throughput", "Acceleration", "Speedup ratio", "Speed Up", "Rel. speedup"),
    *("Speedup (vs. single GPU)", "Scale-up", "Multi-GPU speedup", "speedup_x", "x Speedup", "\u52a0\u901f\u6bd4"),
)
EFFICIENCIES = (
    *("Efficiency", "Scaling efficiency", "Parallel efficiency (%)", "Eff.", "Scaling Eff. (%)", "% of linear"),
    *("Linear scaling (%)", "% of ideal", "Parallel Efficiency", "scaling_efficiency", "efficiency_pct"),
    *("Scaling Efficiency (vs 1 GPU)", "GPU scaling efficiency", "Efficiency vs. linear"),
)
AS_SPEEDUPS = (
    *("{v:.2f}x", "{v:.2f}", "{v:.2f}\u00d7", "{v:.1f}x", "**{v:.2f}x**", "{v:.2f} x", "x{v:.2f}", "{v:.2f}X"),
    *("`{v:.2f}x`", "{v:.3f}", "\u00d7{v:.2f}", "~{v:.2f}x", "{v:.2f}-fold", "{v:.2f} times"),
)
AS_EFFICIENCIES = (
    *("{p:.0f}%", "{p:.1f}%", "{p:.1f} %", "**{p:.1f}%**", "~{p:.0f}%", "{p:.2f}%"),
    *("{f:.2f}", "{f:.3f}"),
)
BESIDE = (
    *("{m} ({s})", "{m} / {s}", "{m}, {s}", "{m} [{s}]", "{m} ({s} speedup)", "{m} ({e})", "{m} \u2191{s}"),
    *("{m} ({e} efficiency)", "{m} ({s}, {e})", "{m} ({s} / {e})", "{m} (speedup {s})", "{m}<br>({s})"),
    *("{m} ({e} scaling efficiency)", "{m} (eff. {e})"),
)
"""How a measurement and its ratios share a cell."""
FACTORS = (0.7, 0.8, 0.87, 1.15, 1.3)
"""Of a planted error."""


@dataclass(frozen=True)
class Wrong:
    """The ratio with the error: on how many devices, which one, of which model, and its factor."""

    devices: int
    ratio: str
    model: int
    factor: float


@dataclass(frozen=True)
class Ratios:
    """The printed ratios of a page."""

    found: Measured
    speedups: Sequence[Mapping[int, float]]
    """Of each model, as the printed measurements give them."""
    forms: tuple[str, str]
    shown: Sequence[str]
    """Speedup, efficiency or both."""
    heads: Sequence[str]
    wrong: Wrong | None
    blank: bool
    """Whether the fewest devices have a dash."""

    def said(self, model: int, count: int) -> dict[str, str]:
        """Return both ratios as they are printed."""
        fewest = next(iter(self.speedups[model]))
        speedup = self.speedups[model][count]
        efficiency = speedup * fewest / count
        if self.wrong and (self.wrong.devices, self.wrong.model) == (count, model):
            speedup *= self.wrong.factor if self.wrong.ratio == "speedup" else 1
            efficiency *= self.wrong.factor if self.wrong.ratio == "efficiency" else 1
        values = {"v": speedup, "p": 100 * efficiency, "f": efficiency}
        return {"speedup": self.forms[0].format(**values), "efficiency": self.forms[1].format(**values)}

    def cells(self, model: int, count: int) -> list[str]:
        """Return the cells of the ratios that the page shows."""
        if self.blank and count == next(iter(self.speedups[model])):
            return ["-"] * len(self.shown)
        return [self.said(model, count)[one] for one in self.shown]

    def beside(self, form: str, model: int, count: int) -> str:
        """Return a cell with a measurement and its ratios; a baseline may have none."""
        own = self.found.cell(model, count)
        if self.blank and count == next(iter(self.speedups[model])):
            return own
        said = self.said(model, count)
        return form.format(m=own, s=said["speedup"], e=said["efficiency"])


def _rows(page: Page, names: Mapping[int, str], models: Sequence[str], ratios: Ratios) -> None:
    further = page.choice.sample(sorted(FURTHER), page.choice.choice((0, 1)))
    first = page.pick("first header", ("GPUs", "Hardware", "Setup", "Configuration"))
    header = [first, "Model", ratios.found.header, *ratios.heads, *further]
    rows = [
        [name, model, ratios.found.cell(at, n), *ratios.cells(at, n), *(FURTHER[one] for one in further)]
        for at, model in enumerate(models)
        for n, name in names.items()
    ]
    page.lines = table(header, rows)


def _labels(page: Page, names: Mapping[int, str], models: Sequence[str], ratios: Ratios) -> None:
    header = [page.pick("first header", ("Method", "Run", "Mode")), ratios.found.header, *ratios.heads]
    page.lines = table(header, [[name, ratios.found.cell(0, n), *ratios.cells(0, n)] for n, name in names.items()])


def _transposed(page: Page, names: Mapping[int, str], models: Sequence[str], ratios: Ratios) -> None:
    rows = [[ratios.found.header, *(ratios.found.cell(0, n) for n in names)]]
    rows += [[head, *(ratios.cells(0, n)[at] for n in names)] for at, head in enumerate(ratios.heads)]
    page.lines = table([page.pick("corner", ("", "Metric", "GPUs")), *names.values()], rows)


def _in_cells(page: Page, names: Mapping[int, str], models: Sequence[str], ratios: Ratios) -> None:
    rows = [[name, ratios.beside(page.parts["beside"], 0, n)] for n, name in names.items()]
    page.lines = table(["GPUs", ratios.found.header], rows)


def _in_cells_across(page: Page, names: Mapping[int, str], models: Sequence[str], ratios: Ratios) -> None:
    rows = [
        [model, *(ratios.beside(page.parts["beside"], at, n) for n in names)] for at, model in enumerate(models)
    ]
    page.lines = [f"{ratios.found.header}:", "", *table(["Model", *names.values()], rows)]


def _items(page: Page, names: Mapping[int, str], models: Sequence[str], ratios: Ratios) -> None:
    sign = page.pick("sign", (": ", " - ", " \u2014 "))
    items = [f"- {name}{sign}{ratios.beside(page.parts['beside'], 0, n)}" for n, name in names.items()]
    page.lines = [f"{ratios.found.header}:", "", *items]


def _of_the_last(page: Page, names: Mapping[int, str], models: Sequence[str], ratios: Ratios) -> None:
    rows = [
        [model, *(ratios.found.cell(at, n) for n in names), *ratios.cells(at, list(names)[-1])]
        for at, model in enumerate(models)
    ]
    page.lines = [f"{ratios.found.header}:", "", *table(["Model", *names.values(), *ratios.heads], rows)]


def _own_table(page: Page, names: Mapping[int, str], models: Sequence[str], ratios: Ratios) -> None:
    first = table(["GPUs", ratios.found.header], [[name, ratios.found.cell(0, n)] for n, name in names.items()])
    second = table(["GPUs", *ratios.heads], [[name, *ratios.cells(0, n)] for n, name in names.items()])
    page.lines = [*first, "", *second]


LAYOUTS: dict[str, Callable[[Page, Mapping[int, str], Sequence[str], Ratios], None]] = {
    "rows": _rows,
    "labels": _labels,
    "transposed": _transposed,
    "in cells": _in_cells,
    "in cells across": _in_cells_across,
    "items": _items,
    "of the last": _of_the_last,
    "own table": _own_table,
}
_SHARE_OF_BLANK = 0.3
"""Of the pages whose baselines have no ratios."""
_OF_ONE_MODEL = ("labels", "transposed", "in cells", "items", "own table")
_IN_CELLS = ("in cells", "in cells across", "items")


def _forms(page: Page, layout: str, heads: Mapping[str, str]) -> tuple[str, str]:
    """How speedups and efficiencies are written. In a cell with a measurement their signs say which they are."""
    signed = layout in _IN_CELLS
    speedup = page.pick("speedup", [one for one in AS_SPEEDUPS if not signed or any(x in one for x in "xX\u00d7")])
    percent = signed or "%" in heads["efficiency"] or "pct" in heads["efficiency"]
    return speedup, page.pick("efficiency", [one for one in AS_EFFICIENCIES if not percent or "{p" in one])


def _heads(page: Page, fewest: int) -> dict[str, str]:
    """The headers of both ratios, which name one device only if it was measured."""
    heads = {
        "speedup": page.pick("speedup header", SPEEDUPS),
        "efficiency": page.pick("efficiency header", EFFICIENCIES),
    }
    if fewest == 1:
        return heads
    return {one: one.capitalize() if "1 GPU" in head or "single" in head else head for one, head in heads.items()}


def _ratios_in(form: str) -> set[str]:
    return {ratio for ratio, sign in (("speedup", "{s}"), ("efficiency", "{e}")) if sign in form}


def with_ratios(seed: int, *, planted: bool = False) -> Page:
    """Return a page; the same for the same arguments. planted: one ratio is wrong."""
    page = Page(random.Random(seed))
    page.pick("title", TITLES)
    page.pick("sentence", SENTENCES)
    layout = page.pick("layout", tuple(LAYOUTS))
    names = devices(page, LABELS if layout == "labels" else (*OF_DEVICES, *OF_NODES))
    models = page.choice.sample(MODELS, 1 if layout in _OF_ONE_MODEL else page.choice.choice((1, 2)))
    found = measured(page, list(names), len(models))
    fewest, *others = names
    printed = [{n: float(found.cell(at, n)) for n in names} for at in range(len(models))]
    work = {"rate": lambda v, n: v, "of each": lambda v, n: v * n, "time": lambda v, n: 1 / v}[page.parts["kind"]]
    speedups = [{n: work(one[n], n) / work(one[fewest], fewest) for n in names} for one in printed]
    shown = page.pick("shown", ("speedup", "efficiency", "speedup efficiency")).split()
    shown = ["speedup"] if "MFU" in found.header else shown
    heads = _heads(page, fewest)
    if layout in _IN_CELLS:
        page.pick("beside", [form for form in BESIDE if _ratios_in(form) == {*shown}])
    wrong = None
    if planted:
        count = others[-1] if layout == "of the last" else page.choice.choice(others)
        model, factor = page.choice.randrange(len(models)), page.choice.choice(FACTORS)
        wrong = Wrong(count, page.choice.choice(shown), model, factor)
        page.parts["wrong"] = wrong.ratio
    forms = _forms(page, layout, heads)
    blank = page.choice.random() < _SHARE_OF_BLANK
    of_shown = [heads[one] for one in shown]
    LAYOUTS[layout](page, names, models, Ratios(found, speedups, forms, shown, of_shown, wrong, blank))
    page.truth = [list(one.items()) for one in speedups]
    return page
