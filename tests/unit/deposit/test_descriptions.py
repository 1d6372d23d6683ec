"""Kinds of columns, and the texts of a deposit: nothing in them is markup, and nothing is guessed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from scalestudy.deposit import environment
from scalestudy.deposit.compared import compare
from scalestudy.deposit.layout import is_known, is_made, left_out
from scalestudy.deposit.model import Creator, DepositFile, creator, spdx
from scalestudy.deposit.private import PATHS, paths_in
from scalestudy.deposit.tables import TOP
from scalestudy.deposit.texts import deposit_texts
from scalestudy.deposit.tidy import typed_table
from scalestudy.errors import UserError
from scalestudy.publish.templates import markdown
from scalestudy.registry import kinds
from scalestudy.registry.files import FILES
from scalestudy.registry.results import RESULTS
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan

COLUMNS = {column.name: column for file in FILES.values() for column in file.columns}
HOSTILE = "<script>alert(1)</script> [x](javascript:1) `a` | b\n# c $x$ https://a.b/_c_"


def test_every_name_with_a_kind_is_a_column() -> None:
    named = kinds._TEXTS | kinds._FLAGS | kinds._COUNTS
    assert not named - COLUMNS.keys()
    assert len(named) == len(kinds._TEXTS) + len(kinds._FLAGS) + len(kinds._COUNTS), "one kind each"


def test_a_column_with_a_unit_or_with_limits_is_a_number() -> None:
    for file, content in FILES.items():
        for column in content.columns:
            if column.unit or column.limits != "none":
                assert kinds.kind_of(column) in ("number", "count"), (file, column.name)
            if column.limits != "none":
                assert kinds.kind_of(column) == "number", (file, column.name)


def test_a_rate_over_steps_has_the_unit_of_a_rate() -> None:
    for name, column in COLUMNS.items():
        if "_gib_per_" in name:
            assert "per" in column.unit.split() or "/" in column.unit, name


@pytest.mark.parametrize("name", TOP)
def test_values_that_are_of_no_kind_are_refused(name: str, tmp_path: Path) -> None:
    columns = {column.name: kinds.kind_of(column) for column in FILES[name].columns}
    for column, kind in columns.items():
        if kind == "text":
            continue
        (tmp_path / name).write_text(f"{column}\nmany\n")
        with pytest.raises(UserError, match=f"{column}: "):
            typed_table(tmp_path / name)


def test_hashes_and_names_of_digits_stay_as_they_are(tmp_path: Path) -> None:
    """A table that guesses types makes a number of them: 012345678901 and 1e5 are fingerprints, 8 a variant."""
    (tmp_path / "runs.csv").write_text(
        "run_id,fingerprint,variant,dirty,steps,held_devices\na,012345678901,8,True,3.0,\nb,1e5,=1+1,,4,2.5\n"
    )
    frame, fields = typed_table(tmp_path / "runs.csv")
    assert frame["fingerprint"].tolist() == ["012345678901", "1e5"]
    assert frame["variant"].tolist() == ["8", "=1+1"]
    assert frame["dirty"].astype(object).tolist()[0] is True
    assert frame["steps"].tolist() == [3, 4]
    assert {field.name: field.kind for field in fields} == {
        "run_id": "text",
        "fingerprint": "text",
        "variant": "text",
        "dirty": "flag",
        "steps": "count",
        "held_devices": "number",
    }


def test_a_text_of_others_is_no_markup(content: dict[str, object]) -> None:
    plan = make_plan(parse_study(content | {"description": HOSTILE}, source="x"))
    about = DepositFile(
        study="small",
        title=HOSTILE.replace("\n", " "),
        licence="CC0-1.0",
        creators=(Creator(name="<b>Doe</b>, Jane"),),
        scalestudy="1",
        python="3",
        system="x",
        packages={"numpy": "2"},
    )
    facts = {"answers": [], "hardware": [("processor", HOSTILE)], "counted_runs": "3 runs"}
    texts = deposit_texts(plan, facts, about, dates="", hosts=True)
    assert "The records have the names of hosts." in texts["README.md"]
    assert "names of hosts" not in deposit_texts(plan, facts, about, dates="", hosts=False)["README.md"]
    readme = texts["README.md"].replace("<https://spdx.org", "")
    assert "<b>" not in readme.replace("\\<b", "")
    assert "<script" not in readme.replace("\\<script", "")
    assert "](" not in readme.replace("\\](", "")
    assert "\n# c" not in readme
    assert "<script" not in json.loads(texts[".zenodo.json"])["description"]
    assert yaml.safe_load(texts["CITATION.cff"])["authors"][0] == {
        "family-names": "<b>Doe</b>",
        "given-names": "Jane",
    }
    assert make_plan(parse_study(yaml.safe_load(texts["study.yaml"]), source="x")) == plan


@pytest.mark.parametrize(
    ("text", "printed"),
    [("a_b", "a_b"), ("_a_", r"\_a\_"), ("2 * 3", r"2 \* 3"), ("a\n\n# b", r"a \# b"), ("<i>", r"\<i\>")],
)
def test_markdown(text: str, printed: str) -> None:
    assert markdown(text) == printed


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("Doe, Jane", Creator(name="Doe, Jane")),
        (
            "Doe, Jane; A; 0000-0002-1694-233X",
            Creator(name="Doe, Jane", affiliation="A", orcid="0000-0002-1694-233X"),
        ),
        (
            "Doe, Jane; https://orcid.org/0000-0002-1825-0097",
            Creator(name="Doe, Jane", orcid="0000-0002-1825-0097"),
        ),
    ],
)
def test_creators(text: str, made: Creator) -> None:
    assert creator(text) == made


def test_licences_of_the_list() -> None:
    assert spdx("cc-by-4.0") == "CC-BY-4.0"
    assert spdx("mit") == "MIT"
    for wrong in (
        "",
        "public",
        "MIT AND BSD-3-Clause",
        "LicenseRef-own",
        "GPL-3.0-only WITH Classpath-exception-2.0",
    ):
        with pytest.raises(UserError, match="--licence"):
            spdx(wrong)


def test_files_of_a_results_folder_are_known() -> None:
    for name in RESULTS.values():
        assert is_known(name)
    for name in ("figures/a-b_memory.svg", "tables/proposal.tex", "report.pdf", "schemas/steps.json", "README.md"):
        assert is_made(name)
    for name in ("runs/a/run.json", "runs/a/trace-rank0.pt.trace.json.gz", "decisions/after_3.json", "plan.json"):
        assert is_known(name) and not is_made(name)
    for name in (
        "report.sty",
        "runs/a/out/x.csv",
        "figures/x.tex",
        "latexmkrc",
        "runs/a/x.pkl",
        "texmf.cnf",
        "a/plan.json",
    ):
        assert not is_known(name)


def test_what_is_left_out_is_told_by_its_place(tmp_path: Path) -> None:
    for name in (
        "logs/a.log",
        "runs/a/out/model.pt",
        "runs/b/out/x",
        "runs/a/run.json",
        "shown.sha256",
        "runs.csv",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    assert left_out(tmp_path, {"runs/a/run.json"}) == ["logs/", "runs/*/out/", "shown.sha256"]


def test_folders_of_the_machine_are_found(tmp_path: Path) -> None:
    (tmp_path / "runs/a").mkdir(parents=True)
    (tmp_path / "runs/a/log.txt").write_text(
        "loading /home/jane/data and '/scratch/p1/x'\nhttps://x.org/home/a ./tmp/b\n"
    )
    assert paths_in(tmp_path, ["runs/a/log.txt"]) == {"runs/*/log.txt": 2}
    assert not PATHS.findall(b"</data/> a/data/b rates/tmp/c //home/x")


def test_documents_are_compared_by_name_and_checksum() -> None:
    found = compare({"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "9", "d": "4"})
    assert (found.equal, found.other, found.missing, found.new) == (("a",), ("b",), ("c",), ("d",))
    assert not found.all_equal


def test_the_locked_environment_has_what_is_needed_and_no_more() -> None:
    locked = environment.packages()
    assert {"scalestudy", "numpy", "pandas", "matplotlib", "pyarrow", "jinja2", "markupsafe"} <= locked.keys()
    assert not {"torch", "pytest", "ruff", "mypy"} & locked.keys()
    assert environment.other_versions(locked) == []
    assert environment.other_versions(locked | {"numpy": "0"}) == [f"numpy {locked['numpy']} here, 0 there"]
