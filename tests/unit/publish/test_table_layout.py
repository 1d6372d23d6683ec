"""Layouts of a table, without LaTeX: their panels, their order, and what is on each page."""

from __future__ import annotations

from typing import Any

import pytest
from scalestudy.publish.tables.layout import FIRST_LINES, NEXT_LINES, set_table
from scalestudy.publish.tables.widths import text_lines, text_pt


def rows_of(count: int, columns: int, *, limits: str = "[12.3, 14.5]") -> list[dict[str, Any]]:
    return [
        {
            "variant": f"v{index}",
            "partial": "",
            "unsteady": False,
            "cells": [{"value": f"{index}.5", "limits": limits} for _ in range(columns)],
        }
        for index in range(count)
    ]


def layouts_of(rows: list[dict[str, Any]], *, repeated: int = 1) -> list[dict[str, Any]]:
    headers = [[f"Column {index}"] for index in range(len(rows[0]["cells"]))]
    layouts: list[dict[str, Any]] = set_table(headers, [{"title": "mlp", "rows": rows}], repeated=repeated)[
        "layouts"
    ]
    return layouts


def test_layouts_go_from_wide_to_narrow_and_a_small_table_has_one() -> None:
    layouts = layouts_of(rows_of(3, 10))
    assert [layout["stacked"] for layout in layouts] == [False, *[True] * (len(layouts) - 1)]
    assert [len(layout["rulers"]) for layout in layouts] == [1, *range(1, len(layouts))]
    assert len(layouts) > 2
    assert len(layouts_of(rows_of(3, 2))) == 1


def test_every_panel_begins_with_the_place_and_panels_are_about_equally_wide() -> None:
    narrow = layouts_of(rows_of(3, 10), repeated=2)[-1]["rulers"]
    headers = [list(panel["header"][0]) for panel in narrow]
    assert all(header[:2] == ["Column 0", "Column 1"] for header in headers)
    assert [text for header in headers for text in header[2:]] == [f"Column {index}" for index in range(2, 10)]
    sizes = [len(header) for header in headers]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("count", [5, 60, 200])
def test_each_row_is_once_in_every_panel_and_no_page_has_too_many_lines(count: int) -> None:
    for layout in layouts_of(rows_of(count, 10)):
        seen: dict[int, list[str]] = {}
        for number, part in enumerate(layout["parts"]):
            names = [
                (panel["at"], row["variant"])
                for panel in part
                for group in panel["groups"]
                for row in group["rows"]
            ]
            for at, name in names:
                seen.setdefault(at, []).append(name)
            most = NEXT_LINES if number else FIRST_LINES[layout["stacked"]]
            assert len(names) * (2 if layout["stacked"] else 1) < most
        assert seen == {at: [f"v{index}" for index in range(count)] for at in range(len(layout["rulers"]))}


def test_the_ruler_has_the_widest_texts() -> None:
    rows = rows_of(20, 3)
    rows[7]["cells"][1] |= {"value": "123456.5"}
    rows[9]["cells"][2] |= {"limits": "[123456, 123457]"}
    rows[11]["variant"] = "a-much-longer-name"
    for ruler in (layout["rulers"][0] for layout in layouts_of(rows)):
        found = {row["variant"] for row in ruler["groups"][0]["rows"]}
        assert {"v7", "v9", "a-much-longer-name"} <= found
        assert len(found) < 6


def test_widths_are_those_of_the_font() -> None:
    assert text_pt("mw") > text_pt("00") > text_pt("il")
    assert text_lines("w" * 60, 79) > text_lines("i" * 60, 79) > text_lines("", 79) == 1
