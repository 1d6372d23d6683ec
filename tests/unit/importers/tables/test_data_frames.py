"""Data frames and series as pandas prints them: indexes with names, with several levels, and levels of columns."""

from __future__ import annotations

from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.columns.meanings import Corrections
from scalestudy.importers.reading import read_published
from test_plain_tables import read, series
from test_printed_habits import ONCE, audited, speedups

OF_BOTH = {"fine": ONCE, "coarse": [(1, 1.0), (2, 1.8)]}
GROUPS = {
    "label-first": """
            time_s  memory_gb
mesh   gpus
fine   1    100.00       31.5
       2     52.63       16.1
       4     28.57        8.2
coarse 1     20.00        4.1
       2     11.11        2.2
""",
    "devices-first": """
             time_s
gpus mesh
1    fine    100.00
     coarse   20.00
2    fine     52.63
     coarse   11.11
4    fine     28.57
""",
    "spaces-behind": """
             time_s
gpus mesh          \n1    fine    100.00
     coarse   20.00
2    fine     52.63
     coarse   11.11
4    fine     28.57
""",
    "levels-of-columns": """
       time_s                memory_gb
gpus        1      2      4          1     2    4
mesh
fine    100.0  52.63  28.57       31.5  16.1  8.2
coarse   20.0  11.11    NaN        4.1   2.2  NaN
""",
    "series": """
mesh    gpus
fine    1       100.00
        2        52.63
        4        28.57
coarse  1        20.00
        2        11.11
Name: time_s, dtype: float64
""",
}


@pytest.mark.parametrize("text", GROUPS.values(), ids=GROUPS)
def test_labels_of_an_index_are_those_of_all_rows_of_their_group(tmp_path: Path, text: str) -> None:
    audits, asked, _ = read(tmp_path, f">>> df.groupby(level=[0, 1]).mean(){text}")
    assert not asked
    assert series(audits) == OF_BOTH


ONE_LEVEL = {
    "named": "      time_s  loss\ngpus\n1     100.00  1.92\n2      52.63  1.94\n4      28.57  1.91\n",
    "name-of-two-words": "             wall time  loss\nnum workers\n1               100.00  1.92\n"
    "2                52.63  1.94\n4                28.57  1.91\n",
    "mean-and-spread": "      time_s\n        mean   std\ngpus\n1     100.00  0.51\n2      52.63  0.22\n"
    "4      28.57  0.34\n",
    "rows-left-out": "      time_s  loss\ngpus\n1     100.00  1.92\n2      52.63  1.94\n...      ...   ...\n"
    "4      28.57  1.91\n",
    "series": "gpus\n1    100.00\n2     52.63\n4     28.57\nName: time_s, dtype: float64\n",
}


@pytest.mark.parametrize("text", ONE_LEVEL.values(), ids=ONE_LEVEL)
def test_an_index_with_a_name(tmp_path: Path, text: str) -> None:
    (found,) = audited(tmp_path, f"Scaling of the solver\n\n{text}")
    assert speedups(found) == ONCE


@pytest.mark.parametrize(
    "text",
    [
        "gpus       1      2      4\nmesh\nfine   100.0  52.63  28.57\ncoarse  20.0  11.11    NaN\n",
        "mesh    fine  coarse\ngpus\n1     100.00   20.00\n2      52.63   11.11\n4      28.57     NaN\n",
    ],
    ids=["devices-across", "labels-across"],
)
def test_columns_that_are_labels_ask_what_their_numbers_are(tmp_path: Path, text: str) -> None:
    path = tmp_path / "frame.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match="what are the numbers below the devices"):
        read_published(path)
    audits, _, _ = read(tmp_path, text, value="total_time_s")
    assert series(audits) == OF_BOTH


def test_a_title_above_a_data_frame_is_no_level_of_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "frame.txt"
    path.write_text(f"Scaling   time_s\n\n{ONE_LEVEL['named']}", encoding="utf-8")
    (found,) = read_published(path, Corrections({})).tables
    assert [column.header for column in found.columns] == ["gpus", "time_s"]


@pytest.mark.parametrize(
    "text",
    [
        "            time_s\nmesh   gpus\n       2     52.63\nfine   1    100.00\n",
        "        time_s\nbelow the rule\n1  more  100.00\n2  less   52.63\n",
    ],
    ids=["no-label-above", "words"],
)
def test_other_lines_are_no_data_frame(tmp_path: Path, text: str) -> None:
    path = tmp_path / "text.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError):
        read_published(path)
