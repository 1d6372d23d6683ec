"""Disks that fill up, break down, go away or are slow while a run trains or writes its record; and power cuts.

What was finished stays byte for byte, the run says why it has no record, or has one that says it, and the same
command measures it as soon as it can be written.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import BIN, Checkout, tiny_study, wait_for
from disks import disk, ext4, full, read_only, state_of
from scalestudy.record.observation import read_record

KEPT = "every finished run, byte for byte"
NEXT = "measures this run, and no other"
NOT_WRITTEN = "no record; one line names the file and the reason"


@contextlib.contextmanager
def nearly_full(place: Path) -> Iterator[None]:
    """During the context there is room for what a run writes at its start, but not for its tables."""
    with full(place):
        filler = place / ".filler"
        os.truncate(filler, max(0, filler.stat().st_size - 32 * 1024))
        yield


def fault(
    name: str, moment: str, outcome: str, *, kept: str = KEPT, next_call: str = NEXT
) -> pytest.MarkDecorator:
    return pytest.mark.fault(fault=name, moment=moment, outcome=outcome, kept=kept, next_call=next_call)


def cell(name: str, moment: str, outcome: str) -> object:
    return pytest.param(
        name,
        moment,
        marks=[fault(name, moment, outcome), pytest.mark.slow],
        id=f"{name}-{moment}".replace(" ", "-"),
    )


class Launches:
    """Two runs of a checkout; the first one is finished."""

    def __init__(self, checkout: Checkout, *, epochs: int = 2) -> None:
        study = tiny_study()
        del study["workloads"]["second"]
        study["workloads"]["first"]["epochs"] = epochs
        study["measure"] = {"probe_rounds": 0}
        checkout.configure(study)
        self.checkout = checkout
        self.runs = checkout.root / "results/tiny/runs"
        self.first, self.second = checkout.plan().runs

    def make_first(self) -> None:
        self.checkout.run("scalestudy", "stage", "train", "--run", self.first)
        self.kept = state_of(self.runs / self.first)

    def start_second(self, before: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
        with (self.checkout.root / "said.txt").open("wb") as output:
            return subprocess.Popen(
                [*before, str(BIN / "scalestudy"), "stage", "train", "--run", self.second],
                cwd=self.checkout.root,
                env=self.checkout.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def in_block(self) -> None:
        """Wait until the second one trains."""
        wait_for((self.runs / ".partial" / self.second / "progress.json").exists)

    @property
    def said(self) -> str:
        return (self.checkout.root / "said.txt").read_text()

    def end_well(self) -> None:
        """Nothing is left of the fault: the second one is measured by the same command, the first one is kept."""
        wait_for(lambda: not self.checkout.trainers())
        if (self.runs / self.second).exists():
            self.checkout.run("scalestudy", "retry", "results/tiny")
        self.checkout.run("scalestudy", "stage", "train", "--run", self.second)
        assert read_record(self.runs / self.second).outcome == "ok"
        assert state_of(self.runs / self.first) == self.kept
        assert list((self.runs / ".partial").glob("*")) == []


def assert_refused_or_failed(launches: Launches, status: int, why: str, in_record: str) -> None:
    """The run has a failed record with the reason, or no record and a line that names file and reason."""
    if (launches.runs / launches.second / "run.json").exists():
        record = read_record(launches.runs / launches.second)
        assert record.outcome == "failed"
        assert in_record in record.reason
        return
    assert status == 2, launches.said
    assert f"cannot be written: {why}" in launches.said.splitlines()[-1]
    assert "Traceback" not in launches.said
    assert not (launches.runs / launches.second).exists()


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        cell("full disk", "preparing", NOT_WRITTEN),
        cell("full disk", "block", "no record, or `failed` with the reason"),
        cell("full disk", "writing", "no record, or `failed` with the reason"),
        cell("read-only file system", "preparing", NOT_WRITTEN),
    ],
)
def test_a_disk_that_takes_no_more_costs_that_launch_alone(checkout: Checkout, name: str, moment: str) -> None:
    launches = Launches(checkout, epochs=200 if moment == "block" else 2)
    with disk(checkout.root / "results", size="16m") as place:
        launches.make_first()
        breaks = read_only if name.startswith("read-only") else nearly_full if moment == "writing" else full
        with contextlib.ExitStack() as stack:
            if moment != "block":
                stack.enter_context(breaks(place))
            process = launches.start_second()
            if moment == "block":
                launches.in_block()
                stack.enter_context(breaks(place))
            status = process.wait(timeout=500)
            assert state_of(launches.runs / launches.first) == launches.kept
            why = "the disk is full" if name == "full disk" else "the file system is read-only"
            assert_refused_or_failed(launches, status, why, "No space left")
        launches.end_well()


@pytest.mark.slow
@fault("the disk has an error, and the kernel makes it read-only", "block", NOT_WRITTEN)
def test_a_disk_that_breaks_down_costs_that_launch_alone(checkout: Checkout) -> None:
    launches = Launches(checkout, epochs=200)
    with ext4(checkout.root / "results") as place:
        launches.make_first()
        process = launches.start_second()
        launches.in_block()
        place.break_down()
        status = process.wait(timeout=500)
        assert_refused_or_failed(launches, status, "the file system is read-only", "Read-only file system")
        wait_for(lambda: not checkout.trainers())
        place.repair()
        assert state_of(launches.runs / launches.first) == launches.kept
        launches.end_well()


@pytest.mark.slow
@fault("the file system of the results disappears", "block", NOT_WRITTEN)
def test_a_file_system_that_goes_away_costs_that_launch_alone(checkout: Checkout, tmp_path: Path) -> None:
    launches = Launches(checkout, epochs=200)
    place = tmp_path / "disk"
    results = checkout.root / "results"
    results.mkdir()
    with disk(place):
        subprocess.run(["mount", "--bind", str(place), str(results)], check=True)
        try:
            launches.make_first()
            process = launches.start_second()
            launches.in_block()
        finally:
            subprocess.run(["umount", "-l", str(results)], check=True)
        status = process.wait(timeout=500)
        assert status == 2, launches.said
        assert "Traceback" not in launches.said
        assert str(launches.runs.relative_to(checkout.root)) in launches.said.splitlines()[-1]
        assert [path for path in results.rglob("*") if path.is_file()] == []
        shutil.rmtree(results)
        results.mkdir()
        subprocess.run(["mount", "--bind", str(place), str(results)], check=True)
        try:
            launches.end_well()
        finally:
            subprocess.run(["umount", "-l", str(results)], check=True)


@pytest.mark.slow
@fault("fsync takes half a second", "writing", "ok", kept="the complete run", next_call="keeps the record")
def test_a_slow_disk_costs_time_alone(checkout: Checkout) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is missing; on Debian: apt-get install strace")
    launches = Launches(checkout)
    launches.make_first()
    slow = "inject=fsync,fdatasync,sync:delay_enter=500000"
    process = launches.start_second(("strace", "-f", "--seccomp-bpf", "-qq", "-o", os.devnull, "-e", slow))
    assert process.wait(timeout=500) == 0, launches.said
    made = state_of(launches.runs / launches.second)
    assert read_record(launches.runs / launches.second).outcome == "ok"
    checkout.run("scalestudy", "stage", "train", "--run", launches.second)
    assert state_of(launches.runs / launches.second) == made


AT_POWER_CUTS = {
    "block": ("not recorded", NEXT),
    "just after a run": ("ok; an empty lock file may remain, which no process holds", "keeps every record"),
    "just after the documents": ("ok", "keeps every record, and repeats what was not on the disk"),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(moment, marks=fault("a power cut", moment, outcome, next_call=next_call))
        for moment, (outcome, next_call) in AT_POWER_CUTS.items()
    ],
)
def test_a_power_cut_costs_no_finished_run(checkout: Checkout, moment: str) -> None:
    """Only what is on the disk at that moment exists afterwards."""
    launches = Launches(checkout, epochs=200 if moment == "block" else 2)
    results = checkout.root / "results"
    cut: Callable[[], None]
    with ext4(results) as place:
        launches.make_first()
        if moment == "block":
            process = launches.start_second()
            launches.in_block()
            cut = place.cut_power()
            process.kill()
            process.wait()
            wait_for(lambda: not checkout.trainers())
        elif moment == "just after a run":
            checkout.run("scalestudy", "stage", "train", "--run", launches.second)
            cut = place.cut_power()
        else:
            checkout.run("snakemake")
            cut = place.cut_power()
        made = state_of(launches.runs)
        cut()
        for name, content in made.items():
            if not name.startswith(".partial"):
                assert (launches.runs / name).read_bytes() == content, name
        checkout.run("snakemake")
        assert state_of(launches.runs / launches.first) == launches.kept
        assert read_record(launches.runs / launches.second).outcome == "ok"
        files = [path for path in results.rglob("*") if path.is_file() and "logs" not in path.parts]
        assert [path for path in files if not path.stat().st_size and path.suffix != ".lock"] == []
