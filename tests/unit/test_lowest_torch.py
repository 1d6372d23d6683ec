"""The oldest torch that is supported is written in constraints/lowest.txt; what users read names the same."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT

(LOWEST,) = re.findall(r"^torch==(\d+\.\d+)\.\d+$", (ROOT / "constraints/lowest.txt").read_text(), flags=re.M)
PINNED = re.search(r"^torch==(\d+)\.(\d+)", (ROOT / "constraints/torch.txt").read_text(), flags=re.M)
# "torch 2.7 or newer", "pip install torch  # ..., 2.7 or newer"
NAMED = re.compile(r"torch\b[^\n|]*?\b(\d+\.\d+) or (?:newer|later)")
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "config/README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_that_names_a_lowest_torch_names_the_tested_one(page: object) -> None:
    assert set(NAMED.findall(page.read_text(encoding="utf-8"))) <= {LOWEST}


def test_the_readme_and_the_page_for_clusters_name_it() -> None:
    for name in ("README.md", "docs/cluster.md"):
        assert NAMED.findall((ROOT / name).read_text(encoding="utf-8")) == [LOWEST], name


def test_it_is_older_than_the_torch_of_the_environment() -> None:
    assert PINNED is not None
    assert tuple(map(int, LOWEST.split("."))) < (int(PINNED[1]), int(PINNED[2]))


def test_all_tests_are_made_with_it_too() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    rules = dict(re.findall(r"^(test-all|test-torch):([^\n]*\n(?:\t[^\n]*\n)+)", makefile, flags=re.M))
    assert "$(MAKE) test-torch" in rules["test-all"]
    assert "tests/unit tests/e2e/test_equal_results.py" in rules["test-torch"]
    assert "pytest" in rules["test-torch"]
    assert makefile.count("-r constraints/lowest.txt") == 1
