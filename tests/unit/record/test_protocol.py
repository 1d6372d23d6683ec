"""The measuring code is declared file by file, and the comparability of protocols column by column."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import measuring
import pytest
from scalestudy.record import fingerprint, protocol
from scalestudy.record.protocol import EVERYTHING, PROTOCOLS, Measured, Protocol

DOCUMENT = Path(__file__).parents[3] / "docs" / "protocol.md"


def test_the_measuring_code_is_declared() -> None:
    changes = measuring.undeclared(measuring.read_log(), fingerprint.measuring_code())
    assert not changes, measuring.question(changes)


def test_every_declared_change_has_evidence_or_is_a_protocol() -> None:
    assert measuring.refusal(measuring.read_log()) == ""


@pytest.mark.parametrize(
    ("evidence", "refused"),
    [
        ({}, "has no evidence"),
        ({"untouched": ""}, "has no evidence"),
        ({"untouched": "an error message"}, ""),
        ({"ratio_low": 0.995, "ratio_high": 1.004}, ""),
        ({"ratio_low": 0.985, "ratio_high": 1.004}, "is 0.985 to 1.004"),
        ({"ratio_low": 0.995, "ratio_high": 1.02}, "is 0.995 to 1.02"),
    ],
)
def test_evidence_is_an_untouched_path_or_a_ratio_within_a_percent(evidence: dict, refused: str) -> None:
    entry = {
        "date": "a day",
        "protocol": PROTOCOLS[-1].version,
        "why": "a change",
        "evidence": evidence,
        "files": {},
    }
    said = measuring.refusal([*measuring.read_log(), entry])
    assert refused in said
    assert bool(refused) == bool(said)


def test_a_log_of_another_protocol_is_refused() -> None:
    entry = {"date": "a day", "protocol": 99, "why": "a change", "evidence": {}, "files": {}}
    assert "the log has protocols" in measuring.refusal([*measuring.read_log(), entry])


@pytest.fixture
def change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str, str], set[str]]:
    """A function that replaces text in a file of a copy of the package: the files that are then undeclared."""
    package = tmp_path / "scalestudy"
    shutil.copytree(fingerprint.PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    log = [{"files": fingerprint.measuring_code()}]
    monkeypatch.setattr(fingerprint, "PACKAGE", package)

    def make(name: str, old: str, new: str) -> set[str]:
        path = package / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        return set(measuring.undeclared(log, fingerprint.measuring_code()))

    return make


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("train/place/placement.py", "but no CUDA device is visible", "yet no CUDA device is visible"),
        ("train/place/placement.py", "available", "usable"),
        ("train/loop.py", "train_loss", "loss_of_training"),
        ("launch/outcome.py", "did not complete their rendezvous", "were not together"),
        ("demo/rank.py", "SLEEP_S = 0.03", "SLEEP_S = 0.04"),
        ("study/traffic.py", "return", "return 2 *"),
        ("study/config/conditions.py", "min_steps: int = Field(50", "min_steps: int = Field(60"),
    ],
)
def test_changed_behaviour_has_to_be_declared(change: Callable, name: str, old: str, new: str) -> None:
    assert change(name, old, new) == {name}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("train/place/placement.py", "Where a rank runs: its cores", "The place of a rank: its cores"),
        ("train/loop.py", "\n\n\n", "\n\n\n# a comment\n"),
        ("analyse/point/scaling.py", "return", "return 2 *"),
        ("publish/views/rows.py", "kept", "held"),
        ("study/config/study.py", "FIRST_REPEATS, MOST_REPEATS = 3, 12", "FIRST_REPEATS, MOST_REPEATS = 3, 13"),
        ("__init__.py", "__version__ = ", "__version__ = 'later' + "),
    ],
)
def test_words_and_what_does_not_measure_need_not_be(change: Callable, name: str, old: str, new: str) -> None:
    assert change(name, old, new) == set()


def test_a_moved_file_is_named_at_both_places(tmp_path: Path) -> None:
    log = [{"files": {"train/loop.py": "a", "train/rank.py": "b"}}]
    changes = measuring.undeclared(log, {"train/step/loop.py": "a", "train/rank.py": "b"})
    assert changes == {"train/loop.py": None, "train/step/loop.py": "a"}
    asked = measuring.question(changes)
    assert "train/loop.py (gone)" in asked
    assert "--untouched HOW" in asked
    assert "record/protocol.py" in asked
    assert not measuring.undeclared([*log, {"files": changes}], {"train/step/loop.py": "a", "train/rank.py": "b"})


def test_all_that_a_rank_loads_is_measuring_code() -> None:
    """The other tests follow imports in the source; this one lists the modules that a rank has imported."""
    code = "import sys, json, scalestudy.train.__main__; print(json.dumps(list(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = [name for name in json.loads(result.stdout) if name.startswith("scalestudy.")]
    stems = [name.removeprefix("scalestudy.").replace(".", "/") for name in names]
    packages = {f"{stem}/__init__.py" for stem in stems if (fingerprint.PACKAGE / stem).is_dir()}
    modules = {f"{stem}.py" for stem in stems if (fingerprint.PACKAGE / f"{stem}.py").exists()}
    assert len(packages) + len(modules) == len(names) > 30
    assert packages | modules <= set(fingerprint.measuring_code())


@pytest.fixture
def four_protocols(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second changed how collectives are timed, the third nothing that was measured before, the fourth all."""
    more = (
        Protocol(2, "2027-01-01", "Collectives are timed by the device.", ("all_reduce_latency_s",)),
        Protocol(3, "2027-02-01", "Power is recorded too."),
        Protocol(4, "2027-03-01", "Steps are timed otherwise.", (EVERYTHING,)),
    )
    monkeypatch.setattr(protocol, "PROTOCOLS", (*PROTOCOLS[:1], *more))
    monkeypatch.setattr(protocol, "CURRENT", 4)


