"""Steps as a rectangle, from rows in any order; what not all ranks have is left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scalestudy.analyse.run.grid import Grid, firsts, means


def rows(*, ranks: int = 2, steps: int = 6) -> pd.DataFrame:
    """Blocks of three steps; step s of rank r has the value 10 r + s."""
    numbers = [
        {"rank": rank, "step": step, "block": step // 3, "value": 10.0 * rank + step}
        for step in range(steps)
        for rank in range(ranks)
    ]
    return pd.DataFrame(numbers)


def test_rows_in_any_order_are_the_same_rectangle() -> None:
    expected = [[0, 1, 2, 3, 4, 5], [10, 11, 12, 13, 14, 15]]
    for table in (rows(), rows().sample(frac=1, random_state=1)):
        grid = Grid.of(table)
        assert grid["value"].tolist() == expected
        assert grid.of_step("step").tolist() == [0, 1, 2, 3, 4, 5]
        assert len(grid) == 6


def test_a_step_that_a_rank_has_not_is_left_out() -> None:
    table = rows()
    short = table[(table["rank"] != 1) | ~table["step"].isin([2, 5])]
    assert Grid.of(short)["value"].tolist() == [[0, 1, 3, 4], [10, 11, 13, 14]]
    shifted = table.assign(step=table["step"] + table["rank"])
    assert Grid.of(shifted).of_step("step").tolist() == [1, 2, 3, 4, 5]
    apart = table.assign(step=table["step"] + 100 * table["rank"])
    assert len(Grid.of(apart)) == 0


def test_a_step_that_is_there_twice_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="two rows of the same step"):
        Grid.of(pd.concat([rows(), rows().iloc[:1]]))


def test_no_rows_are_no_steps() -> None:
    none = Grid.of(rows().iloc[:0])
    assert (len(none), none["value"].size, none.of_step("block").size) == (0, 0, 0)


def test_blocks_are_means_of_what_is_known() -> None:
    table = rows()
    table.loc[(table["rank"] == 1) & (table["step"] == 3), "value"] = np.nan
    table.loc[(table["rank"] == 0) & (table["block"] == 1), "value"] = np.nan
    grid = Grid.of(table)
    begins = firsts(grid.of_step("block"))
    assert begins.tolist() == [0, 3]
    assert means(grid["value"], begins) == pytest.approx(np.array([[1, np.nan], [11, 14.5]]), nan_ok=True)
    assert grid.where(grid.of_step("block") == 1)["step"].tolist() == [[3, 4, 5]] * 2


def test_several_columns_count_together() -> None:
    keys = [(rank, step, bucket) for rank in (0, 1) for step in (7, 8) for bucket in (1, 0)]
    table = pd.DataFrame(keys, columns=["rank", "step", "bucket"])
    grid = Grid.of(table, along=("step", "bucket"))
    assert grid.of_step("step").tolist() == [7, 7, 8, 8]
    assert grid.of_step("bucket").tolist() == [0, 1, 0, 1]
    assert firsts(grid.of_step("step")).tolist() == [0, 2]
