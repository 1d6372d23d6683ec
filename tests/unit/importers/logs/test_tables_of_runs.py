"""Tables with a row per run, as trackers export them; names of runs; numbers that are said to be missing; and
batches that devices cannot share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from scalestudy.errors import UserError
from scalestudy.importers.logs.formats import read_log
from scalestudy.importers.logs.model import Given
from scalestudy.importers.logs.steps.derive import ImportedRun, derive
from scalestudy.importers.logs.study_of import study_of
from scalestudy.registry.codes import Limit


def imported(folder: Path, lines: Sequence[str], **said: object) -> list[ImportedRun]:
    path = folder / "runs.csv"
    path.write_text("\n".join(lines) + "\n")
    given = Given(**said)  # type: ignore[arg-type]
    return [derive(log, given) for log in read_log(path, given)]


def exported(repeats: int, name: str = "Name") -> list[str]:
    """The list of finished runs as Weights & Biases writes it."""
    rows = [
        f'"run-{gpus}-{repeat}","finished","{156 // gpus}","{gpus}","{400 * gpus + repeat}","1000"'
        for gpus in (1, 2)
        for repeat in range(repeats)
    ]
    return [f'"{name}","State","Runtime","n_gpus","train/samples_per_second","_step"', *rows]


@pytest.mark.parametrize("name", ["Name", "run name", "ID", "other"])
def test_the_only_row_of_a_run_is_of_all_its_steps(tmp_path: Path, name: str) -> None:
    runs = imported(tmp_path, exported(1, name), per="all", batch_per_gpu=64)
    assert [(run.devices, run.total_steps) for run in runs] == [(1, 1000), (2, 1000)]
    assert all(Limit.WHOLE_RUN in run.limits for run in runs)
    assert runs[0].total_steps * runs[0].step_s / 3600 == pytest.approx(0.0444, rel=0.01)


def test_the_length_of_a_run_without_steps_is_not_known(tmp_path: Path) -> None:
    lines = ["run,gpus,samples/s,comment", "a,1,400,x", "b,1,410,x"]
    runs = imported(tmp_path, lines, batch=64)
    assert all(Limit.PRINTED in run.limits for run in runs)
    assert any("how many steps it has is not known" in remark for remark in runs[0].remarks)


@pytest.mark.parametrize("name", ["Name", "ID"])
def test_names_tell_runs_apart(tmp_path: Path, name: str) -> None:
    runs = imported(tmp_path, exported(3, name), per="all", batch_per_gpu=64)
    assert [run.log.label for run in runs[::5]] == ["run-1-0 1", "run-2-2 2"]
    assert len(runs) == 6


def test_names_of_long_runs_that_follow_each_other(tmp_path: Path) -> None:
    lines = ["step,Name,gpus,step_time_ms"]
    lines += [f"{step},{name},1,100" for name in ("first", "second") for step in range(1, 301)]
    runs = imported(tmp_path, lines, batch=64)
    assert [run.log.label for run in runs] == ["first 1", "second 1"]


@pytest.mark.parametrize("names", [("rank0", "rank1"), ("node-1", "node-2"), ("forward", "backward")])
def test_names_of_ranks_and_of_parts_of_a_step_are_no_runs(tmp_path: Path, names: tuple[str, str]) -> None:
    lines = ["step,name,step_time_ms"]
    lines += [f"{step},{name},100" for step in range(1, 20) for name in names]
    lines += [f"19,{names[0]},100"] * 4
    with pytest.raises(UserError, match="each step is there about"):
        imported(tmp_path, lines, devices=1, batch=64)


def test_names_that_tell_nothing_apart_are_not_read(tmp_path: Path) -> None:
    lines = ["step,ID,step_time_ms", *(f"{step},row{step},100" for step in range(1, 20))]
    (run,) = imported(tmp_path, lines, devices=1, batch=64)
    assert "columns that are not read: ID" in run.remarks


@pytest.mark.parametrize("quote", ["", '"a quote that does not end'])
def test_a_number_that_is_said_to_be_missing_has_a_remark(tmp_path: Path, quote: str) -> None:
    """Also in a file that is read line by line. An empty cell has none: programs leave them."""
    lines = ["step,step time (ms),samples/s,note", *(f"{step},100,640," for step in range(1, 12))]
    lines[4], lines[6], lines[8], lines[9] = "4,--,640,", "6,100,n/a,", "8,,640,", f"9,100,640,{quote}"
    (run,) = imported(tmp_path, lines, devices=1, batch=64)
    said = [remark for remark in run.remarks if "not a number" in remark]
    assert said == [
        "line 5, step time (ms): '--' is not a number; left out",
        "line 7, samples/s: 'n/a' is not a number; left out",
    ]


@pytest.mark.parametrize("nothing", ["", "-", "n/a", "None"])
@pytest.mark.parametrize("quote", ["", '"a quote that does not end'])
def test_a_label_that_says_nothing_is_none(tmp_path: Path, nothing: str, quote: str) -> None:
    lines = ["step,variant,step time (ms),note", *(f"{step},{nothing},100," for step in range(1, 12))]
    lines[9] += quote
    (run,) = imported(tmp_path, lines, devices=1, batch=64)
    assert (run.variant, run.log.label) == ("", "")


def test_a_batch_from_rounded_numbers_that_does_not_divide_is_asked_for(tmp_path: Path) -> None:
    lines = ["step,step time (ms),samples/s", *(f"{step},170,1500" for step in range(1, 12))]
    for length in (None, 128):
        with pytest.raises(UserError, match=r"about 255 by .* among 4 devices; add --batch runs.csv=N$"):
            imported(tmp_path, lines, devices=4, per="all", sequence_length=length)
    (run,) = imported(tmp_path, lines, devices=4, per="all", batch=256)
    assert run.global_batch == 256


def test_a_batch_that_the_user_says_and_that_does_not_divide(tmp_path: Path) -> None:
    lines = ["step,step time (ms)", *(f"{step},100" for step in range(1, 12))]
    runs = imported(tmp_path, lines, devices=2, batch=63)
    with pytest.raises(UserError, match=r"63 samples do not divide among 2 devices; correct --batch or --gpus$"):
        study_of(runs, "a", scaling=None, kept=["x"])


def test_samples_beside_tokens_per_second_need_their_length(tmp_path: Path) -> None:
    lines = ["step,batch per gpu,gpus,tokens/s", *(f"{step},8,2,6000" for step in range(1, 12))]
    with pytest.raises(UserError, match="counts tokens, and a step is 16 samples; add --sequence-length N"):
        imported(tmp_path, lines, per="all")
    lines[0] = "step,global batch (tokens),gpus,tokens/s"
    (run,) = imported(tmp_path, lines, per="all")
    assert (run.global_batch, run.unit) == (8, "tokens")


@pytest.mark.parametrize(("per", "rate"), [("all", 310), ("device", 620)])
def test_whose_the_throughput_of_a_list_of_runs_is(tmp_path: Path, per: str, rate: float) -> None:
    lines = ["run,gpus,global_batch,samples_per_second", "a,1,64,160", "b,2,128,310"]
    assert [run.throughput for run in imported(tmp_path, lines, per=per)] == pytest.approx([160, rate])