@pytest.mark.usefixtures("four_protocols")
@pytest.mark.parametrize(
    ("first", "second", "column", "same"),
    [
        (1, 1, "all_reduce_latency_s", True),
        (1, 2, "all_reduce_latency_s", False),
        (3, 1, "all_reduce_latency_s", False),
        (2, 3, "all_reduce_latency_s", True),
        (1, 3, "step_time_s", True),
        (1, 4, "step_time_s", False),
        (4, 4, "step_time_s", True),
    ],
)
def test_columns_compare_where_no_protocol_between_changed_them(
    first: int, second: int, column: str, same: bool
) -> None:
    runs = Measured(first, "ddp"), Measured(second, "ddp")
    assert protocol.comparable(*runs, column) is same
    assert protocol.comparable(*reversed(runs), column) is same


@pytest.mark.usefixtures("four_protocols")
def test_older_runs_are_counted_and_what_changed_is_said() -> None:
    assert protocol.older_runs([Measured(4, "ddp")] * 2) == []
    assert protocol.older_runs([]) == []
    assert protocol.older_runs([Measured(version, "ddp") for version in (4, 2, 2)]) == [
        "Measured 2 by protocol 2, 1 by protocol 4; the current protocol is 4."
        " Runs of older protocols are kept and used.",
        "Protocol 3 (2027-02-01): Power is recorded too. Not comparable with its predecessor: no column.",
        "Protocol 4 (2027-03-01): Steps are timed otherwise. Not comparable with its predecessor: every column.",
    ]


@pytest.fixture
def one_of_fsdp(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second version changed runs of FSDP alone."""
    changed = Protocol(2, "2027-01-01", "FSDP keeps its root.", (EVERYTHING,), ("fsdp",))
    monkeypatch.setattr(protocol, "PROTOCOLS", (*PROTOCOLS[:1], changed))
    monkeypatch.setattr(protocol, "CURRENT", 2)


@pytest.mark.usefixtures("one_of_fsdp")
def test_a_version_of_one_strategy_holds_its_runs_apart_and_no_others() -> None:
    runs = [Measured(version, strategy) for version in (1, 2) for strategy in ("single", "ddp", "fsdp")]
    apart = {
        frozenset((one, other))
        for one in runs
        for other in runs
        if not protocol.comparable(one, other, "step_time_s")
    }
    assert apart == {frozenset((Measured(1, "fsdp"), Measured(2, "fsdp")))}


@pytest.mark.usefixtures("one_of_fsdp")
def test_runs_of_other_strategies_are_no_older_ones() -> None:
    assert [protocol.is_older(Measured(1, strategy)) for strategy in ("single", "ddp", "fsdp")] == [
        False,
        False,
        True,
    ]
    assert protocol.older_runs([Measured(1, "single"), Measured(2, "fsdp")]) == []
    assert protocol.older_runs([Measured(1, "single"), Measured(1, "fsdp"), Measured(2, "fsdp")]) == [
        "Measured 2 by protocol 1, 1 by protocol 2; the current protocol is 2."
        " Runs of older protocols are kept and used.",
        "Protocol 2 (2027-01-01): FSDP keeps its root. Not comparable with its predecessor: every column of fsdp.",
    ]


def test_versions_count_up_from_one() -> None:
    assert [one.version for one in PROTOCOLS] == list(range(1, len(PROTOCOLS) + 1))


def test_the_document_has_the_table_of_protocols() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    for one in PROTOCOLS:
        columns = ", ".join("every column" if name == EVERYTHING else f"`{name}`" for name in one.not_comparable)
        columns += f" of {' and '.join(one.strategies)}" if one.strategies else ""
        assert f"| {one.version} | {one.date} | {one.changes} | {columns or '-'} |" in text
    assert len(re.findall(r"^\| \d", text, flags=re.MULTILINE)) == len(PROTOCOLS)
