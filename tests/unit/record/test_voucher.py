"""A record that was changed after the run is refused by name, whichever of its checksums was changed with it."""

from __future__ import annotations

import hashlib
import json
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from scalestudy.errors import UserError
from scalestudy.launch.run import record_unneeded
from scalestudy.record.observation import read_record
from scalestudy.record.voucher import sealed, write_voucher
from scalestudy.study.config.load import parse_study
from scalestudy.study.plan import make_plan


@pytest.fixture
def run(content: dict[str, Any], tmp_path: Path) -> Path:
    """The directory of a run, recorded as the launcher does it."""
    spec = next(iter(make_plan(parse_study(content, source="x")).runs.values()))
    record_unneeded(spec, tmp_path, "three launches are enough")
    return tmp_path / "runs" / spec.run_id


def of_release_0_2(run: Path) -> None:
    """Turn a record into one of release 0.2: without a checksum of its own, and with `run.sha256` to match."""
    path = run / "run.json"
    content = json.loads(path.read_bytes())
    del content["checksum"]
    path.write_text(json.dumps(content))
    (run / "run.sha256").write_text(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  run.json\n")


def edit(run: Path) -> None:
    path = run / "run.json"
    content = json.loads(path.read_bytes())
    content["outcome"] = "ok"
    content["totals"]["samples"] = 10**9
    path.write_text(json.dumps(content, indent=1))


def refusal(run: Path) -> str:
    with pytest.raises(UserError) as refused:
        read_record(run)
    return str(refused.value)


def test_a_record_is_read_that_nobody_changed(run: Path) -> None:
    assert read_record(run).reason == "three launches are enough"
    (run / "run.json").write_text(json.dumps(json.loads((run / "run.json").read_bytes()), sort_keys=True))
    (run / "run.sha256").unlink()
    assert read_record(run).reason == "three launches are enough", "its content counts"


@pytest.mark.parametrize(
    "voucher",
    [
        pytest.param(
            voucher,
            marks=pytest.mark.fault(
                fault=f"run.json is edited and stays valid; run.sha256 is {voucher}",
                moment="aggregating",
                outcome="refused; a message names the file and what to do",
                kept="every file of the run",
                next_call="is refused in the same way until run.json is restored or the run is moved away",
            ),
        )
        for voucher in ("stale", "missing", "rewritten")
    ],
)
def test_an_edited_record_that_stays_valid_is_refused(run: Path, voucher: str) -> None:
    edit(run)
    if voucher == "missing":
        (run / "run.sha256").unlink()
    if voucher == "rewritten":
        digest = hashlib.sha256((run / "run.json").read_bytes()).hexdigest()
        (run / "run.sha256").write_text(f"{digest}  run.json\n")
    said = refusal(run)
    assert said.startswith(f"{run / 'run.json'}: was changed after the run was measured")
    assert "move the run's directory away" in said


@pytest.mark.parametrize(
    ("voucher", "words"), [("", "is empty"), ("0" * 64, "is not the checksum"), ("\xff", "is")]
)
def test_a_voucher_that_is_wrong_is_noticed_and_can_be_made_again(run: Path, voucher: str, words: str) -> None:
    (run / "run.sha256").write_bytes(voucher.encode("latin-1"))
    said = refusal(run)
    assert said.startswith(f"{run / 'run.sha256'}: {words}")
    assert "Remove run.sha256 and run the same command again" in said
    (run / "run.sha256").unlink()
    read_record(run)


@pytest.mark.fault(
    fault="run.sha256 is replaced by a directory",
    moment="aggregating",
    outcome="refused; a message names the file and what to do",
    kept="every file of the run",
    next_call="writes run.sha256 again once it is removed",
)
def test_a_directory_in_the_place_of_a_voucher_is_named(run: Path) -> None:
    (run / "run.sha256").unlink()
    (run / "run.sha256").mkdir()
    assert "run.sha256: cannot be read (is a directory)" in refusal(run)


def test_a_record_of_an_older_release_has_its_voucher_alone(run: Path) -> None:
    of_release_0_2(run)
    read_record(run)
    edit(run)
    said = refusal(run)
    assert "is not the checksum of run.json, so one of the two was changed" in said
    assert "If you know that run.json is right, remove run.sha256 instead" in said
    (run / "run.sha256").unlink()
    read_record(run)


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(
            what,
            marks=pytest.mark.fault(
                fault=f"run.json is replaced by a {what}",
                moment="aggregating",
                outcome="refused; a message names the file and what to do",
                kept="every file of the run",
                next_call="is refused in the same way until run.json is restored or the run is moved away",
            ),
        )
        for what in ("directory", "dangling link")
    ],
)
def test_what_is_no_file_in_the_place_of_a_record_is_named(run: Path, what: str) -> None:
    path = run / "run.json"
    path.unlink()
    path.mkdir() if what == "directory" else path.symlink_to("nowhere")
    said = refusal(run)
    assert said.startswith(
        f"{path}: {'is a folder, not a file' if what == 'directory' else 'is a link to nowhere'}"
    )
    assert "move the run's directory away" in said


def test_a_run_that_is_replaced_while_it_is_read(run: Path, tmp_path: Path) -> None:
    """Each time by another run, as a run that is measured again never becomes an old one."""
    content = json.loads((run / "run.json").read_bytes())
    del content["checksum"]
    others = [tmp_path / f"again{number}" for number in range(60)]
    for number, other in enumerate(others):
        shutil.copytree(run, other)
        (other / "run.json").write_text(json.dumps(sealed(content | {"reason": f"measured again {number}"})))
        write_voucher(other)

    def replace() -> None:
        for number, other in enumerate(others):
            run.rename(tmp_path / f"aside{number}")
            other.rename(run)
            time.sleep(0.002)

    writer, found = threading.Thread(target=replace), list[str]()
    writer.start()
    try:
        while writer.is_alive():
            try:
                found.append(read_record(run).reason)
            except UserError as error:
                assert "missing; the run was not measured" in str(error)
    finally:
        writer.join()
    assert read_record(run).reason == "measured again 59"
    assert len(set(found)) > 1
