"""Two calls at once, and a study, its code or its environment changed while it runs.

No run is measured twice, no measurement is changed, and the next call runs what is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import BIN, Checkout, make_checkout, tiny_study, wait_for
from disks import state_of
from scalestudy.record.observation import RunRecord, read_record

pytestmark = pytest.mark.slow
RUN = (str(BIN / "scalestudy"), "run")
KEPT = "every finished run"


def study(**changes: Any) -> dict[str, Any]:
    """One workload and two runs; each trains for some seconds."""
    content = tiny_study() | {"measure": {"probe_rounds": 0}} | changes
    del content["workloads"]["second"]
    content["workloads"]["first"]["epochs"] = 100
    return content


def fault(name: str, outcome: str, *, moment: str = "block", next_call: str) -> pytest.MarkDecorator:
    return pytest.mark.fault(fault=name, moment=moment, outcome=outcome, kept=KEPT, next_call=next_call)


def start(
    command: tuple[str, ...], checkout: Checkout, said: Path, at: Path | None = None
) -> subprocess.Popen[bytes]:
    """A call by a user, with its output in a file."""
    with said.open("wb") as output:
        return subprocess.Popen(
            command,
            cwd=at or checkout.root,
            env=checkout.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def in_block(checkout: Checkout) -> None:
    """Wait until a run trains."""
    wait_for(lambda: list(checkout.root.glob("results/tiny/runs/.partial/*/progress.json")))


def records(checkout: Checkout) -> dict[str, RunRecord]:
    return {path.parent.name: read_record(path.parent) for path in checkout.root.glob("results/*/runs/*/run.json")}


def assert_whole(checkout: Checkout, runs: set[str]) -> None:
    """Each of these runs exists once, and no other run exists."""
    assert {name: record.outcome for name, record in records(checkout).items()} == dict.fromkeys(runs, "ok")
    assert list(checkout.root.glob("results/*/superseded/*")) == []
    assert list(checkout.root.glob("results/*/runs/.partial/*")) == []
    assert (checkout.root / "results/tiny/performance_report.txt").exists()


def other_host(command: tuple[str, ...]) -> tuple[str, ...]:
    """The command on a host of another name, as another login node of the same file system."""
    if os.geteuid() or shutil.which("unshare") is None:
        pytest.skip("another host name needs root, and unshare of util-linux")
    return ("unshare", "--uts", "sh", "-c", 'hostname login2; exec "$@"', "sh", *command)


ENDS = "the second call exits at once, and names the process of the first"


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(
            "same folder", marks=fault("a second call for the same study", ENDS, next_call="does nothing")
        ),
        pytest.param(
            "link",
            marks=fault(
                "a second call for the same study, through a link to its folder", ENDS, next_call="does nothing"
            ),
        ),
        pytest.param(
            "host",
            marks=fault("a second call for the same study, from another host", ENDS, next_call="does nothing"),
        ),
    ],
)
def test_a_second_call_leaves_the_first_alone(checkout: Checkout, tmp_path: Path, second: str) -> None:
    checkout.configure(study())
    first = start(RUN, checkout, tmp_path / "first.txt")
    in_block(checkout)
    link = tmp_path / "link"
    link.symlink_to(checkout.root)
    command = other_host(RUN) if second == "host" else RUN
    call = start(command, checkout, tmp_path / "second.txt", at=link if second == "link" else None)
    assert call.wait(120) == 1
    said = (tmp_path / "second.txt").read_text()
    assert f"another call {'may be using' if second == 'host' else 'is using'} this folder: process " in said
    assert f" on host {os.uname().nodename} began here on " in said
    assert first.wait(300) == 0, (tmp_path / "first.txt").read_text()[-3000:]
    assert_whole(checkout, set(checkout.plan().runs))
    before = state_of(checkout.root / "results/tiny/runs")
    assert "Nothing to be done" in checkout.run("snakemake", "--dry-run").stdout
    checkout.run("scalestudy", "run")
    assert state_of(checkout.root / "results/tiny/runs") == before


@fault(
    "two checkouts with one results directory, called at the same time",
    "both succeed; each run is measured by one of them and kept by the other",
    next_call="does nothing",
)
def test_two_checkouts_of_one_results_directory_share_its_launches(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    calls = []
    for name in ("one", "two"):
        checkout = make_checkout(tmp_path / name)
        checkout.configure(study())
        (checkout.root / "results").symlink_to(shared)
        calls.append((checkout, start(RUN, checkout, tmp_path / f"{name}.txt"), tmp_path / f"{name}.txt"))
    for _, call, said in calls:
        assert call.wait(400) == 0, said.read_text()[-3000:]
    for checkout, *_ in calls:
        assert_whole(checkout, set(checkout.plan().runs))
        assert "Nothing to be done" in checkout.run("snakemake", "--dry-run").stdout


@fault(
    "two concurrent calls for one run",
    "ok; the second call waits and keeps the run",
    next_call="keeps the run",
)
def test_one_launch_called_twice_is_made_once(checkout: Checkout, tmp_path: Path) -> None:
    checkout.configure(study())
    run = list(checkout.plan().runs)[-1]
    command = (str(BIN / "scalestudy"), "stage", "train", "--run", run)
    calls = [start(command, checkout, tmp_path / f"{at}.txt") for at in range(2)]
    assert [call.wait(200) for call in calls] == [0, 0]
    said = sorted((tmp_path / f"{at}.txt").read_text() for at in range(2))
    assert sum(f"{run}: measured: ok" in text for text in said) == 1
    assert sum("waiting: another process is measuring this run" in text for text in said) == 1
    assert sum(f"{run}: kept, already measured" in text for text in said) == 1


@fault(
    "the study file is edited",
    "the running study completes as planned",
    next_call="measures the runs of the edited study, and keeps the others on disk",
)
def test_a_study_edited_while_it_runs_ends_as_planned(checkout: Checkout, tmp_path: Path) -> None:
    checkout.configure(study())
    planned = set(checkout.plan().runs)
    first = start(RUN, checkout, tmp_path / "first.txt")
    in_block(checkout)
    edited = study()
    edited["workloads"]["first"]["batch_size"] = 16
    checkout.configure(edited)
    assert first.wait(300) == 0, (tmp_path / "first.txt").read_text()[-3000:]
    assert set(records(checkout)) == planned
    plan = yaml.safe_load((checkout.root / "results/tiny/plan.json").read_text())
    assert plan["study"]["workloads"]["first"]["batch_size"] == 32
    before = state_of(checkout.root / "results/tiny/runs")
    checkout.run("scalestudy", "run")
    assert_whole(checkout, planned | set(checkout.plan().runs))
    after = state_of(checkout.root / "results/tiny/runs")
    assert {name: after[name] for name in before} == before


@fault(
    "the study file is made unreadable",
    "the running study completes as planned",
    next_call="is refused, with the line of the file, until the file is corrected",
)
def test_a_study_file_broken_while_it_runs_harms_nothing(checkout: Checkout, tmp_path: Path) -> None:
    checkout.configure(study())
    planned = set(checkout.plan().runs)
    first = start(RUN, checkout, tmp_path / "first.txt")
    in_block(checkout)
    (checkout.root / "config/config.yaml").write_text("study: [tiny\n")
    assert first.wait(300) == 0, (tmp_path / "first.txt").read_text()[-3000:]
    refused = checkout.run("scalestudy", "run", check=False)
    assert refused.returncode == 2
    assert "config/config.yaml" in refused.stdout
    assert "Traceback" not in refused.stdout
    checkout.configure(study())
    assert_whole(checkout, planned)


EDITED = {
    "the analysis code": ("analyse/published/table.py", "# edited\n", "does nothing"),
    "the measuring code": (
        "measure/stopping.py",
        "EDITED_HERE = 1\n",
        "keeps every run; the records identify the code",
    ),
    "a document's code that makes it fail": (
        "publish/typeset.py",
        "raise RuntimeError('edited')\n",
        "writes the document",
    ),
}


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(
            what,
            id=what.replace(" ", "-"),
            marks=fault(
                f"an edit of {what}", "the runs are ok; a document that fails is missing", next_call=next_call
            ),
        )
        for what, (_, _, next_call) in EDITED.items()
    ],
)
def test_code_edited_while_a_study_runs_changes_no_run(checkout: Checkout, tmp_path: Path, what: str) -> None:
    checkout.configure(study())
    name, line, _ = EDITED[what]
    path = checkout.root / "workflow/scalestudy" / name
    original = path.read_text()
    first = start(RUN, checkout, tmp_path / "first.txt")
    in_block(checkout)
    path.write_text(original + line)
    code = first.wait(300)
    assert code == (1 if "makes it fail" in what else 0), (tmp_path / "first.txt").read_text()[-3000:]
    before = state_of(checkout.root / "results/tiny/runs")
    path.write_text(original)
    checkout.run("scalestudy", "run")
    assert_whole(checkout, set(checkout.plan().runs))
    assert state_of(checkout.root / "results/tiny/runs") == before


@fault(
    "a different environment variable (NCCL_ALGO) in the next call",
    "the first call is killed",
    next_call="measures the missing runs; the records have both values",
)
def test_an_environment_changed_between_two_calls_is_told(checkout: Checkout, tmp_path: Path) -> None:
    checkout.configure(study())
    first = start(RUN, checkout, tmp_path / "first.txt")
    wait_for(lambda: records(checkout) and list(checkout.root.glob("results/tiny/runs/.partial/*/progress.json")))
    os.killpg(first.pid, 9)
    first.wait()
    wait_for(lambda: not checkout.trainers())
    before = state_of(checkout.root / "results/tiny/runs")
    ended = subprocess.run(
        RUN, cwd=checkout.root, env=checkout.environment | {"NCCL_ALGO": "Ring"}, capture_output=True
    )
    assert ended.returncode == 0
    after = state_of(checkout.root / "results/tiny/runs")
    assert {name: after[name] for name in before if not name.startswith(".partial")}.items() <= after.items()
    assert_whole(checkout, set(checkout.plan().runs))
    values = [record.environment["variables"].get("NCCL_ALGO") for record in records(checkout).values()]
    assert sorted(values, key=str) == [None, "Ring"]
